# The libraries that pace's libraries are linked with: LibTorch, Catch2 3 and, where PACE_CUDA is set, the CUDA toolkit.
find_package(LibTorch REQUIRED)
if(NOT TARGET Catch2::Catch2)
  find_package(Catch2 3 QUIET)
  if(NOT Catch2_FOUND)
    message(FATAL_ERROR "pace: there is no Catch2 3. Debian's package is libcatch2-dev (on Debian 12 of its backports); "
                        "a copy of its sources is used if add_subdirectory or FetchContent has added it before pace.")
  endif()
endif()
if(PACE_CUDA)
  find_package(CUDAToolkit REQUIRED)
  if(NOT TARGET LibTorch::CUDA)
    message(FATAL_ERROR "PACE_CUDA=${PACE_CUDA}: the LibTorch in ${LibTorch_ROOT} has no lib/libtorch_cuda.so; "
                        "expected one with CUDA. Without PACE_CUDA, pace times on the CPU.")
  endif()
endif()
