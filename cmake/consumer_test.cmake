# SPDX-License-Identifier: Apache-2.0
# A test: installs the build into an empty prefix, and then configures, builds and runs two projects that use it: one
# the whole library, one the allocators only. The latter must not need the dependencies of the loaders.
# cmake -DBUILD=... -DEXAMPLES=... -DWORK=... [-DCCCL_DIR=...] -DCXX=... [-DCUDA=...] -P consumer_test.cmake
function(run)
  execute_process(COMMAND ${ARGN} RESULT_VARIABLE status OUTPUT_VARIABLE output ERROR_VARIABLE output)
  if(NOT status EQUAL 0)
    message(FATAL_ERROR "${ARGN}\n${output}")
  endif()
  set(output "${output}" PARENT_SCOPE)
endfunction()

function(test_project project)
  run(${CMAKE_COMMAND} -S ${EXAMPLES}/${project} -B ${WORK}/${project} -G Ninja -DCMAKE_PREFIX_PATH=${WORK}/prefix
    -DCMAKE_CXX_COMPILER=${CXX} -DCMAKE_CUDA_COMPILER=${CUDA} -DCMAKE_CUDA_ARCHITECTURES=90 -DCMAKE_BUILD_TYPE=Release
    -DCCCL_DIR=${CCCL_DIR} "-DCMAKE_CXX_FLAGS=${FLAGS}" ${ARGN})
  run(${CMAKE_COMMAND} --build ${WORK}/${project})
  run(${WORK}/${project}/${project})
  message(STATUS "${output}")
endfunction()

file(REMOVE_RECURSE ${WORK})
run(${CMAKE_COMMAND} --install ${BUILD} --prefix ${WORK}/prefix)
test_project(consumer)
test_project(allocator -DCMAKE_DISABLE_FIND_PACKAGE_LibArchive=ON -DCMAKE_DISABLE_FIND_PACKAGE_ZLIB=ON)
