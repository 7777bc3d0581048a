# SPDX-License-Identifier: Apache-2.0
# Finds CCCL (Thrust, CUB, libcu++): in CCCL_DIR, else in the CUDA toolkit, also if CUDA itself is not used.
set(CCCL_ENABLE_DEFAULT_THRUST_TARGET OFF)
find_package(CCCL CONFIG QUIET
  HINTS ${CUDAToolkit_LIBRARY_DIR}/cmake
  PATHS /usr/local/cuda/lib64/cmake ${wyrm_cccl_wheel})
if(NOT CCCL_FOUND)
  message(FATAL_ERROR "Wyrm needs CCCL: install the CUDA toolkit, or unpack the wheel nvidia-cuda-cccl from PyPI and set "
    "CCCL_DIR to its folder lib/cmake/cccl (scripts/setup does this)")
endif()
