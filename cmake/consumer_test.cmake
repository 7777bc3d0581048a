# SPDX-License-Identifier: Apache-2.0
# Tests of an installed Wyrm. PROJECT=install installs the build into an empty prefix. The name of a project configures,
# builds and runs it: `consumer` uses the whole library, `graph`, `sampling` and `weighted_stream` the graph, `alloc` and
# `relational` the allocators only, and `subproject` contains the sources. All but the first must not need the
# dependencies of the loaders; they are compiled as C++${STANDARD}, and the last one without TBB and without a build type,
# which must not be set. `alloc` is compiled by the C++ compiler and runs on the CPU; with CUDA it is compiled by nvcc as
# well, and runs on the GPU and on the CPU.
# cmake -DPROJECT=... -DSOURCE=... -DBUILD=... -DEXAMPLES=... -DWORK=... [-DCCCL_DIR=...] -DCXX=... [-DCUDA=...]
#   -P consumer_test.cmake
function(run)
  execute_process(COMMAND ${ARGN} RESULT_VARIABLE status OUTPUT_VARIABLE output ERROR_VARIABLE output)
  if(NOT status EQUAL 0)
    message(FATAL_ERROR "${ARGN}\n${output}")
  endif()
  set(output "${output}" PARENT_SCOPE)
endfunction()

# Runs a program, whose output must name the space. On a machine without a GPU, a program for `cuda` must say so.
function(run_on space program)
  execute_process(COMMAND ${program} ${space} RESULT_VARIABLE status OUTPUT_VARIABLE output ERROR_VARIABLE output)
  if(space STREQUAL "cuda" AND output MATCHES "^there is no CUDA device 0; this machine has 0")
    message(STATUS "${program} ${space}: ${output}")
  elseif(NOT status EQUAL 0 OR NOT output MATCHES " on ${space}[: ]")
    message(FATAL_ERROR "${program} ${space}\n${output}")
  else()
    message(STATUS "${output}")
  endif()
endfunction()

# The programs: those of PROGRAMS, or one that has the name of the project. They run without arguments,
# and with each of the SPACES. FOLDER: that of the build, if a project has several.
function(test_project project)
  cmake_parse_arguments(TEST "" "FOLDER" "PROGRAMS;SPACES" ${ARGN})
  if(NOT TEST_PROGRAMS)
    set(TEST_PROGRAMS ${project})
  endif()
  if(NOT TEST_FOLDER)
    set(TEST_FOLDER ${project})
  endif()
  run(${CMAKE_COMMAND} -S ${EXAMPLES}/${project} -B ${WORK}/${TEST_FOLDER} -G Ninja -DCMAKE_PREFIX_PATH=${WORK}/prefix
    -DCMAKE_CXX_COMPILER=${CXX} -DCMAKE_CUDA_COMPILER=${CUDA} -DCMAKE_CUDA_ARCHITECTURES=90 -DCMAKE_BUILD_TYPE=Release
    -DCCCL_DIR=${CCCL_DIR} "-DCMAKE_CXX_FLAGS_RELEASE=${FLAGS}"
    "-DCMAKE_CUDA_FLAGS_RELEASE=${CUDA_FLAGS}" ${TEST_UNPARSED_ARGUMENTS})
  run(${CMAKE_COMMAND} --build ${WORK}/${TEST_FOLDER} --target ${project})
  foreach(program ${TEST_PROGRAMS})
    run(${WORK}/${TEST_FOLDER}/${program})
    message(STATUS "${output}")
    foreach(space ${TEST_SPACES})
      run_on(${space} ${WORK}/${TEST_FOLDER}/${program})
    endforeach()
  endforeach()
endfunction()

set(no_loaders -DCMAKE_DISABLE_FIND_PACKAGE_LibArchive=ON -DCMAKE_DISABLE_FIND_PACKAGE_ZLIB=ON -DCMAKE_CXX_STANDARD=${STANDARD})
if(PROJECT STREQUAL "install")
  file(REMOVE_RECURSE ${WORK})
  run(${CMAKE_COMMAND} --install ${BUILD} --prefix ${WORK}/prefix)
elseif(PROJECT STREQUAL "consumer")
  test_project(consumer)
elseif(PROJECT STREQUAL "alloc")
  set(programs collective hash_table linked_lists messages)
  if(WYRM_CUDA)
    test_project(alloc ${no_loaders} PROGRAMS ${programs} SPACES cuda cpu)
  endif()
  test_project(alloc ${no_loaders} -DALLOC_EXAMPLES_CUDA=OFF FOLDER alloc_cpu PROGRAMS ${programs} SPACES cpu)
elseif(PROJECT STREQUAL "relational")
  test_project(relational ${no_loaders} -DRELATIONAL_ALLOCATOR=corw)  # all take minutes to compile
elseif(PROJECT STREQUAL "graph")
  test_project(graph ${no_loaders} PROGRAMS names own_allocator own_kernel own_value producers snapshots)
elseif(PROJECT STREQUAL "subproject")
  test_project(subproject ${no_loaders} -DCMAKE_DISABLE_FIND_PACKAGE_RapidJSON=ON -DCMAKE_DISABLE_FIND_PACKAGE_TBB=ON
    -DWYRM_SOURCE_DIR=${SOURCE} -DWYRM_CUDA=${WYRM_CUDA} -DCMAKE_BUILD_TYPE= -DWYRM_HOST_THREADS=auto
    -DWYRM_GRAPH_ALLOCATORS=few "-DCMAKE_CXX_FLAGS=${FLAGS}" "-DCMAKE_CUDA_FLAGS=${CUDA_FLAGS}")
  file(STRINGS ${WORK}/subproject/CMakeCache.txt build_type REGEX "^CMAKE_BUILD_TYPE:")
  if(NOT build_type MATCHES "=$")
    message(FATAL_ERROR "Wyrm has changed the build type of the project that contains it: ${build_type}")
  endif()
  file(GLOB_RECURSE exported ${WORK}/subproject/CMakeFiles/Export/subproject.cmake)
  file(STRINGS "${exported}" targets REGEX "^add_library\\(subproject::(exec|alloc|graph) ")
  list(LENGTH targets number)
  if(NOT number EQUAL 3)
    message(FATAL_ERROR "Wyrm is not in the export set of the project that contains it: ${targets}")
  endif()
else()
  test_project(${PROJECT} ${no_loaders})
endif()
