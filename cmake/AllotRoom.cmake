# allot_room(NAME SOURCES word... [TESTS word...] [TEST_FILES file...] [LIBRARIES target...])
#   An object library allot_NAME from allot/NAME/<word>.cpp, part of the library `allot`; and, with TESTS, one GoogleTest
#   executable from allot/NAME/<word>_test.cpp and the TEST_FILES, relative to the project. LIBRARIES are private: no
#   installed header needs them.
#
# allot_table(ROOM FOLDER TYPE word...)
#   The plug-ins allot/ROOM/FOLDER/<word>.cpp and the table of built-ins, made from cmake/builtin_FOLDER.cpp.in: each
#   plug-in defines `const TYPE <word>` in the namespace allot::FOLDER.
#   Sets ALLOT_FOLDER_SOURCES, to be given to allot_room as further SOURCES.
include_guard(GLOBAL)

# The names in allot/rooms.txt.
file(STRINGS "${PROJECT_SOURCE_DIR}/allot/rooms.txt" ALLOT_ROOMS REGEX "^[a-z]")
list(TRANSFORM ALLOT_ROOMS REPLACE " .*" "")

# Rooms that are not critical for speed (AllotCompile.cmake).
set(ALLOT_EDGE_ROOMS ask check format jobs report run sweep worker)

function(allot_room NAME)
  cmake_parse_arguments(PARSE_ARGV 1 ROOM "" "" "SOURCES;TESTS;TEST_FILES;LIBRARIES")
  if(ROOM_UNPARSED_ARGUMENTS)
    message(FATAL_ERROR "allot_room(${NAME}): what is '${ROOM_UNPARSED_ARGUMENTS}'?")
  endif()
  if(NOT NAME IN_LIST ALLOT_ROOMS)
    message(FATAL_ERROR "allot_room(${NAME}): allot/rooms.txt has no such room")
  endif()
  set(files "")
  foreach(word IN LISTS ROOM_SOURCES)
    if(IS_ABSOLUTE "${word}")
      list(APPEND files "${word}")
    else()
      list(APPEND files "${PROJECT_SOURCE_DIR}/allot/${NAME}/${word}.cpp")
    endif()
  endforeach()

  add_library(allot_${NAME} OBJECT ${files})
  target_include_directories(allot_${NAME} PUBLIC "${PROJECT_SOURCE_DIR}")
  target_link_libraries(allot_${NAME} PRIVATE allot_settings ${ROOM_LIBRARIES})
  if(NAME IN_LIST ALLOT_EDGE_ROOMS)
    allot_compile(allot_${NAME} edge)
  else()
    allot_compile(allot_${NAME} room)
  endif()
  target_sources(allot PRIVATE "$<TARGET_OBJECTS:allot_${NAME}>")
  # Headers are no longer needed once the objects exist; only real libraries matter for linking.
  list(FILTER ROOM_LIBRARIES EXCLUDE REGEX "^allot::")
  target_link_libraries(allot PRIVATE ${ROOM_LIBRARIES})

  if(ALLOT_BUILD_TESTS AND ROOM_TESTS)
    allot_test(
      ${NAME}
      FOLDER "allot/${NAME}"
      LABEL unit
      SOURCES ${ROOM_TESTS}
      FILES ${ROOM_TEST_FILES})
  endif()
endfunction()

function(allot_table ROOM FOLDER TYPE)
  list(LENGTH ARGN count)
  set(declarations "")
  set(entries "")
  set(sources "")
  foreach(word IN LISTS ARGN)
    string(APPEND declarations "extern const ${TYPE} ${word};\n")
    string(APPEND entries "      &${FOLDER}::${word},\n")
    list(APPEND sources "${FOLDER}/${word}")
    # There are few questions, and most of their compile time is for the same code in all of them.
    if(NOT ROOM IN_LIST ALLOT_EDGE_ROOMS)
      allot_apart("${PROJECT_SOURCE_DIR}/allot/${ROOM}/${FOLDER}/${word}.cpp")
    endif()
  endforeach()
  set(table "${CMAKE_CURRENT_BINARY_DIR}/${ROOM}/builtin_${FOLDER}.cpp")
  configure_file("${PROJECT_SOURCE_DIR}/cmake/builtin_${FOLDER}.cpp.in" "${table}" @ONLY)
  set(ALLOT_${FOLDER}_SOURCES ${sources} "${table}" PARENT_SCOPE)
endfunction()
