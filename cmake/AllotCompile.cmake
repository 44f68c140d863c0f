# How files are compiled: several at a time, with headers that are parsed once, and optimised if that is worthwhile.
include_guard(GLOBAL)

# Otherwise ccache would not cache files that are compiled with precompiled headers.
set(ALLOT_PCH_FLAGS "")
if(CMAKE_CXX_COMPILER_LAUNCHER MATCHES "ccache")
  set(ALLOT_PCH_FLAGS "$<$<CXX_COMPILER_ID:GNU>:-fpch-preprocess>" "$<$<CXX_COMPILER_ID:Clang>:SHELL:-Xclang -fno-pch-timestamp>")
endif()

# Off if the build must check that each file includes what it needs, as in `dev` and `wasm`.
option(ALLOT_PRECOMPILE "Parse the headers of others once for many files" OFF)
# Several files of a room are compiled as one file, so that their common headers are parsed once. Their names must
# differ: two files of a room must not have anonymous functions of the same name. Off if the build must check that each
# compiles on its own.
option(ALLOT_TOGETHER "Compile the files of a room several at a time" OFF)
# Code at the edges waits for people, files and processes: there, optimising costs more time than it saves.
set(ALLOT_EDGE_FLAGS "" CACHE STRING "Further compiler flags of what no speed depends on, as a list, such as -Og")

# allot_standard_headers(KIND [flag...]): the headers of the standard library, parsed once for all targets of a kind.
# GCC compiles files that use them with the optimisation with which they were parsed, whatever the files' own flags, so
# each kind has its own.
function(allot_standard_headers KIND)
  set(headers allot_${KIND}_headers)
  if(TARGET ${headers})
    return()
  endif()
  add_library(${headers} OBJECT "${PROJECT_SOURCE_DIR}/cmake/headers.cpp")
  set_target_properties(${headers} PROPERTIES POSITION_INDEPENDENT_CODE ON)
  target_link_libraries(${headers} PRIVATE allot_settings)
  target_compile_options(${headers} PRIVATE ${ARGN} ${ALLOT_PCH_FLAGS})
  target_precompile_headers(
    ${headers}
    PRIVATE
    <algorithm>
    <chrono>
    <cmath>
    <filesystem>
    <functional>
    <map>
    <memory>
    <optional>
    <span>
    <sstream>
    <string>
    <unordered_map>
    <variant>
    <vector>)
endfunction()

# allot_together(TARGET COUNT): compiles its files this many at a time, except those of allot_apart. The files that
# include them are ours, not CMake's (UNITY_BUILD): they name sources relative to the project, so that ccache recognises
# them in every clone.
function(allot_together TARGET COUNT)
  if(NOT ALLOT_TOGETHER)
    return()
  endif()
  get_target_property(sources ${TARGET} SOURCES)
  set(batch "")
  set(together "")
  set(alone "")
  foreach(source IN LISTS sources)
    get_source_file_property(is_apart "${source}" SKIP_UNITY_BUILD_INCLUSION)
    if(is_apart OR NOT source MATCHES "\\.cpp$")
      list(APPEND alone "${source}")
      continue()
    endif()
    file(REAL_PATH "${source}" path BASE_DIRECTORY "${CMAKE_CURRENT_SOURCE_DIR}")
    file(RELATIVE_PATH path "${PROJECT_SOURCE_DIR}" "${path}")
    string(APPEND batch "#include \"${path}\"\n")
    string(REGEX MATCHALL "\n" lines "${batch}")
    list(LENGTH lines length)
    if(length EQUAL COUNT)
      allot_batch()
    endif()
  endforeach()
  if(batch)
    allot_batch()
  endif()
  set_target_properties(${TARGET} PROPERTIES SOURCES "${alone};${together}")
  target_include_directories(${TARGET} PRIVATE "${PROJECT_SOURCE_DIR}")
  # With half a GiB there is no need to collect garbage again and again.
  target_compile_options(${TARGET} PRIVATE "$<$<CXX_COMPILER_ID:GNU>:--param=ggc-min-heapsize=524288>")
  # A private class of a .cpp may contain types that only that file knows.
  target_compile_options(${TARGET} PRIVATE $<$<CXX_COMPILER_ID:GNU>:-Wno-subobject-linkage>)
endfunction()

# Ends a batch of allot_together.
macro(allot_batch)
  list(LENGTH together number)
  set(file "${CMAKE_CURRENT_BINARY_DIR}/together/${TARGET}_${number}.cpp")
  file(CONFIGURE OUTPUT "${file}" CONTENT "${batch}" @ONLY)
  list(APPEND together "${file}")
  set(batch "")
endmacro()

# allot_apart(file...): compiles each of them separately, for example plug-ins, whose authors need not know the names in
# other files.
function(allot_apart)
  set_source_files_properties(${ARGN} PROPERTIES SKIP_UNITY_BUILD_INCLUSION ON)
endfunction()

# allot_compile(TARGET KIND [COUNT]): compiles it as a room, or as an edge (a room of ALLOT_EDGE_ROOMS, the command, an
# integration), this many files at a time.
function(allot_compile TARGET KIND)
  set(flags "")
  if(KIND STREQUAL "room")
    allot_together(${TARGET} 8)
  else()
    set(flags ${ALLOT_EDGE_FLAGS})
    # Most of their compile time is for templates, which are the same in all files.
    set(count 32 ${ARGN})
    list(GET count -1 count)
    allot_together(${TARGET} ${count})
    target_compile_options(${TARGET} PRIVATE ${flags})
  endif()
  if(ALLOT_PRECOMPILE)
    allot_standard_headers(${KIND} ${flags})
    # Programs would use -fPIE, and precompiled headers must match the kind of code.
    get_target_property(type ${TARGET} TYPE)
    if(type STREQUAL "EXECUTABLE")
      set_target_properties(${TARGET} PROPERTIES POSITION_INDEPENDENT_CODE OFF)
      target_compile_options(${TARGET} PRIVATE -fPIC)
    else()
      set_target_properties(${TARGET} PROPERTIES POSITION_INDEPENDENT_CODE ON)
    endif()
    # GCC 12 warns about the standard library's own code if it was parsed before; builds without shared headers keep
    # these warnings.
    target_compile_options(${TARGET} PRIVATE ${ALLOT_PCH_FLAGS} $<$<CXX_COMPILER_ID:GNU>:-Wno-array-bounds>
                                             $<$<CXX_COMPILER_ID:GNU>:-Wno-stringop-overflow> $<$<CXX_COMPILER_ID:GNU>:-Wno-stringop-overread>)
    target_precompile_headers(${TARGET} REUSE_FROM allot_${KIND}_headers)
  endif()
endfunction()
