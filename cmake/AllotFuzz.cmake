# allot_fuzz(word...): makes a libFuzzer target <word>_fuzz from each tests/fuzz/<word>_fuzz.cpp; all of them:
# allot_fuzzers.
include_guard(GLOBAL)

function(allot_fuzz)
  add_custom_target(allot_fuzzers)
  foreach(word IN LISTS ARGN)
    add_executable(${word}_fuzz "${PROJECT_SOURCE_DIR}/tests/fuzz/${word}_fuzz.cpp")
    target_link_libraries(${word}_fuzz PRIVATE allot allot_settings)
    target_link_options(${word}_fuzz PRIVATE -fsanitize=fuzzer)
    add_dependencies(allot_fuzzers ${word}_fuzz)
    set_target_properties(${word}_fuzz PROPERTIES RUNTIME_OUTPUT_DIRECTORY "${PROJECT_BINARY_DIR}/fuzz")
  endforeach()
endfunction()
