# What the library is built from. All of it is private: the installed headers need nothing but the standard library.
#   ALLOT_CLP, ALLOT_NLOPT: libraries to link, empty when switched off
#   allot::random123, allot::eigen, allot::tomlplusplus, allot::nlohmann_json: headers only, nothing to link, nothing to install
include_guard(GLOBAL)

set(ALLOT_CLP "")
set(ALLOT_NLOPT "")
if(ALLOT_WITH_CLP OR ALLOT_WITH_NLOPT)
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

function(allot_headers_only NAME HEADER)
  find_path(ALLOT_${NAME}_INCLUDE_DIR "${HEADER}" ${ARGN} REQUIRED)
  mark_as_advanced(ALLOT_${NAME}_INCLUDE_DIR)
  add_library(allot::${NAME} INTERFACE IMPORTED GLOBAL)
  target_include_directories(allot::${NAME} SYSTEM INTERFACE "${ALLOT_${NAME}_INCLUDE_DIR}")
endfunction()
allot_headers_only(random123 Random123/philox.h)
allot_headers_only(eigen Eigen/SparseLU PATH_SUFFIXES eigen3)
allot_headers_only(tomlplusplus toml++/toml.h)
allot_headers_only(nlohmann_json nlohmann/json.hpp)
