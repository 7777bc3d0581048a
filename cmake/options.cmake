# SPDX-License-Identifier: Apache-2.0
# What a user can set. Everything that only Wyrm's own developers need is off when Wyrm is part of another project.
option(WYRM_CUDA "Build for CUDA devices (default: when a CUDA compiler is found)" ON)
option(WYRM_CHECKED "Track every device allocation, so that double and foreign frees are found (slow)" OFF)
option(WYRM_PROGRAM "Build the program `wyrm`" ${PROJECT_IS_TOP_LEVEL})
option(WYRM_TESTS "Build the tests" ${PROJECT_IS_TOP_LEVEL})
option(WYRM_FUZZ "Build the fuzzer, which clang++ has the library for" OFF)
option(WYRM_BENCHMARKS "Build the benchmarks" OFF)
option(WYRM_INSTALL "Make the install rules" ${PROJECT_IS_TOP_LEVEL})
option(WYRM_WERROR "Warnings are errors" OFF)
set(WYRM_HOST_THREADS "auto" CACHE STRING "Threads on the host: tbb, std, none, or auto (tbb when it is found)")
set_property(CACHE WYRM_HOST_THREADS PROPERTY STRINGS auto tbb std none)

if(NOT CMAKE_BUILD_TYPE AND NOT CMAKE_CONFIGURATION_TYPES)
  set(CMAKE_BUILD_TYPE Release CACHE STRING "Build type" FORCE)
endif()

# sm_90 is the GPU that Wyrm is measured on; CMake's own way to ask for others is honoured.
if(NOT DEFINED CMAKE_CUDA_ARCHITECTURES)
  set(CMAKE_CUDA_ARCHITECTURES 90)
endif()
