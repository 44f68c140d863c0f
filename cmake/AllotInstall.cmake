# Installs the library for find_package(allot) and for pkg-config. Headers under detail/ are not installed.
include(CMakePackageConfigHelpers)

install(
  TARGETS allot
  EXPORT allotTargets
  ARCHIVE DESTINATION "${CMAKE_INSTALL_LIBDIR}"
  LIBRARY DESTINATION "${CMAKE_INSTALL_LIBDIR}"
  RUNTIME DESTINATION "${CMAKE_INSTALL_BINDIR}")
install(
  DIRECTORY "${PROJECT_SOURCE_DIR}/allot"
  DESTINATION "${CMAKE_INSTALL_INCLUDEDIR}"
  FILES_MATCHING
  PATTERN "*.hpp"
  PATTERN "detail" EXCLUDE
  # Plug-ins: sources only.
  PATTERN "policies" EXCLUDE
  PATTERN "sizes" EXCLUDE
  PATTERN "solvers" EXCLUDE)

# A program that links a static library must also link the libraries behind it; a shared library brings its own.
set(ALLOT_FOUND_MODULES ${ALLOT_CLP} ${ALLOT_NLOPT} ${ALLOT_SQLITE} ${ALLOT_GMP})
list(FILTER ALLOT_FOUND_MODULES INCLUDE REGEX "^PkgConfig::")
list(TRANSFORM ALLOT_FOUND_MODULES REPLACE "PkgConfig::" "")
if(BUILD_SHARED_LIBS)
  set(ALLOT_MODULES "")
  set(ALLOT_FOUND_MODULES "")
  set(ALLOT_FOUND_PACKAGES "")
endif()

set(ALLOT_CMAKE_DIR "${CMAKE_INSTALL_LIBDIR}/cmake/allot")
install(
  EXPORT allotTargets
  NAMESPACE allot::
  DESTINATION "${ALLOT_CMAKE_DIR}")
configure_package_config_file("${PROJECT_SOURCE_DIR}/cmake/allotConfig.cmake.in" "${PROJECT_BINARY_DIR}/allotConfig.cmake"
                              INSTALL_DESTINATION "${ALLOT_CMAKE_DIR}")
write_basic_package_version_file("${PROJECT_BINARY_DIR}/allotConfigVersion.cmake" COMPATIBILITY SameMinorVersion)
install(FILES "${PROJECT_BINARY_DIR}/allotConfig.cmake" "${PROJECT_BINARY_DIR}/allotConfigVersion.cmake"
        DESTINATION "${ALLOT_CMAKE_DIR}")

# Paths in the pkg-config file are relative to the file, so that an installed tree may be moved.
set(ALLOT_PKGCONFIG_DIR "${CMAKE_INSTALL_LIBDIR}/pkgconfig")
file(RELATIVE_PATH ALLOT_PREFIX_FROM_PC "/prefix/${ALLOT_PKGCONFIG_DIR}" "/prefix")
string(REGEX REPLACE "/$" "" ALLOT_PREFIX_FROM_PC "${ALLOT_PREFIX_FROM_PC}")
list(JOIN ALLOT_MODULES " " ALLOT_PC_REQUIRES)
configure_file("${PROJECT_SOURCE_DIR}/cmake/allot.pc.in" "${PROJECT_BINARY_DIR}/allot.pc" @ONLY)
install(FILES "${PROJECT_BINARY_DIR}/allot.pc" DESTINATION "${ALLOT_PKGCONFIG_DIR}")
