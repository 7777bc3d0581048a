# SPDX-License-Identifier: Apache-2.0
# Tests that every header compiles by itself: generates one source per header. Build the target header_tests. With
# WYRM_GROUP_TESTS what most headers include of the standard library and of libcu++ is compiled once, which hides that a
# header does not include such a file itself.
get_property(wyrm_rooms GLOBAL PROPERTY WYRM_ROOMS)
set(sources)
foreach(room ${wyrm_rooms})
  file(GLOB_RECURSE headers CONFIGURE_DEPENDS RELATIVE ${PROJECT_SOURCE_DIR} ${PROJECT_SOURCE_DIR}/${room}/*.hpp)
  foreach(header ${headers})
    if(header MATCHES "^exec/cuda_(driver|space).hpp" AND NOT WYRM_CUDA)
      continue()
    endif()
    string(MAKE_C_IDENTIFIER ${header} name)
    set(source ${PROJECT_BINARY_DIR}/header_tests/${name}.cpp)
    file(CONFIGURE OUTPUT ${source} CONTENT "#include <wyrm/@header@>\n#include <wyrm/@header@>\n" @ONLY)
    list(APPEND sources ${source})
  endforeach()
endforeach()
add_library(header_tests OBJECT EXCLUDE_FROM_ALL ${sources})
target_link_libraries(header_tests PRIVATE wyrm::wyrm)
target_compile_options(header_tests PRIVATE -O0 ${wyrm_warnings})
if(WYRM_GROUP_TESTS)
  target_compile_options(header_tests PRIVATE ${wyrm_precompiled_flags})
  target_precompile_headers(header_tests PRIVATE <cuda/atomic> <algorithm> <atomic> <filesystem> <functional> <map> <memory>
    <mutex> <optional> <random> <span> <string> <thread> <unordered_map> <variant> <vector>)
endif()
