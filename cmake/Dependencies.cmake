# Finds the dependencies. With ATTN_FETCH, as `./run` configures, those that the system lacks are downloaded and
# compiled; else nothing is.
find_program(CCACHE ccache)
if(CCACHE AND NOT CMAKE_CXX_COMPILER_LAUNCHER)
  # A precompiled header is cached only under these settings (ccache's manual, "Precompiled headers"). Paths below the
  # base directory are hashed relative to the build folder, so that another clone of the same commit hits the cache.
  set(CMAKE_CXX_COMPILER_LAUNCHER ${CMAKE_COMMAND} -E env
      CCACHE_SLOPPINESS=pch_defines,time_macros,include_file_mtime,include_file_ctime
      CCACHE_BASEDIR=${PROJECT_SOURCE_DIR} CCACHE_NOHASHDIR=1 ${CCACHE})
endif()

include(CheckCXXSourceCompiles)
set(CMAKE_REQUIRED_FLAGS ${CMAKE_CXX20_STANDARD_COMPILE_OPTION})
check_cxx_source_compiles("#include <algorithm>
  #include <span>
  #include <string>
  int main() { std::string text = \"ab\"; std::ranges::sort(text); return std::span(text).size() == 2 ? 0 : 1; }"
  ATTN_CXX20)
unset(CMAKE_REQUIRED_FLAGS)
if(NOT ATTN_CXX20)
  message(FATAL_ERROR "${CMAKE_CXX_COMPILER} (${CMAKE_CXX_COMPILER_ID} ${CMAKE_CXX_COMPILER_VERSION}) does not compile "
          "C++20: set CXX to GCC 11 or newer")
endif()

# attn_dependency(NAME VERSION URL SHA256): find_package, or the release. FETCHCONTENT_SOURCE_DIR_<NAME> in capitals
# is used in place of a download.
include(FetchContent)
function(attn_dependency name version url sha256)
  find_package(${name} ${version} QUIET)
  if(NOT ${name}_FOUND AND NOT ATTN_FETCH)
    find_package(${name} ${version} REQUIRED)
  elseif(NOT ${name}_FOUND)
    message(STATUS "${name} not found: ${url}")
    FetchContent_Declare(${name} URL ${url} URL_HASH SHA256=${sha256} SYSTEM)
    FetchContent_MakeAvailable(${name})
  endif()
endfunction()

set(CMAKE_POLICY_VERSION_MINIMUM 3.5)  # CMake 4 refuses what these releases ask for
find_package(Threads REQUIRED)
attn_dependency(nlohmann_json 3.9 https://github.com/nlohmann/json/releases/download/v3.11.3/json.tar.xz
                d6c65aca6b1ed68e7a182f4757257b107ae403032760ed6ef121c9d55e81757d)
attn_dependency(CLI11 2 https://github.com/CLIUtils/CLI11/archive/refs/tags/v2.4.1.tar.gz
                73b7ec52261ce8fe980a29df6b4ceb66243bb0b779451dbd3d014cfec9fdbb58)

# SentencePiece has no CMake package.
add_library(attn_sentencepiece INTERFACE)
find_path(SENTENCEPIECE_INCLUDE_DIR sentencepiece_trainer.h)
find_library(SENTENCEPIECE_LIBRARY sentencepiece)
find_library(SENTENCEPIECE_TRAIN_LIBRARY sentencepiece_train)
if(SENTENCEPIECE_INCLUDE_DIR AND SENTENCEPIECE_LIBRARY AND SENTENCEPIECE_TRAIN_LIBRARY)
  target_include_directories(attn_sentencepiece SYSTEM INTERFACE ${SENTENCEPIECE_INCLUDE_DIR})
  target_link_libraries(attn_sentencepiece INTERFACE ${SENTENCEPIECE_TRAIN_LIBRARY} ${SENTENCEPIECE_LIBRARY})
elseif(NOT ATTN_FETCH)
  message(FATAL_ERROR "SentencePiece's headers and libraries were not found (Debian: libsentencepiece-dev): install them, "
          "set CMAKE_PREFIX_PATH, or let the build download it with -D ATTN_FETCH=ON")
else()
  set(url https://github.com/google/sentencepiece/archive/refs/tags/v0.2.0.tar.gz)
  message(STATUS "SentencePiece not found: ${url}")
  set(SPM_ENABLE_SHARED OFF CACHE BOOL "" FORCE)
  FetchContent_Declare(sentencepiece URL ${url} SYSTEM URL_HASH
                       SHA256=9970f0a0afee1648890293321665e5b2efa04eaec9f1671fcf8048f456f5bb86)
  set(attn_flags "${CMAKE_CXX_FLAGS}")
  string(APPEND CMAKE_CXX_FLAGS " -include cstdint")  # which its headers need from GCC 15 on
  FetchContent_MakeAvailable(sentencepiece)
  set(CMAKE_CXX_FLAGS "${attn_flags}")
  target_include_directories(attn_sentencepiece SYSTEM INTERFACE ${sentencepiece_SOURCE_DIR}/src)
  target_link_libraries(attn_sentencepiece INTERFACE sentencepiece_train-static sentencepiece-static)
endif()

# Training over several processes. The C interface alone: C++ bindings are gone from MPI 3.
set(ATTN_MPI OFF)
if(ATTN_WITH_TORCH AND NOT ATTN_WITH_MPI STREQUAL "OFF")
  set(MPI_CXX_SKIP_MPICXX ON)
  if(ATTN_WITH_MPI STREQUAL "ON")
    find_package(MPI REQUIRED COMPONENTS CXX)
  else()
    find_package(MPI QUIET COMPONENTS CXX)
  endif()
  set(ATTN_MPI ${MPI_CXX_FOUND})
endif()

if(ATTN_TESTS)
  attn_dependency(Catch2 "" https://github.com/catchorg/Catch2/archive/refs/tags/v2.13.10.tar.gz
                  d54a712b7b1d7708bc7a819a8e6e47b2fde9536f487b89ccbca295072a7d9943)
endif()

if(ATTN_WITH_TORCH)
  include(FindLibTorch)
endif()
