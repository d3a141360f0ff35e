# Run by CTest for each test binary (see Tests.cmake): adds its test cases, which the binary lists again after it has changed.
# Takes target, program (the binary) and cases (the file for the list).
if(NOT EXISTS "${program}")
  add_test("${target} is not built" "${program}")
  return()
endif()
if(NOT EXISTS "${cases}" OR "${program}" IS_NEWER_THAN "${cases}")
  execute_process(COMMAND "${program}" --ctest "${cases}.new" RESULT_VARIABLE failed ERROR_VARIABLE output
                  OUTPUT_VARIABLE output)
  if(failed)
    message(FATAL_ERROR "${program} could not list its test cases (${failed}):\n${output}")
  endif()
  file(RENAME "${cases}.new" "${cases}")
endif()
include("${cases}")
