// What the tasks work on: made once, from a seed, read by every implementation.
#pragma once

#include <cstddef>
#include <cstdint>
#include <string_view>
#include <vector>

#include "bench/real_machine/interpreter.hpp"

namespace real_machine {

/// The types of task, in the order of the scenario.
enum class Work : std::size_t {
  kDecode,     ///< a batch of pictures from JPEG to pixels
  kProduct,    ///< a batch of products of small square matrices
  kSort,       ///< keys in order
  kInterpret,  ///< a batch of programs for a register machine
};
inline constexpr std::size_t kWorks = 4;
inline constexpr std::string_view kWorkNames[kWorks] = {"decode", "product", "sort", "interpret"};

/// How large one task of each type is: the same on every resource.
struct Sizes {
  std::size_t pictures = 8;
  std::size_t width = 640;
  std::size_t height = 360;
  std::size_t products = 32;
  std::size_t matrix = 256;
  std::size_t keys = 1 << 20;
  std::size_t programs = 16;
  std::uint32_t steps = 60'000;

  /// Numbers in all left sides, all right sides or all products of a task.
  std::size_t entries() const { return products * matrix * matrix; }
};

struct Inputs {
  static constexpr std::size_t kVariety = 8;  ///< different inputs of each type

  using Bytes = std::vector<unsigned char>;
  Sizes sizes;
  std::vector<std::vector<Bytes>> pictures;  ///< JPEG files; none where libjpeg was not there
  std::vector<std::vector<float>> left;      ///< matrices by columns, one after the other
  std::vector<std::vector<float>> right;
  std::vector<std::vector<float>> keys;
  std::vector<std::vector<Program>> programs;
};

Inputs make_inputs(const Sizes& sizes, std::uint64_t seed);

}  // namespace real_machine
