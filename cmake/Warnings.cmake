# Warning flags, as an interface target, so that they do not apply to LibTorch's headers.
add_library(attn_flags INTERFACE)
target_include_directories(attn_flags INTERFACE ${PROJECT_SOURCE_DIR})
# Messages name sources from the root on, so that ccache finds what another clone has compiled.
target_compile_options(attn_flags INTERFACE -fmacro-prefix-map=${PROJECT_SOURCE_DIR}=.)
target_compile_options(attn_flags INTERFACE
  -Wall -Wextra -Wshadow -Wno-unused-parameter -Wno-missing-field-initializers -Werror=switch -Werror=return-type)
if(CMAKE_CXX_COMPILER_ID STREQUAL "GNU" AND CMAKE_CXX_COMPILER_VERSION VERSION_GREATER_EQUAL 13)
  # GCC 14 takes the std::vector<bool> of LibTorch's autograd functions for one that is too short.
  target_compile_options(attn_flags INTERFACE -Wno-array-bounds -Wno-stringop-overflow)
endif()
if(ATTN_WERROR)
  target_compile_options(attn_flags INTERFACE -Werror)
  if(CMAKE_CXX_COMPILER_ID STREQUAL "GNU" AND CMAKE_CXX_COMPILER_VERSION VERSION_LESS 13)
    # GCC 12 reports false overlaps in `"x" + std::string(…)` (its bug 105651, fixed in 13).
    target_compile_options(attn_flags INTERFACE -Wno-error=restrict)
  endif()
endif()
# Bounds checks in the standard containers: ABI-neutral, unlike _GLIBCXX_DEBUG, which breaks LibTorch.
target_compile_definitions(attn_flags INTERFACE $<$<CONFIG:Debug>:_GLIBCXX_ASSERTIONS>)
if(ATTN_SANITIZE)
  # The property, of the target that is compiled, leaves out the checks of undefined behaviour.
  target_compile_options(attn_flags INTERFACE
    -fsanitize=address $<$<NOT:$<BOOL:$<TARGET_PROPERTY:ATTN_ONLY_ADDRESSES>>>:-fsanitize=undefined>
    -fno-sanitize-recover=all -fno-omit-frame-pointer)
  target_link_options(attn_flags INTERFACE -fsanitize=address,undefined)
endif()
if(ATTN_COVERAGE)
  target_compile_options(attn_flags INTERFACE --coverage -O0)
  target_link_options(attn_flags INTERFACE --coverage)
endif()
