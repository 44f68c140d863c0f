# The compiler settings of all targets of this project.
add_library(allot_settings INTERFACE)
target_compile_options(
  allot_settings
  INTERFACE -Wall -Wextra -Wpedantic -Wshadow -Wconversion -Wno-sign-conversion
            # Plain structs are initialised with designated initializers; omitted members keep their defaults.
            -Wno-missing-field-initializers
            # Results must not depend on the optimisation level: no fused multiply-adds.
            -ffp-contract=off)
if(CMAKE_CXX_COMPILER_ID STREQUAL "GNU" AND CMAKE_CXX_COMPILER_VERSION VERSION_LESS 13)
  # GCC 12 reports overlaps in "literal" + std::string that do not exist (GCC bug 105329).
  target_compile_options(allot_settings INTERFACE -Wno-restrict)
endif()
if(EMSCRIPTEN)
  # Sizes have 32 bits there; builds with 64-bit sizes check that conversions to them lose nothing.
  target_compile_options(allot_settings INTERFACE -Wno-shorten-64-to-32)
endif()
if(ALLOT_WERROR)
  target_compile_options(allot_settings INTERFACE -Werror)
endif()
