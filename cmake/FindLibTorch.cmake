# LibTorch out of the PyPI wheel, for CPUs: the targets LibTorch::cpu (and, where the CUDA wheels or
# toolkit are present, see LeadlineCuda). The wheel's own CMake files demand the whole CUDA toolkit.
#
# LEADLINE_TORCH_ROOT: the virtual environment scripts/setup made.

set(_default "$ENV{LEADLINE_TORCH_ROOT}")
if(NOT _default)
  if(DEFINED ENV{XDG_CACHE_HOME})
    set(_default "$ENV{XDG_CACHE_HOME}/leadline/libtorch-2.11.0")
  else()
    set(_default "$ENV{HOME}/.cache/leadline/libtorch-2.11.0")
  endif()
endif()
set(LEADLINE_TORCH_ROOT "${_default}" CACHE PATH "virtual environment that holds the torch wheel")

file(GLOB _site "${LEADLINE_TORCH_ROOT}/lib/python3*/site-packages")
list(LENGTH _site _sites)
if(_sites GREATER 0)
  list(GET _site 0 _site)
endif()

# A build folder configured for another root looks again.
if(LibTorch_INCLUDE_DIR AND NOT LibTorch_INCLUDE_DIR STREQUAL "${_site}/torch/include")
  foreach(_found LibTorch_INCLUDE_DIR LibTorch_LIBRARY LibTorch_C10_LIBRARY LEADLINE_TORCH_CUDA LEADLINE_C10_CUDA
                 LEADLINE_NVCC LEADLINE_CUDART LEADLINE_CUDART_INCLUDE LEADLINE_NCCL LEADLINE_NCCL_INCLUDE)
    unset(${_found} CACHE)
  endforeach()
endif()

find_path(LibTorch_INCLUDE_DIR torch/script.h PATHS "${_site}/torch/include" NO_DEFAULT_PATH)
find_library(LibTorch_LIBRARY torch_cpu PATHS "${_site}/torch/lib" NO_DEFAULT_PATH)
find_library(LibTorch_C10_LIBRARY c10 PATHS "${_site}/torch/lib" NO_DEFAULT_PATH)

include(FindPackageHandleStandardArgs)
find_package_handle_standard_args(LibTorch
  REQUIRED_VARS LibTorch_LIBRARY LibTorch_C10_LIBRARY LibTorch_INCLUDE_DIR
  REASON_FAILURE_MESSAGE "run scripts/setup, or configure with -DLEADLINE_TRAINER=OFF")

if(LibTorch_FOUND AND NOT TARGET LibTorch::cpu)
  # The two small CUDA wheels beside torch hold libraries that libtorch_cpu.so itself needs.
  file(GLOB _runtime_dirs "${_site}/nvidia/*/lib")
  add_library(LibTorch::cpu INTERFACE IMPORTED)
  target_include_directories(LibTorch::cpu SYSTEM INTERFACE
    "${LibTorch_INCLUDE_DIR}" "${LibTorch_INCLUDE_DIR}/torch/csrc/api/include")
  target_link_libraries(LibTorch::cpu INTERFACE "${LibTorch_LIBRARY}" "${LibTorch_C10_LIBRARY}")
  foreach(_dir "${_site}/torch/lib" ${_runtime_dirs})
    target_link_options(LibTorch::cpu INTERFACE "LINKER:-rpath,${_dir}" "LINKER:-rpath-link,${_dir}")
  endforeach()
endif()
