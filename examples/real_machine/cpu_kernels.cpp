#include "examples/real_machine/cpu_kernels.hpp"

#define EIGEN_DONT_PARALLELIZE
#include <Eigen/Core>
#include <algorithm>
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
  explicit Product(const Inputs& inputs)
      : inputs_(inputs), n_(static_cast<Eigen::Index>(inputs.sizes.matrix)), product_(n_, n_) {}

  void run(std::size_t input) override {
    const Eigen::Map<const Eigen::MatrixXf> left(inputs_.left[input].data(), n_, n_);
    const Eigen::Map<const Eigen::MatrixXf> right(inputs_.right[input].data(), n_, n_);
    product_.noalias() = left * right;
  }
  std::vector<double> result() const override { return {product_.data(), product_.data() + product_.size()}; }

 private:
  const Inputs& inputs_;
  Eigen::Index n_;
  Eigen::MatrixXf product_;
};

class Sort : public Kernel {
 public:
  explicit Sort(const Inputs& inputs) : inputs_(inputs) {}

  void run(std::size_t input) override {
    keys_ = inputs_.keys[input];
    std::sort(keys_.begin(), keys_.end());
  }
  std::vector<double> result() const override { return {keys_.begin(), keys_.end()}; }

 private:
  const Inputs& inputs_;
  std::vector<float> keys_;
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
