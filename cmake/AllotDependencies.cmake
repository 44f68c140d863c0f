# The libraries that allot uses. All of them are private: the installed headers need only the standard library.
# The CMake package of a library is preferred, whatever its origin; pkg-config comes second.
#   ALLOT_CLP, ALLOT_NLOPT, ALLOT_SQLITE, ALLOT_GMP: libraries to link, empty when switched off
#   ALLOT_MODULES: their names in pkg-config; ALLOT_FOUND_PACKAGES: the CMake packages that were used
#   allot::random123, allot::eigen, allot::tomlplusplus, allot::nlohmann_json: headers only, nothing to link, nothing to install
include_guard(GLOBAL)

# allot_do_without(SWITCH WHY): if the switch is AUTO, prints why and leaves the calling file; otherwise an error.
macro(allot_do_without switch why)
  if(${switch} STREQUAL "AUTO")
    message(STATUS "${why}")
    return()
  endif()
  message(FATAL_ERROR "${switch} is on, but ${why}")
endmacro()

set(ALLOT_MODULES "")
set(ALLOT_FOUND_PACKAGES "")
set(CMAKE_FIND_PACKAGE_PREFER_CONFIG ON)

# allot_library(NAME MODULE package target ...): sets ALLOT_NAME to the first of the targets in its CMake package, or to
# the result of pkg-config, unless ALLOT_WITH_NAME is off.
macro(allot_library NAME MODULE)
  set(ALLOT_${NAME} "")
  if(ALLOT_WITH_${NAME})
    list(APPEND ALLOT_MODULES ${MODULE})
    set(choices ${ARGN})
    while(choices AND NOT ALLOT_${NAME})
      list(POP_FRONT choices package target)
      find_package(${package} QUIET)
      if(TARGET ${target})
        set(ALLOT_${NAME} ${target})
        list(APPEND ALLOT_FOUND_PACKAGES ${package})
      endif()
    endwhile()
    if(NOT ALLOT_${NAME})
      find_package(PkgConfig REQUIRED)
      pkg_check_modules(${MODULE} REQUIRED IMPORTED_TARGET ${MODULE})
      set(ALLOT_${NAME} PkgConfig::${MODULE})
    endif()
  endif()
endmacro()
allot_library(CLP clp Clp Coin::Clp coin-clp coin-clp::coin-clp)
allot_library(NLOPT nlopt NLopt NLopt::nlopt)
allot_library(SQLITE sqlite3 unofficial-sqlite3 unofficial::sqlite3::sqlite3 SQLite3 SQLite::SQLite3)
allot_library(GMP gmpxx gmp gmp::gmpxx)

# allot_headers_only(NAME HEADER [PACKAGE TARGET [SUFFIX]])
function(allot_headers_only NAME HEADER)
  add_library(allot::${NAME} INTERFACE IMPORTED GLOBAL)
  if(ARGC GREATER 2 AND NOT CMAKE_CROSSCOMPILING)
    find_package(${ARGV2} QUIET)
    if(TARGET ${ARGV3})
      target_include_directories(allot::${NAME} SYSTEM INTERFACE "$<TARGET_PROPERTY:${ARGV3},INTERFACE_INCLUDE_DIRECTORIES>")
      return()
    endif()
  endif()
  # Header-only libraries are the same for every target, so a cross compiler may use the host's.
  find_path(ALLOT_${NAME}_INCLUDE_DIR "${HEADER}" PATHS /usr/local/include /usr/include PATH_SUFFIXES ${ARGV4} REQUIRED
            NO_CMAKE_FIND_ROOT_PATH)
  mark_as_advanced(ALLOT_${NAME}_INCLUDE_DIR)
  if(CMAKE_CROSSCOMPILING)
    # But not with the host's whole /usr/include: a folder with only this library.
    string(REGEX REPLACE "/.*" "" folder "${HEADER}")
    file(MAKE_DIRECTORY "${PROJECT_BINARY_DIR}/include/${NAME}")
    file(CREATE_LINK "${ALLOT_${NAME}_INCLUDE_DIR}/${folder}" "${PROJECT_BINARY_DIR}/include/${NAME}/${folder}" SYMBOLIC)
    set(ALLOT_${NAME}_INCLUDE_DIR "${PROJECT_BINARY_DIR}/include/${NAME}")
  endif()
  target_include_directories(allot::${NAME} SYSTEM INTERFACE "${ALLOT_${NAME}_INCLUDE_DIR}")
endfunction()
allot_headers_only(random123 Random123/philox.h)
allot_headers_only(eigen Eigen/SparseLU Eigen3 Eigen3::Eigen eigen3)
allot_headers_only(tomlplusplus toml++/toml.h tomlplusplus tomlplusplus::tomlplusplus)
allot_headers_only(nlohmann_json nlohmann/json.hpp nlohmann_json nlohmann_json::nlohmann_json)
unset(CMAKE_FIND_PACKAGE_PREFER_CONFIG)
