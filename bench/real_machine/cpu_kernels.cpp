#include "bench/real_machine/cpu_kernels.hpp"

#define EIGEN_DONT_PARALLELIZE
#include <Eigen/Core>
#include <algorithm>
#include <array>
#include <bit>
#include <numeric>
#include <stdexcept>

#ifdef REAL_MACHINE_JPEG
#include <jpeglib.h>

#include <cstdio>
#endif

namespace real_machine {
namespace {

#ifdef REAL_MACHINE_JPEG
/// libjpeg's own answer to an error is to end the process.
[[noreturn]] void throw_error(j_common_ptr picture) {
  char text[JMSG_LENGTH_MAX];
  picture->err->format_message(picture, text);
  throw std::runtime_error(text);
}

class Decode : public Kernel {
 public:
  explicit Decode(const Inputs& inputs)
      : inputs_(inputs), pixels_(inputs.sizes.pictures * inputs.sizes.width * inputs.sizes.height * 3) {
    picture_.err = jpeg_std_error(&errors_);
    errors_.error_exit = throw_error;
    jpeg_create_decompress(&picture_);
  }
  ~Decode() override { jpeg_destroy_decompress(&picture_); }

  void run(std::size_t input) override {
    unsigned char* out = pixels_.data();
    for (const auto& file : inputs_.pictures[input]) {
      jpeg_mem_src(&picture_, file.data(), file.size());
      jpeg_read_header(&picture_, TRUE);
      jpeg_start_decompress(&picture_);
      while (picture_.output_scanline < picture_.output_height) {
        jpeg_read_scanlines(&picture_, &out, 1);
        out += inputs_.sizes.width * 3;
      }
      jpeg_finish_decompress(&picture_);
    }
  }
  std::vector<double> result() const override { return {pixels_.begin(), pixels_.end()}; }

 private:
  const Inputs& inputs_;
  std::vector<unsigned char> pixels_;
  jpeg_decompress_struct picture_{};
  jpeg_error_mgr errors_{};
};
#endif

class Product : public Kernel {
 public:
  explicit Product(const Inputs& inputs) : inputs_(inputs), products_(inputs.sizes.entries()) {}

  void run(std::size_t input) override {
    const auto n = static_cast<Eigen::Index>(inputs_.sizes.matrix);
    for (std::size_t k = 0; k < inputs_.sizes.products; ++k) {
      const std::size_t at = k * inputs_.sizes.matrix * inputs_.sizes.matrix;
      const Eigen::Map<const Eigen::MatrixXf> left(inputs_.left[input].data() + at, n, n);
      const Eigen::Map<const Eigen::MatrixXf> right(inputs_.right[input].data() + at, n, n);
      Eigen::Map<Eigen::MatrixXf>(products_.data() + at, n, n).noalias() = left * right;
    }
  }
  std::vector<double> result() const override { return {products_.begin(), products_.end()}; }

 private:
  const Inputs& inputs_;
  std::vector<float> products_;
};

/// By digits of 8 bits from the least significant on: several times faster than comparing.
class Sort : public Kernel {
 public:
  explicit Sort(const Inputs& inputs)
      : inputs_(inputs), keys_(inputs.sizes.keys), spare_(inputs.sizes.keys) {}

  void run(std::size_t input) override {
    const std::vector<float>& from = inputs_.keys[input];
    std::transform(from.begin(), from.end(), keys_.begin(), [](float key) {
      const auto bits = std::bit_cast<std::uint32_t>(key);  // whole numbers in the order of the keys
      return (bits >> 31) != 0 ? ~bits : bits | 0x8000'0000U;
    });
    for (unsigned shift = 0; shift < 32; shift += 8) {
      std::array<std::size_t, 256> begin{};
      for (const std::uint32_t key : keys_) ++begin[(key >> shift) & 255];
      std::exclusive_scan(begin.begin(), begin.end(), begin.begin(), std::size_t{0});
      for (const std::uint32_t key : keys_) spare_[begin[(key >> shift) & 255]++] = key;
      keys_.swap(spare_);
    }
    sorted_.resize(keys_.size());
    std::transform(keys_.begin(), keys_.end(), sorted_.begin(), [](std::uint32_t key) {
      return std::bit_cast<float>((key >> 31) != 0 ? key & 0x7FFF'FFFFU : ~key);
    });
  }
  std::vector<double> result() const override { return {sorted_.begin(), sorted_.end()}; }

 private:
  const Inputs& inputs_;
  std::vector<std::uint32_t> keys_;
  std::vector<std::uint32_t> spare_;
  std::vector<float> sorted_;
};

class Interpret : public Kernel {
 public:
  explicit Interpret(const Inputs& inputs) : inputs_(inputs) {}

  void run(std::size_t input) override {
    values_.clear();
    for (const Program& program : inputs_.programs[input]) {
      values_.push_back(interpret(program, inputs_.sizes.steps));
    }
  }
  std::vector<double> result() const override { return {values_.begin(), values_.end()}; }

 private:
  const Inputs& inputs_;
  std::vector<std::uint32_t> values_;
};

}  // namespace

std::unique_ptr<Kernel> make_cpu_kernel(Work work, const Inputs& inputs) {
  switch (work) {
    case Work::kDecode:
#ifdef REAL_MACHINE_JPEG
      return std::make_unique<Decode>(inputs);
#else
      return nullptr;
#endif
    case Work::kProduct:
      return std::make_unique<Product>(inputs);
    case Work::kSort:
      return std::make_unique<Sort>(inputs);
    case Work::kInterpret:
      return std::make_unique<Interpret>(inputs);
  }
  return nullptr;
}

}  // namespace real_machine
