# allot_test(NAME FOLDER folder LABEL label SOURCES word... [FILES file...] [LIBRARIES target...] [TIMEOUT seconds])
#   One GoogleTest executable, NAME_test, from folder/<word>_test.cpp, each TEST of it a test of ctest with the label.
#   FILES, relative to the project, are compiled into it as well.
#   The test programs may use GoogleMock, RapidCheck, tests/support and every header of the library; they find the
#   project's files through the macro ALLOT_SOURCE_DIR and the built command through ALLOT_COMMAND.
#   Tests compile in about a third of the time with headers that are parsed once (allot_test_headers) and with the
#   ALLOT_TEST_FLAGS of the preset: what a test spends its time in is the library, which is compiled as in every build.
include_guard(GLOBAL)

# What a test takes of ctest's parallel level, which is to be eight times the number of cores (PROCESSORS): two computing
# tests on two cores, with two beside them that mostly sleep or wait for others.
set(ALLOT_COMPUTES 6)
set(ALLOT_WAITS 2)

set(ALLOT_TEST_FLAGS "" CACHE STRING "Further compiler flags of the tests, not of what they test, such as -O1")

if(ALLOT_BUILD_TESTS)
  find_package(GTest REQUIRED)
  find_package(rapidcheck REQUIRED)
  include(GoogleTest)

  # What every test needs of its surroundings.
  add_library(allot_test_settings INTERFACE)
  target_link_libraries(allot_test_settings INTERFACE allot allot_settings GTest::gmock_main rapidcheck_gmock rapidcheck_gtest)
  separate_arguments(flags UNIX_COMMAND "${ALLOT_TEST_FLAGS}")
  target_compile_options(allot_test_settings INTERFACE ${flags})
  target_compile_definitions(allot_test_settings INTERFACE ALLOT_SOURCE_DIR="${PROJECT_SOURCE_DIR}")
  # The headers of others that most tests include: parsed once, for all of them. As position-independent as programs are,
  # else the compiler would not take them.
  add_library(allot_test_headers OBJECT "${PROJECT_SOURCE_DIR}/cmake/headers.cpp")
  target_link_libraries(allot_test_headers PRIVATE allot_test_settings)
  target_precompile_headers(
    allot_test_headers
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
  set_target_properties(allot_test_headers PROPERTIES POSITION_INDEPENDENT_CODE OFF)
  target_compile_options(allot_test_headers PRIVATE -fPIE)
  # Else ccache would not keep what is compiled with them.
  if(CMAKE_CXX_COMPILER_LAUNCHER MATCHES "ccache")
    target_compile_options(
      allot_test_settings INTERFACE "$<$<CXX_COMPILER_ID:GNU>:-fpch-preprocess>"
                                    "$<$<CXX_COMPILER_ID:Clang>:SHELL:-Xclang -fno-pch-timestamp>")
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
  target_link_libraries(${NAME}_test PRIVATE allot_test_settings ${TEST_LIBRARIES})
  target_precompile_headers(${NAME}_test REUSE_FROM allot_test_headers)
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
  # What the sanitizers see in every run.
  if(TEST_LABEL STREQUAL "unit")
    if(NOT TARGET allot_unit_tests)
      add_custom_target(allot_unit_tests)
    endif()
    add_dependencies(allot_unit_tests ${NAME}_test)
  endif()
  if(CMAKE_CXX_FLAGS MATCHES "-fsanitize")
    # As one test of ctest: programs with sanitizers take long to start.
    add_test(NAME ${NAME} COMMAND ${NAME}_test --gtest_brief WORKING_DIRECTORY "${PROJECT_SOURCE_DIR}")
    set_tests_properties(${NAME} PROPERTIES LABELS "${TEST_LABEL}" TIMEOUT 1800 PROCESSORS ${ALLOT_COMPUTES})
    return()
  endif()
  gtest_discover_tests(
    ${NAME}_test
    DISCOVERY_MODE PRE_TEST
    WORKING_DIRECTORY "${PROJECT_SOURCE_DIR}"
    PROPERTIES LABELS "${TEST_LABEL}" TIMEOUT "${TEST_TIMEOUT}" PROCESSORS ${ALLOT_COMPUTES})
endfunction()
