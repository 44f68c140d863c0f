# The library, as an overlay port of the sources around it: vcpkg install allot --overlay-ports=packaging/vcpkg
get_filename_component(SOURCE_PATH "${CMAKE_CURRENT_LIST_DIR}/../.." ABSOLUTE)

vcpkg_cmake_configure(
  SOURCE_PATH "${SOURCE_PATH}"
  OPTIONS
    -DALLOT_BUILD_APPS=OFF
    -DALLOT_BUILD_TESTS=OFF
    -DALLOT_BUILD_EXAMPLES=OFF
    -DALLOT_BUILD_REAL_MACHINE=OFF
    -DALLOT_WITH_MPI=OFF
    -DALLOT_WITH_PYTHON=OFF
    -DALLOT_WITH_STARPU=OFF
)
vcpkg_cmake_install()
vcpkg_cmake_config_fixup(CONFIG_PATH lib/cmake/allot)
vcpkg_fixup_pkgconfig()
file(REMOVE_RECURSE "${CURRENT_PACKAGES_DIR}/debug/include")
vcpkg_install_copyright(FILE_LIST "${SOURCE_PATH}/LICENSE")
