#include "bench/real_machine/inputs.hpp"

#include <algorithm>
#include <cmath>
#include <random>

#ifdef REAL_MACHINE_JPEG
#include <jpeglib.h>

#include <cstdio>
#include <cstdlib>
#endif

namespace real_machine {
namespace {

#ifdef REAL_MACHINE_JPEG
/// A picture with slow shades, edges and grain, so that its file is about as large as a photograph's.
Inputs::Bytes make_picture(const Sizes& sizes, std::mt19937_64& random) {
  std::vector<unsigned char> pixels(sizes.width * sizes.height * 3);
  std::uniform_real_distribution<double> uniform;
  const double phase = 6 * uniform(random);
  const double tilt = uniform(random);
  std::uniform_int_distribution<int> grain(-10, 10);
  for (std::size_t y = 0; y < sizes.height; ++y) {
    for (std::size_t x = 0; x < sizes.width; ++x) {
      const double u = static_cast<double>(x) / static_cast<double>(sizes.width);
      const double v = static_cast<double>(y) / static_cast<double>(sizes.height);
      for (std::size_t c = 0; c < 3; ++c) {
        const double shade = 128 + 70 * std::sin(phase + 9 * (u + tilt * v) + 2 * static_cast<double>(c));
        const double edge = std::fmod(13 * u + 7 * v, 1) < 0.5 ? 20 : -20;
        const int value = static_cast<int>(shade + edge) + grain(random);
        pixels[(y * sizes.width + x) * 3 + c] = static_cast<unsigned char>(std::min(255, std::max(0, value)));
      }
    }
  }
  jpeg_compress_struct picture{};
  jpeg_error_mgr errors{};
  picture.err = jpeg_std_error(&errors);
  jpeg_create_compress(&picture);
  unsigned char* file = nullptr;
  unsigned long length = 0;
  jpeg_mem_dest(&picture, &file, &length);
  picture.image_width = static_cast<JDIMENSION>(sizes.width);
  picture.image_height = static_cast<JDIMENSION>(sizes.height);
  picture.input_components = 3;
  picture.in_color_space = JCS_RGB;
  jpeg_set_defaults(&picture);
  jpeg_set_quality(&picture, 85, TRUE);
  jpeg_start_compress(&picture, TRUE);
  while (picture.next_scanline < picture.image_height) {
    JSAMPROW row = &pixels[picture.next_scanline * sizes.width * 3];
    jpeg_write_scanlines(&picture, &row, 1);
  }
  jpeg_finish_compress(&picture);
  Inputs::Bytes bytes(file, file + length);
  jpeg_destroy_compress(&picture);
  std::free(file);
  return bytes;
}
#endif

std::vector<float> numbers(std::size_t count, std::mt19937_64& random) {
  std::uniform_real_distribution<float> uniform(-1, 1);
  std::vector<float> out(count);
  for (float& x : out) x = uniform(random);
  return out;
}

Program make_program(std::mt19937_64& random) {
  Program program;
  program.seed = static_cast<std::uint32_t>(random()) | 1;
  for (std::uint32_t& word : program.code) {
    word = static_cast<std::uint32_t>(random() & 0x1FF) | static_cast<std::uint32_t>(1 + random() % 62) << 16;
  }
  return program;
}

}  // namespace

Inputs make_inputs(const Sizes& sizes, std::uint64_t seed) {
  std::mt19937_64 random(seed);
  Inputs inputs;
  inputs.sizes = sizes;
  for (std::size_t k = 0; k < Inputs::kVariety; ++k) {
#ifdef REAL_MACHINE_JPEG
    std::vector<Inputs::Bytes> batch;
    for (std::size_t p = 0; p < sizes.pictures; ++p) batch.push_back(make_picture(sizes, random));
    inputs.pictures.push_back(std::move(batch));
#endif
    inputs.left.push_back(numbers(sizes.entries(), random));
    inputs.right.push_back(numbers(sizes.entries(), random));
    inputs.keys.push_back(numbers(sizes.keys, random));
    std::vector<Program> programs;
    for (std::size_t p = 0; p < sizes.programs; ++p) programs.push_back(make_program(random));
    inputs.programs.push_back(std::move(programs));
  }
  return inputs;
}

}  // namespace real_machine
