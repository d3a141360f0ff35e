# Finds LibTorch: the directory with include/torch and lib/libtorch. Searched in this order:
#   1. ATTN_TORCH_PREFIX (a cache entry, so that a configured build keeps the LibTorch it was made with),
#   2. Torch_DIR, 3. CMAKE_PREFIX_PATH (both as a CMake or an environment variable), 4. the active conda environment,
#   5. the python3 on the PATH, 6. this repository's private .venv, which `./run` makes when there is nothing else.
# Also a script: `cmake -P cmake/LibTorchPrefix.cmake` prints the prefix, or nothing.
# LibTorch is found by its files and not by find_package(Torch): the package files of a CUDA build require nvcc, although
# compiling C++ against it needs no CUDA toolkit.

set(ATTN_TORCH_OLDEST 2.11)
set(ATTN_TORCH_NEWEST 2.15)

# The version of the LibTorch under `prefix` as "2.13.0", or "" if there is no complete LibTorch: headers and libraries.
function(attn_torch_version prefix result)
  set(${result} "" PARENT_SCOPE)
  if(NOT EXISTS "${prefix}/include/torch/csrc/api/include/torch/torch.h")
    return()
  endif()
  foreach(name torch torch_cpu c10)
    file(GLOB libraries "${prefix}/lib/lib${name}.so" "${prefix}/lib/lib${name}.dylib" "${prefix}/lib/lib${name}.a")
    if(NOT libraries)
      return()
    endif()
  endforeach()
  set(numbers "")
  foreach(header torch/headeronly/version.h torch/csrc/api/include/torch/version.h)
    if(EXISTS "${prefix}/include/${header}" AND NOT numbers)
      file(READ "${prefix}/include/${header}" text)
      foreach(part MAJOR MINOR PATCH)
        if(text MATCHES "#define TORCH_VERSION_${part} ([0-9]+)")
          list(APPEND numbers ${CMAKE_MATCH_1})
        endif()
      endforeach()
    endif()
  endforeach()
  list(JOIN numbers "." version)
  set(${result} "${version}" PARENT_SCOPE)
endfunction()

# Sets `result` to the first of the candidate folders that holds a LibTorch which is new enough, or to "".
function(attn_first_torch result)
  set(${result} "" PARENT_SCOPE)
  foreach(prefix ${ARGN})
    attn_torch_version("${prefix}" version)
    if(version AND version VERSION_GREATER_EQUAL ATTN_TORCH_OLDEST)
      get_filename_component(prefix "${prefix}" ABSOLUTE)
      set(${result} "${prefix}" PARENT_SCOPE)
      return()
    endif()
  endforeach()
endfunction()

# The folder of the torch package that this python would import. Nothing is imported: that takes seconds.
function(attn_python_torch python result)
  execute_process(
    COMMAND ${python} -c
      "import importlib.util as u; s = u.find_spec('torch'); print(s.submodule_search_locations[0] if s else '')"
    WORKING_DIRECTORY "${ATTN_ROOT}/cmake" # not the caller's folder, which might hold a folder called torch
    OUTPUT_VARIABLE folder OUTPUT_STRIP_TRAILING_WHITESPACE ERROR_QUIET)
  set(${result} "${folder}" PARENT_SCOPE)
endfunction()

function(attn_find_torch_prefix result)
  set(candidates "")
  foreach(dir "${Torch_DIR}" "$ENV{Torch_DIR}")
    if(dir)
      list(APPEND candidates "${dir}/../../..")
    endif()
  endforeach()
  string(REPLACE ":" ";" from_environment "$ENV{CMAKE_PREFIX_PATH}")
  foreach(dir ${CMAKE_PREFIX_PATH} ${from_environment})
    # A prefix, its share/cmake (what torch.utils.cmake_prefix_path names) or the folder above a libtorch.
    list(APPEND candidates "${dir}" "${dir}/../.." "${dir}/libtorch")
  endforeach()
  if(NOT "$ENV{CONDA_PREFIX}" STREQUAL "")
    list(APPEND candidates "$ENV{CONDA_PREFIX}")
  endif()
  attn_first_torch(found ${candidates})
  if(NOT found)
    find_program(ATTN_PYTHON NAMES python3 python)
    if(ATTN_PYTHON)
      attn_python_torch(${ATTN_PYTHON} folder)
      attn_first_torch(found ${folder})
    endif()
  endif()
  if(NOT found)
    # pip writes RECORD last: without it the installation was interrupted.
    file(GLOB folders "${ATTN_ROOT}/.venv/lib/python3*/site-packages/torch-*.dist-info/RECORD")
    list(TRANSFORM folders REPLACE "torch-[^/]*/RECORD$" "torch")
    attn_first_torch(found ${folders})
  endif()
  set(${result} "${found}" PARENT_SCOPE)
endfunction()

get_filename_component(ATTN_ROOT "${CMAKE_CURRENT_LIST_DIR}/.." ABSOLUTE)
if(CMAKE_SCRIPT_MODE_FILE STREQUAL CMAKE_CURRENT_LIST_FILE)
  cmake_minimum_required(VERSION 3.25) # ./run installs a newer CMake if this fails
  attn_find_torch_prefix(found)
  if(found)
    execute_process(COMMAND ${CMAKE_COMMAND} -E echo "${found}") # message() would write to stderr
  endif()
endif()
