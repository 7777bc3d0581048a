# SPDX-License-Identifier: Apache-2.0
# What Wyrm is built with. CCCL (Thrust, CUB, libcu++) comes with the CUDA toolkit and is used without CUDA too; a
# machine without the toolkit can take it from PyPI's wheel nvidia-cuda-cccl (scripts/setup does).
if(WYRM_CUDA)
  include(CheckLanguage)
  check_language(CUDA)
  if(CMAKE_CUDA_COMPILER)
    enable_language(CUDA)
    find_package(CUDAToolkit REQUIRED)
  else()
    message(STATUS "Wyrm: no CUDA compiler found, building for the CPU only")
    set(WYRM_CUDA OFF)
  endif()
endif()

set(CCCL_ENABLE_DEFAULT_THRUST_TARGET OFF)
find_package(CCCL REQUIRED CONFIG
  HINTS ${CUDAToolkit_LIBRARY_DIR}/cmake ${WYRM_CCCL_DIR}
  PATHS /usr/local/cuda/lib64/cmake /usr/local/cuda/targets/x86_64-linux/lib/cmake)

find_package(Threads REQUIRED)
if(WYRM_HOST_THREADS STREQUAL "auto")
  find_package(TBB QUIET CONFIG)
  if(TBB_FOUND)
    set(WYRM_HOST_THREADS_USED tbb)
  else()
    set(WYRM_HOST_THREADS_USED none)
  endif()
else()
  set(WYRM_HOST_THREADS_USED ${WYRM_HOST_THREADS})
endif()
if(WYRM_HOST_THREADS_USED STREQUAL "tbb")
  find_package(TBB REQUIRED CONFIG)
endif()
message(STATUS "Wyrm: CUDA ${WYRM_CUDA}, host threads: ${WYRM_HOST_THREADS_USED}")
