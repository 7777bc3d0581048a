# SPDX-License-Identifier: Apache-2.0
# One target per room. Headers are used in place: <build>/include/wyrm/<room> is a link to the source folder, so that
# "<wyrm/graph/dynamic_graph.hpp>" works in the build tree and in an installed tree.

# The standard is a flag for CUDA, because CMake 3.25 has no feature for it with nvcc 13.
set(wyrm_cuda_flags "$<$<COMPILE_LANGUAGE:CUDA>:-std=c++20;--expt-relaxed-constexpr>")
set(wyrm_warnings
  "$<$<COMPILE_LANGUAGE:CXX>:-Wall;-Wextra;-Wconversion;-Wsign-conversion>"
  "$<$<COMPILE_LANGUAGE:CUDA>:-Xcompiler=-Wall,-Wextra>")
if(CMAKE_CXX_COMPILER_ID STREQUAL "GNU" AND CMAKE_CXX_COMPILER_VERSION VERSION_LESS 13)
  # GCC 12 warns of overlapping copies inside std::string's operator+ (GCC bug 105651).
  list(APPEND wyrm_warnings "$<$<COMPILE_LANGUAGE:CXX>:-Wno-restrict>" "$<$<COMPILE_LANGUAGE:CUDA>:-Xcompiler=-Wno-restrict>")
endif()
if(WYRM_WERROR)
  list(APPEND wyrm_warnings
    "$<$<COMPILE_LANGUAGE:CXX>:-Werror>" "$<$<COMPILE_LANGUAGE:CUDA>:--Werror=all-warnings;-Xcompiler=-Werror>")
endif()

set(wyrm_thread_kinds none std tbb)
list(FIND wyrm_thread_kinds ${WYRM_HOST_THREADS_USED} wyrm_thread_kind)

# wyrm_room(NAME [DEPENDS room...] [SOURCES file...] [DEVICE_SOURCES file...] [CUDA_SOURCES file...])
#   SOURCES          host code
#   DEVICE_SOURCES   compiled by nvcc with CUDA, otherwise by the host compiler
#   CUDA_SOURCES     host code that is compiled only with CUDA
# A room without sources has headers only.
function(wyrm_room name)
  cmake_parse_arguments(ROOM "" "" "DEPENDS;SOURCES;DEVICE_SOURCES;CUDA_SOURCES" ${ARGN})
  set(target wyrm_${name})
  if(WYRM_CUDA)
    set_source_files_properties(${ROOM_DEVICE_SOURCES} PROPERTIES LANGUAGE CUDA)
    list(APPEND ROOM_SOURCES ${ROOM_CUDA_SOURCES})
  endif()
  set(sources ${ROOM_SOURCES} ${ROOM_DEVICE_SOURCES})
  if(sources)
    set(scope PUBLIC)
    add_library(${target} STATIC ${sources})
    target_compile_options(${target} PRIVATE ${wyrm_warnings})
    set_target_properties(${target} PROPERTIES POSITION_INDEPENDENT_CODE ON)
  else()
    set(scope INTERFACE)
    add_library(${target} INTERFACE)
  endif()
  add_library(wyrm::${name} ALIAS ${target})
  set_target_properties(${target} PROPERTIES EXPORT_NAME ${name})
  target_include_directories(${target} ${scope}
    $<BUILD_INTERFACE:${PROJECT_BINARY_DIR}/include> $<INSTALL_INTERFACE:${CMAKE_INSTALL_INCLUDEDIR}>)
  target_compile_features(${target} ${scope} cxx_std_20)
  target_compile_options(${target} ${scope} ${wyrm_cuda_flags})
  list(TRANSFORM ROOM_DEPENDS PREPEND wyrm::)
  target_link_libraries(${target} ${scope} ${ROOM_DEPENDS})

  file(MAKE_DIRECTORY ${PROJECT_BINARY_DIR}/include/wyrm)
  file(CREATE_LINK ${PROJECT_SOURCE_DIR}/${name} ${PROJECT_BINARY_DIR}/include/wyrm/${name} SYMBOLIC)
  set_property(GLOBAL APPEND PROPERTY WYRM_ROOMS ${name})
endfunction()
