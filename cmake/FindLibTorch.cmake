# Creates the target attn_torch: LibTorch's headers, libraries and run path. LibTorchPrefix.cmake has the search order,
# and the reason why find_package(Torch) is not used.
include(LibTorchPrefix)
include(LibTorchInternals)

if(NOT ATTN_TORCH_PREFIX OR NOT EXISTS "${ATTN_TORCH_PREFIX}/include/torch")
  attn_find_torch_prefix(_found)
  set(ATTN_TORCH_PREFIX "${_found}" CACHE PATH "Folder with LibTorch's include and lib" FORCE)
endif()
if(NOT ATTN_TORCH_PREFIX)
  message(FATAL_ERROR
    "LibTorch ${ATTN_TORCH_OLDEST} to ${ATTN_TORCH_NEWEST} was not found. `./run build` installs a private one; or set "
    "Torch_DIR or CMAKE_PREFIX_PATH, or install torch for the python3 on the PATH.")
endif()
attn_torch_version("${ATTN_TORCH_PREFIX}" ATTN_TORCH_VERSION)
if(NOT ATTN_TORCH_VERSION)
  message(FATAL_ERROR "ATTN_TORCH_PREFIX=${ATTN_TORCH_PREFIX} is not a complete LibTorch: its headers and the "
                      "libraries torch, torch_cpu and c10 are required. Reinstall it, or set another prefix")
endif()
if(ATTN_TORCH_VERSION VERSION_LESS ATTN_TORCH_OLDEST)
  message(FATAL_ERROR "ATTN_TORCH_PREFIX=${ATTN_TORCH_PREFIX} is LibTorch ${ATTN_TORCH_VERSION}: "
                      "${ATTN_TORCH_OLDEST} to ${ATTN_TORCH_NEWEST} are supported")
endif()
if(ATTN_TORCH_VERSION MATCHES "^[0-9]+\\.[0-9]+" AND CMAKE_MATCH_0 VERSION_GREATER ATTN_TORCH_NEWEST)
  message(WARNING "LibTorch ${ATTN_TORCH_VERSION} is newer than ${ATTN_TORCH_NEWEST}, the newest tested version")
endif()
attn_check_torch_internals("${ATTN_TORCH_PREFIX}/include" ${ATTN_TORCH_VERSION})
# An upgrade in place must reconfigure.
set_property(DIRECTORY "${PROJECT_SOURCE_DIR}" APPEND PROPERTY CMAKE_CONFIGURE_DEPENDS
             "${ATTN_TORCH_PREFIX}/include/torch/csrc/api/include/torch/version.h")

set(_torch_libraries "")
foreach(_name torch torch_cpu c10 torch_cuda c10_cuda torch_hip c10_hip)
  # The library's path is remembered in no cache entry: it follows ATTN_TORCH_PREFIX.
  find_library(_torch_library ${_name} PATHS "${ATTN_TORCH_PREFIX}/lib" NO_DEFAULT_PATH NO_CACHE)
  if(_torch_library)
    list(APPEND _torch_libraries "${_torch_library}")
  elseif(_name MATCHES "^(torch|torch_cpu|c10)$")
    message(FATAL_ERROR "LibTorch at ${ATTN_TORCH_PREFIX} has no library ${_name}")
  endif()
  if(_name STREQUAL "torch_cuda")
    set(ATTN_TORCH_CUDA "${_torch_library}") # empty without CUDA
  endif()
  unset(_torch_library)
endforeach()

add_library(attn_torch INTERFACE)
target_include_directories(attn_torch SYSTEM INTERFACE
  "${ATTN_TORCH_PREFIX}/include" "${ATTN_TORCH_PREFIX}/include/torch/csrc/api/include")
# LibTorch's wheels export parts of libstdc++ that were linked into them (std::filesystem). Ours must be found first: the
# copy in 2.11 with CUDA calls a null pointer when a directory is removed.
if("stdc++" IN_LIST CMAKE_CXX_IMPLICIT_LINK_LIBRARIES)
  target_link_libraries(attn_torch INTERFACE stdc++)
endif()
target_link_libraries(attn_torch INTERFACE ${_torch_libraries})
target_link_options(attn_torch INTERFACE "LINKER:-rpath,${ATTN_TORCH_PREFIX}/lib")
if(CMAKE_SYSTEM_NAME STREQUAL "Linux")
  # torch_cuda registers its kernels when it is loaded and is named by no symbol of ours: a linker that drops unneeded
  # libraries (Ubuntu's default) would drop the GPU. What torch_cuda itself needs is found by its own run path when
  # the program starts, and need not be found when it is linked.
  target_link_options(attn_torch INTERFACE "LINKER:--no-as-needed" "LINKER:--allow-shlib-undefined")
endif()
# at::parallel_for is a template over OpenMP: without the compiler flag it silently runs on one thread. The runtime must
# be LibTorch's own copy, or two thread pools would compete for the cores.
find_package(OpenMP QUIET COMPONENTS CXX)
if(OpenMP_CXX_FOUND)
  separate_arguments(_openmp_flags NATIVE_COMMAND "${OpenMP_CXX_FLAGS}")
  target_compile_options(attn_torch INTERFACE ${_openmp_flags})
  file(GLOB _openmp_runtime "${ATTN_TORCH_PREFIX}/lib/libgomp*.so*" "${ATTN_TORCH_PREFIX}/../torch.libs/libgomp*.so*")
  if(_openmp_runtime AND CMAKE_CXX_COMPILER_ID STREQUAL "GNU")
    list(GET _openmp_runtime 0 _openmp_runtime)
    target_link_libraries(attn_torch INTERFACE "${_openmp_runtime}")
  else()
    target_link_libraries(attn_torch INTERFACE ${OpenMP_CXX_LIBRARIES})
  endif()
else()
  message(WARNING "The compiler does not support OpenMP: attn's kernels will run on one thread")
endif()
# The macros LibTorch was compiled with, since some of its headers depend on them.
set(_targets "${ATTN_TORCH_PREFIX}/share/cmake/Caffe2/Caffe2Targets.cmake")
if(EXISTS "${_targets}")
  file(STRINGS "${_targets}" _line REGEX "INTERFACE_COMPILE_DEFINITIONS \"USE_" LIMIT_COUNT 1)
  if(_line MATCHES "\"(USE_[A-Z0-9_;]*)\"")
    target_compile_definitions(attn_torch INTERFACE ${CMAKE_MATCH_1})
  endif()
endif()

if(ATTN_TORCH_CUDA)
  message(STATUS "LibTorch ${ATTN_TORCH_VERSION} with CUDA at ${ATTN_TORCH_PREFIX}")
else()
  message(STATUS "LibTorch ${ATTN_TORCH_VERSION} for the CPU at ${ATTN_TORCH_PREFIX}")
endif()
