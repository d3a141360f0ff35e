# Finds the dependencies; nothing is downloaded. `./run` installs what is missing, or explains how to.
find_program(CCACHE ccache)
if(CCACHE AND NOT CMAKE_CXX_COMPILER_LAUNCHER)
  # A precompiled header is cached only under these settings (ccache's manual, "Precompiled headers"). Paths below the
  # base directory are hashed relative to the build folder, so that another clone of the same commit hits the cache.
  set(CMAKE_CXX_COMPILER_LAUNCHER ${CMAKE_COMMAND} -E env
      CCACHE_SLOPPINESS=pch_defines,time_macros,include_file_mtime,include_file_ctime
      CCACHE_BASEDIR=${PROJECT_SOURCE_DIR} CCACHE_NOHASHDIR=1 ${CCACHE})
endif()

find_package(Threads REQUIRED)
find_package(nlohmann_json 3.9 REQUIRED)
find_package(CLI11 2 REQUIRED)

# SentencePiece has no CMake package on most systems: uses pkg-config if available, else its header and library.
find_path(SENTENCEPIECE_INCLUDE_DIR sentencepiece_trainer.h REQUIRED)
find_library(SENTENCEPIECE_LIBRARY sentencepiece REQUIRED)
find_library(SENTENCEPIECE_TRAIN_LIBRARY sentencepiece_train REQUIRED)
add_library(attn_sentencepiece INTERFACE)
target_include_directories(attn_sentencepiece SYSTEM INTERFACE ${SENTENCEPIECE_INCLUDE_DIR})
target_link_libraries(attn_sentencepiece INTERFACE ${SENTENCEPIECE_TRAIN_LIBRARY} ${SENTENCEPIECE_LIBRARY})

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
  find_package(Catch2 REQUIRED)
endif()

if(ATTN_WITH_TORCH)
  include(FindLibTorch)
endif()
