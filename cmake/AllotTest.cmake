# allot_test(NAME FOLDER folder LABEL label SOURCES word... [FILES file...] [LIBRARIES target...] [TIMEOUT seconds])
#   One GoogleTest executable, NAME_test, from folder/<word>_test.cpp, each TEST of it a test of ctest with the label.
#   FILES, relative to the project, are compiled into it as well.
#   The test programs may use GoogleMock, RapidCheck, tests/support and every header of the library; they find the
#   project's files through the macro ALLOT_SOURCE_DIR and the built command through ALLOT_COMMAND.
#   Tests compile in about a third of the time with headers that are parsed once and with the ALLOT_TEST_FLAGS of the
#   preset: most of their run time is spent in the library, which is compiled as in every build.
include_guard(GLOBAL)

# What a test takes of ctest's parallel level, which should be eight times the number of cores (PROCESSORS): two
# computing tests on two cores, and beside them two that mostly sleep or wait.
set(ALLOT_COMPUTES 6)
set(ALLOT_WAITS 2)

set(ALLOT_TEST_FLAGS "" CACHE STRING "Further compiler flags of the tests, not of what they test, as a list, such as -O1")
set(ALLOT_COMPUTING_TEST_FLAGS "${ALLOT_TEST_FLAGS}" CACHE STRING "The same, of tests that compute much themselves")
# Tests that check the library by enumeration, sampling or brute force.
set(ALLOT_COMPUTING_TESTS base solve size policy simulate analyze dispatch)
# Tests that take a minute or more with sanitizers.
set(ALLOT_LONG_TESTS worlds solve dispatch policy)

# allot_test_kind(KIND flag...): the settings for tests of this kind, allot_<KIND>_tests, and their precompiled headers.
function(allot_test_kind KIND)
  set(settings allot_${KIND}_tests)
  add_library(${settings} INTERFACE)
  target_link_libraries(${settings} INTERFACE allot allot_settings GTest::gmock_main rapidcheck_gmock rapidcheck_gtest)
  target_compile_options(${settings} INTERFACE ${ARGN})
  target_compile_definitions(${settings} INTERFACE ALLOT_SOURCE_DIR="${PROJECT_SOURCE_DIR}")
  target_compile_options(${settings} INTERFACE ${ALLOT_PCH_FLAGS})
  # The headers of other libraries that most tests include. They must be as position-independent as programs, otherwise
  # the compiler would not accept them.
  set(headers allot_${KIND}_test_headers)
  add_library(${headers} OBJECT "${PROJECT_SOURCE_DIR}/cmake/headers.cpp")
  target_link_libraries(${headers} PRIVATE ${settings})
  target_precompile_headers(
    ${headers}
    PRIVATE
    <gmock/gmock.h>
    <gtest/gtest.h>
    <algorithm>
    <chrono>
    <cmath>
    <filesystem>
    <fstream>
    <functional>
    <map>
    <random>
    <sstream>
    <string>
    <thread>
    <vector>)
  set_target_properties(${headers} PROPERTIES POSITION_INDEPENDENT_CODE OFF)
  target_compile_options(${headers} PRIVATE -fPIE)
endfunction()

if(ALLOT_BUILD_TESTS)
  find_package(GTest REQUIRED)
  find_package(rapidcheck REQUIRED)
  include(GoogleTest)

  allot_test_kind(plain ${ALLOT_TEST_FLAGS})
  if(ALLOT_COMPUTING_TEST_FLAGS STREQUAL ALLOT_TEST_FLAGS)
    set(ALLOT_COMPUTING_TESTS "")
  else()
    allot_test_kind(computing ${ALLOT_COMPUTING_TEST_FLAGS})
  endif()
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
  set(kind plain)
  if(NAME IN_LIST ALLOT_COMPUTING_TESTS)
    set(kind computing)
  endif()
  target_link_libraries(${NAME}_test PRIVATE allot_${kind}_tests ${TEST_LIBRARIES})
  target_precompile_headers(${NAME}_test REUSE_FROM allot_${kind}_test_headers)
  allot_together(${NAME}_test 8)
  if(TEST_LABEL STREQUAL "unit" AND CMAKE_CXX_FLAGS MATCHES "-fsanitize")
    set(command allot_worker_only)
    if(NOT TARGET ${command})
      add_executable(${command} "${PROJECT_SOURCE_DIR}/tests/support/worker_only.cpp")
      target_link_libraries(${command} PRIVATE allot allot_settings)
      set_target_properties(${command} PROPERTIES RUNTIME_OUTPUT_DIRECTORY "${PROJECT_BINARY_DIR}/tests")
    endif()
    target_compile_definitions(${NAME}_test PRIVATE ALLOT_COMMAND="${PROJECT_BINARY_DIR}/tests/${command}")
  else()
    set(command allot_command)
    target_compile_definitions(${NAME}_test PRIVATE ALLOT_COMMAND="${PROJECT_BINARY_DIR}/apps/allot/allot")
  endif()
  if(TARGET ${command})
    add_dependencies(${NAME}_test ${command})
  endif()
  # The tests that the sanitizers run every time.
  if(TEST_LABEL STREQUAL "unit")
    if(NOT TARGET allot_unit_tests)
      add_custom_target(allot_unit_tests)
    endif()
    add_dependencies(allot_unit_tests ${NAME}_test)
  endif()
  if(CMAKE_CXX_FLAGS MATCHES "-fsanitize")
    # As one test of ctest, because programs with sanitizers take long to start.
    add_test(NAME ${NAME} COMMAND ${NAME}_test --gtest_brief WORKING_DIRECTORY "${PROJECT_SOURCE_DIR}")
    set_tests_properties(${NAME} PROPERTIES LABELS "${TEST_LABEL}" TIMEOUT 1800 PROCESSORS ${ALLOT_COMPUTES})
    # The longest first, otherwise one of them would run alone at the end.
    if(NAME IN_LIST ALLOT_LONG_TESTS)
      set_tests_properties(${NAME} PROPERTIES COST 100)
    endif()
    return()
  endif()
  gtest_discover_tests(
    ${NAME}_test
    DISCOVERY_MODE PRE_TEST
    NO_PRETTY_VALUES
    WORKING_DIRECTORY "${PROJECT_SOURCE_DIR}"
    PROPERTIES LABELS "${TEST_LABEL}" TIMEOUT "${TEST_TIMEOUT}" PROCESSORS ${ALLOT_COMPUTES})
endfunction()
