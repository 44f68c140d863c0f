# The compiler settings that every target of this project shares.
add_library(allot_settings INTERFACE)
target_compile_options(
  allot_settings
  INTERFACE -Wall -Wextra -Wpedantic -Wshadow -Wconversion -Wno-sign-conversion
            # Plain structs are written with designated initializers; what is left out keeps its default.
            -Wno-missing-field-initializers
            # Results must not depend on the optimisation level: no fused multiply-adds.
            -ffp-contract=off)
if(CMAKE_CXX_COMPILER_ID STREQUAL "GNU" AND CMAKE_CXX_COMPILER_VERSION VERSION_LESS 13)
  # GCC 12 sees overlaps in "literal" + std::string that are not there (GCC bug 105329).
  target_compile_options(allot_settings INTERFACE -Wno-restrict)
endif()
if(EMSCRIPTEN)
  # Sizes have 32 bits there; that conversions to them lose nothing is checked where they have 64.
  target_compile_options(allot_settings INTERFACE -Wno-shorten-64-to-32)
endif()
if(ALLOT_WERROR)
  target_compile_options(allot_settings INTERFACE -Werror)
endif()
