# attn_folder(NAME [COLD] TEXT a.cpp … TORCH b.cpp … USES x y)
#   Defines the libraries of a folder (layer). TEXT sources do not include torch and form the library attn_NAME_text,
#   which compiles in seconds and also builds with -DATTN_WITH_TORCH=OFF; TORCH sources form attn_NAME on top of it. USES
#   lists lower folders. COLD: no time is spent in this folder's own code; it is compiled at -O1, which takes a third
#   less time. Tests.cmake defines the tests of a folder in the same way.

# LibTorch costs some 20 s a file: one precompiled header serves every torch target.
function(attn_use_torch target)
  target_link_libraries(${target} PUBLIC attn_torch)
  if(TARGET attn_pch)
    target_precompile_headers(${target} REUSE_FROM attn_pch)
  endif()
endfunction()

# A precompiled header is used only where all flags that shape code are the same: the libraries, the tests and the
# program share these, and nobody sets CMAKE_POSITION_INDEPENDENT_CODE. -Winvalid-pch, which CMake adds, tells.
function(attn_make_pch)
  file(CONFIGURE OUTPUT ${CMAKE_CURRENT_BINARY_DIR}/pch.cpp CONTENT "// Compiled only to make the precompiled header.\n")
  add_library(attn_pch STATIC ${CMAKE_CURRENT_BINARY_DIR}/pch.cpp)
  target_link_libraries(attn_pch PRIVATE attn_flags attn_torch Threads::Threads)
  target_precompile_headers(attn_pch PRIVATE <kernels/libtorch.h>) # no absolute path: ccache hashes it
  if(CMAKE_CXX_COMPILER_ID STREQUAL "GNU")
    # For ccache: the preprocessed text names the precompiled header, instead of repeating all that it holds.
    target_compile_options(attn_torch INTERFACE -fpch-preprocess)
  endif()
endfunction()

# With ATTN_UNITY up to twelve sources are one translation unit: most of a source's compilation is what it includes. (Two
# units of six in app take 29 s, one of twelve 21 s.)
function(attn_unity_build target)
  get_target_property(sources ${target} SOURCES)
  list(LENGTH sources count)
  math(EXPR units "(${count} + 11) / 12")
  if(units LESS 2)
    set(units 2) # so that two cores have work
  endif()
  math(EXPR batch "(${count} + ${units} - 1) / ${units}")
  set_target_properties(${target} PROPERTIES UNITY_BUILD ${ATTN_UNITY} UNITY_BUILD_BATCH_SIZE ${batch})
endfunction()

function(attn_folder_library target)
  add_library(${target} STATIC ${ARGN})
  attn_unity_build(${target})
endfunction()

function(attn_folder name)
  cmake_parse_arguments(ARG "COLD" "" "TEXT;TORCH;USES" ${ARGN})
  attn_folder_library(attn_${name}_text ${ARG_TEXT})
  if(ARG_COLD)
    target_compile_options(attn_${name}_text PRIVATE $<$<CONFIG:Release>:-O1>)
  endif()
  target_link_libraries(attn_${name}_text PUBLIC attn_flags Threads::Threads)
  foreach(used ${ARG_USES})
    target_link_libraries(attn_${name}_text PUBLIC attn_${used}_text)
  endforeach()
  if(NOT ATTN_WITH_TORCH OR NOT ARG_TORCH)
    return()
  endif()
  attn_folder_library(attn_${name} ${ARG_TORCH})
  # GCC from 13 on refuses a precompiled header of another level.
  if(ARG_COLD AND NOT (CMAKE_CXX_COMPILER_ID STREQUAL "GNU" AND CMAKE_CXX_COMPILER_VERSION VERSION_GREATER_EQUAL 13))
    target_compile_options(attn_${name} PRIVATE $<$<CONFIG:Release>:-O1>)
  endif()
  target_link_libraries(attn_${name} PUBLIC attn_${name}_text)
  foreach(used ${ARG_USES})
    if(TARGET attn_${used})
      target_link_libraries(attn_${name} PUBLIC attn_${used})
    endif()
  endforeach()
  attn_use_torch(attn_${name})
endfunction()
