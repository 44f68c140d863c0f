# What the library is built from. All of it is private: the installed headers need nothing but the standard library.
#   ALLOT_CLP, ALLOT_NLOPT, ALLOT_SQLITE, ALLOT_GMP: libraries to link, empty when switched off
#   allot::random123, allot::eigen, allot::tomlplusplus, allot::nlohmann_json: headers only, nothing to link, nothing to install
include_guard(GLOBAL)

# allot_do_without(SWITCH WHY): where the switch says AUTO, says why and leaves the calling file; an error otherwise.
macro(allot_do_without switch why)
  if(${switch} STREQUAL "AUTO")
    message(STATUS "${why}")
    return()
  endif()
  message(FATAL_ERROR "${switch} is on, but ${why}")
endmacro()

set(ALLOT_CLP "")
set(ALLOT_NLOPT "")
set(ALLOT_SQLITE "")
set(ALLOT_GMP "")
if(ALLOT_WITH_CLP OR ALLOT_WITH_NLOPT OR ALLOT_WITH_SQLITE OR ALLOT_WITH_GMP)
  find_package(PkgConfig REQUIRED)
endif()
if(ALLOT_WITH_CLP)
  pkg_check_modules(clp REQUIRED IMPORTED_TARGET clp)
  set(ALLOT_CLP PkgConfig::clp)
endif()
if(ALLOT_WITH_NLOPT)
  pkg_check_modules(nlopt REQUIRED IMPORTED_TARGET nlopt)
  set(ALLOT_NLOPT PkgConfig::nlopt)
endif()
if(ALLOT_WITH_SQLITE)
  pkg_check_modules(sqlite3 REQUIRED IMPORTED_TARGET sqlite3)
  set(ALLOT_SQLITE PkgConfig::sqlite3)
endif()

if(ALLOT_WITH_GMP)
  pkg_check_modules(gmpxx REQUIRED IMPORTED_TARGET gmpxx)
  set(ALLOT_GMP PkgConfig::gmpxx)
endif()

function(allot_headers_only NAME HEADER)
  # Headers alone are the same for every target, so a cross compiler may take the host's.
  find_path(ALLOT_${NAME}_INCLUDE_DIR "${HEADER}" PATHS /usr/local/include /usr/include ${ARGN} REQUIRED
            NO_CMAKE_FIND_ROOT_PATH)
  mark_as_advanced(ALLOT_${NAME}_INCLUDE_DIR)
  if(CMAKE_CROSSCOMPILING)
    # Not with the host's whole /usr/include, though: a folder that holds this library alone.
    string(REGEX REPLACE "/.*" "" folder "${HEADER}")
    file(MAKE_DIRECTORY "${PROJECT_BINARY_DIR}/include/${NAME}")
    file(CREATE_LINK "${ALLOT_${NAME}_INCLUDE_DIR}/${folder}" "${PROJECT_BINARY_DIR}/include/${NAME}/${folder}" SYMBOLIC)
    set(ALLOT_${NAME}_INCLUDE_DIR "${PROJECT_BINARY_DIR}/include/${NAME}")
  endif()
  add_library(allot::${NAME} INTERFACE IMPORTED GLOBAL)
  target_include_directories(allot::${NAME} SYSTEM INTERFACE "${ALLOT_${NAME}_INCLUDE_DIR}")
endfunction()
allot_headers_only(random123 Random123/philox.h)
allot_headers_only(eigen Eigen/SparseLU PATH_SUFFIXES eigen3)
allot_headers_only(tomlplusplus toml++/toml.h)
allot_headers_only(nlohmann_json nlohmann/json.hpp)
