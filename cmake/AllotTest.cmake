# allot_test(NAME FOLDER folder LABEL label SOURCES word... [FILES file...] [LIBRARIES target...] [TIMEOUT seconds])
#   One GoogleTest executable, NAME_test, from folder/<word>_test.cpp, each TEST of it a test of ctest with the label.
#   FILES, relative to the project, are compiled into it as well.
#   The test programs may use GoogleMock, RapidCheck, tests/support and every header of the library; they find the
#   project's files through the macro ALLOT_SOURCE_DIR and the built command through ALLOT_COMMAND.
include_guard(GLOBAL)

if(ALLOT_BUILD_TESTS)
  find_package(GTest REQUIRED)
  find_package(rapidcheck REQUIRED)
  include(GoogleTest)
endif()

function(allot_test NAME)
  cmake_parse_arguments(PARSE_ARGV 1 TEST "" "FOLDER;LABEL;TIMEOUT" "SOURCES;FILES;LIBRARIES")
  if(TEST_UNPARSED_ARGUMENTS)
    message(FATAL_ERROR "allot_test(${NAME}): what is '${TEST_UNPARSED_ARGUMENTS}'?")
  endif()
  if(NOT TEST_TIMEOUT)
    set(TEST_TIMEOUT 300)
  endif()
  list(TRANSFORM TEST_SOURCES PREPEND "${PROJECT_SOURCE_DIR}/${TEST_FOLDER}/")
  list(TRANSFORM TEST_SOURCES APPEND "_test.cpp")
  list(TRANSFORM TEST_FILES PREPEND "${PROJECT_SOURCE_DIR}/")

  add_executable(${NAME}_test ${TEST_SOURCES} ${TEST_FILES})
  target_link_libraries(
    ${NAME}_test PRIVATE allot allot_settings GTest::gmock_main rapidcheck_gmock rapidcheck_gtest ${TEST_LIBRARIES})
  target_compile_definitions(
    ${NAME}_test PRIVATE ALLOT_SOURCE_DIR="${PROJECT_SOURCE_DIR}"
                         ALLOT_COMMAND="${PROJECT_BINARY_DIR}/apps/allot/allot")
  if(TARGET allot_command)
    add_dependencies(${NAME}_test allot_command)
  endif()
  # What the sanitizers see in every run.
  if(TEST_LABEL STREQUAL "unit")
    if(NOT TARGET allot_unit_tests)
      add_custom_target(allot_unit_tests)
    endif()
    add_dependencies(allot_unit_tests ${NAME}_test)
  endif()
  gtest_discover_tests(
    ${NAME}_test
    DISCOVERY_MODE PRE_TEST
    WORKING_DIRECTORY "${PROJECT_SOURCE_DIR}"
    PROPERTIES LABELS "${TEST_LABEL}" TIMEOUT "${TEST_TIMEOUT}")
endfunction()
