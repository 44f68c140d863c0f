#include "tests/fuzz/scenario_check.hpp"

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  allot::fuzz::check_text(data, size, allot::FileFormat::kToml);
  return 0;
}
