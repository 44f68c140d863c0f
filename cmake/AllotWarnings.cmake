# The compiler settings that every target of this project shares.
add_library(allot_settings INTERFACE)
target_compile_options(
  allot_settings
  INTERFACE -Wall -Wextra -Wpedantic -Wshadow -Wconversion -Wno-sign-conversion
            # Results must not depend on the optimisation level: no fused multiply-adds.
            -ffp-contract=off)
if(ALLOT_WERROR)
  target_compile_options(allot_settings INTERFACE -Werror)
endif()
