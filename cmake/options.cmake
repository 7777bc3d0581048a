# SPDX-License-Identifier: Apache-2.0
# Options for users. Options that only developers of Wyrm need are off when Wyrm is part of another project.
option(WYRM_CUDA "Build for CUDA devices (default: when a CUDA compiler is found)" ON)
option(WYRM_CHECKED "Track every device allocation, which detects double and foreign frees (slow)" OFF)
set(WYRM_GRAPH_ALLOCATORS "all" CACHE STRING
  "Allocators of any_graph and of the program: all, or few (two), which compile in a fraction of the time")
set_property(CACHE WYRM_GRAPH_ALLOCATORS PROPERTY STRINGS all few)
option(WYRM_LOADERS "Build the loaders (need LibArchive, zlib and RapidJSON)" ON)
option(WYRM_PROGRAM "Build the program `wyrm`" ${PROJECT_IS_TOP_LEVEL})
option(WYRM_TESTS "Build the tests" ${PROJECT_IS_TOP_LEVEL})
option(WYRM_EXHAUSTIVE_TESTS "Build the tests of all interleavings" ON)
set(WYRM_EXHAUSTIVE_SCALE "1" CACHE STRING "WYRM_TEST_SCALE of the tests of all interleavings")
option(WYRM_GROUP_TESTS "Compile tests that instantiate the same graphs as one program (less time for all, more for one)" OFF)
set(WYRM_TEST_SPACES "all" CACHE STRING "Spaces of the long suites of tests: host, simt or all")
set_property(CACHE WYRM_TEST_SPACES PROPERTY STRINGS all host simt)
set(WYRM_CONSUMER_FLAGS "" CACHE STRING "Further compiler flags of the projects that test an installed Wyrm")
option(WYRM_FUZZ "Build the fuzzers (needs clang++ and libFuzzer)" OFF)
option(WYRM_BENCHMARKS "Build the benchmarks" OFF)
option(WYRM_INSTALL "Create the install rules" ${PROJECT_IS_TOP_LEVEL})
set(WYRM_EXPORT "wyrm" CACHE STRING "Export set of the installed targets; a project that contains Wyrm gives its own")
option(WYRM_WERROR "Treat warnings as errors" OFF)
set(WYRM_HOST_THREADS "auto" CACHE STRING "Threads on the host: tbb, std, none, or auto (tbb when it is found, else std)")
set_property(CACHE WYRM_HOST_THREADS PROPERTY STRINGS auto tbb std none)

if(NOT WYRM_GRAPH_ALLOCATORS MATCHES "^(all|few)$")
  message(FATAL_ERROR "Wyrm: WYRM_GRAPH_ALLOCATORS is '${WYRM_GRAPH_ALLOCATORS}'; set it to all or few")
endif()
if((WYRM_PROGRAM OR WYRM_TESTS OR WYRM_BENCHMARKS) AND NOT WYRM_LOADERS)
  message(FATAL_ERROR "Wyrm: without the loaders (WYRM_LOADERS=OFF) there are no program, tests and benchmarks; "
    "set WYRM_PROGRAM, WYRM_TESTS and WYRM_BENCHMARKS to OFF")
endif()

if(PROJECT_IS_TOP_LEVEL AND NOT CMAKE_BUILD_TYPE AND NOT CMAKE_CONFIGURATION_TYPES)
  set(CMAKE_BUILD_TYPE Release CACHE STRING "Build type" FORCE)
endif()

# Wyrm is measured on GPUs of architecture 90; CMAKE_CUDA_ARCHITECTURES selects others.
if(NOT DEFINED CMAKE_CUDA_ARCHITECTURES)
  set(CMAKE_CUDA_ARCHITECTURES 90)
endif()
