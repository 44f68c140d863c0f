#include "bench/real_machine/gpu_kernels.hpp"

#include <cublas_v2.h>
#include <cuda_runtime.h>
#include <nvjpeg.h>

#include <cub/device/device_radix_sort.cuh>
#include <stdexcept>

namespace real_machine {
namespace {

[[noreturn]] void fail(const char* what, long code, const char* text) {
  throw std::runtime_error(std::string(what) + " failed: " + std::to_string(code) + " " + text);
}
void check(cudaError_t status, const char* what) {
  if (status != cudaSuccess) fail(what, status, cudaGetErrorString(status));
}
void check(cublasStatus_t status, const char* what) {
  if (status != CUBLAS_STATUS_SUCCESS) fail(what, status, cublasGetStatusString(status));
}
void check(nvjpegStatus_t status, const char* what) {
  if (status != NVJPEG_STATUS_SUCCESS) fail(what, status, "(nvJPEG)");
}
#define CHECK(call) check(call, #call)

/// A queue of work for the device. Who waits for it spins: every server of the GPU has a core.
class Stream {
 public:
  Stream() {
    CHECK(cudaStreamCreateWithFlags(&stream_, cudaStreamNonBlocking));
  }
  ~Stream() { cudaStreamDestroy(stream_); }
  Stream(const Stream&) = delete;
  Stream& operator=(const Stream&) = delete;
  operator cudaStream_t() const { return stream_; }
  void wait() { CHECK(cudaStreamSynchronize(stream_)); }

 private:
  cudaStream_t stream_{};
};

template <typename Item>
class DeviceArray {
 public:
  explicit DeviceArray(std::size_t size) : size_(size) { CHECK(cudaMalloc(&data_, size * sizeof(Item))); }
  ~DeviceArray() { cudaFree(data_); }
  DeviceArray(const DeviceArray&) = delete;
  DeviceArray& operator=(const DeviceArray&) = delete;
  Item* data() const { return data_; }
  void read(const Item* from, cudaStream_t stream) {
    CHECK(cudaMemcpyAsync(data_, from, size_ * sizeof(Item), cudaMemcpyHostToDevice, stream));
  }
  void write(Item* to, cudaStream_t stream) const {
    CHECK(cudaMemcpyAsync(to, data_, size_ * sizeof(Item), cudaMemcpyDeviceToHost, stream));
  }

 private:
  std::size_t size_;
  Item* data_ = nullptr;
};

/// Host memory that the device copies to at full speed.
template <typename Item>
class PinnedArray {
 public:
  explicit PinnedArray(std::size_t size) : size_(size) { CHECK(cudaMallocHost(&data_, size * sizeof(Item))); }
  ~PinnedArray() { cudaFreeHost(data_); }
  PinnedArray(const PinnedArray&) = delete;
  PinnedArray& operator=(const PinnedArray&) = delete;
  Item* data() const { return data_; }
  std::vector<double> values() const { return {data_, data_ + size_}; }

 private:
  std::size_t size_;
  Item* data_ = nullptr;
};

class Product : public Kernel {
 public:
  explicit Product(const Inputs& inputs)
      : inputs_(inputs), left_(inputs.sizes.entries()), right_(inputs.sizes.entries()), products_(inputs.sizes.entries()), out_(inputs.sizes.entries()) {
    CHECK(cublasCreate(&blas_));
    CHECK(cublasSetStream(blas_, stream_));
  }
  ~Product() override { cublasDestroy(blas_); }

  void run(std::size_t input) override {
    left_.read(inputs_.left[input].data(), stream_);
    right_.read(inputs_.right[input].data(), stream_);
    const int n = static_cast<int>(inputs_.sizes.matrix);
    const long long size = static_cast<long long>(n) * n;
    const float one = 1;
    const float zero = 0;
    CHECK(cublasSgemmStridedBatched(blas_, CUBLAS_OP_N, CUBLAS_OP_N, n, n, n, &one, left_.data(), n, size, right_.data(), n,
                                    size, &zero, products_.data(), n, size, static_cast<int>(inputs_.sizes.products)));
    products_.write(out_.data(), stream_);
    stream_.wait();
  }
  std::vector<double> result() const override { return out_.values(); }

 private:
  const Inputs& inputs_;
  Stream stream_;
  DeviceArray<float> left_, right_, products_;
  PinnedArray<float> out_;
  cublasHandle_t blas_{};
};

class Sort : public Kernel {
 public:
  explicit Sort(const Inputs& inputs)
      : inputs_(inputs), keys_(inputs.sizes.keys), sorted_(inputs.sizes.keys), scratch_(scratch_size(inputs.sizes.keys)),
        out_(inputs.sizes.keys) {}

  void run(std::size_t input) override {
    keys_.read(inputs_.keys[input].data(), stream_);
    const int size = static_cast<int>(inputs_.sizes.keys);
    std::size_t scratch = scratch_size(inputs_.sizes.keys);
    CHECK(cub::DeviceRadixSort::SortKeys(scratch_.data(), scratch, keys_.data(), sorted_.data(), size, 0, 32, stream_));
    sorted_.write(out_.data(), stream_);
    stream_.wait();
  }
  std::vector<double> result() const override { return out_.values(); }

 private:
  static std::size_t scratch_size(std::size_t keys) {
    std::size_t bytes = 0;
    CHECK(cub::DeviceRadixSort::SortKeys(nullptr, bytes, static_cast<const float*>(nullptr), static_cast<float*>(nullptr),
                                         static_cast<int>(keys)));
    return bytes;
  }

  const Inputs& inputs_;
  Stream stream_;
  DeviceArray<float> keys_, sorted_;
  DeviceArray<unsigned char> scratch_;
  PinnedArray<float> out_;
};

__global__ void interpret_all(const Program* programs, std::uint32_t count, std::uint32_t steps, std::uint32_t* values) {
  const std::uint32_t k = blockIdx.x * blockDim.x + threadIdx.x;
  if (k < count) values[k] = interpret(programs[k], steps);
}

class Interpret : public Kernel {
 public:
  explicit Interpret(const Inputs& inputs)
      : inputs_(inputs), programs_(inputs.sizes.programs), values_(inputs.sizes.programs), out_(inputs.sizes.programs) {}

  void run(std::size_t input) override {
    programs_.read(inputs_.programs[input].data(), stream_);
    const auto count = static_cast<std::uint32_t>(inputs_.sizes.programs);
    // A block for each program: threads of one warp would wait for each other at every branch.
    interpret_all<<<count, 1, 0, stream_>>>(programs_.data(), count, inputs_.sizes.steps, values_.data());
    CHECK(cudaGetLastError());
    values_.write(out_.data(), stream_);
    stream_.wait();
  }
  std::vector<double> result() const override { return out_.values(); }

 private:
  const Inputs& inputs_;
  Stream stream_;
  DeviceArray<Program> programs_;
  DeviceArray<std::uint32_t> values_;
  PinnedArray<std::uint32_t> out_;
};

/// Where the pixels of a batch go: on the device, then to the host.
class Pixels {
 public:
  explicit Pixels(const Sizes& sizes)
      : picture_(sizes.width * sizes.height * 3), pitch_(sizes.width * 3), device_(sizes.pictures * picture_), host_(sizes.pictures * picture_) {}

  nvjpegImage_t picture(std::size_t k) const {
    nvjpegImage_t image{};
    image.channel[0] = device_.data() + k * picture_;
    image.pitch[0] = pitch_;
    return image;
  }
  void fetch(cudaStream_t stream) { device_.write(host_.data(), stream); }
  std::vector<double> values() const { return host_.values(); }

 private:
  std::size_t picture_;
  std::size_t pitch_;
  DeviceArray<unsigned char> device_;
  PinnedArray<unsigned char> host_;
};

/// On the multiprocessors: the decoupled interface, since the simple one hands pictures to the engines. The host undoes
/// the Huffman code, which takes most of the time; with the device doing it (GPU_HYBRID), batches as small as these took
/// twice as long, and more buffers in turn made none of it faster.
class Decode : public Kernel {
 public:
  explicit Decode(const Inputs& inputs) : inputs_(inputs), pixels_(inputs.sizes) {
    CHECK(nvjpegCreateEx(NVJPEG_BACKEND_HYBRID, nullptr, nullptr, 0, &handle_));
    CHECK(nvjpegDecoderCreate(handle_, NVJPEG_BACKEND_HYBRID, &decoder_));
    CHECK(nvjpegDecoderStateCreate(handle_, decoder_, &state_));
    CHECK(nvjpegBufferPinnedCreate(handle_, nullptr, &pinned_));
    CHECK(nvjpegBufferDeviceCreate(handle_, nullptr, &buffer_));
    CHECK(nvjpegStateAttachPinnedBuffer(state_, pinned_));
    CHECK(nvjpegStateAttachDeviceBuffer(state_, buffer_));
    CHECK(nvjpegJpegStreamCreate(handle_, &file_));
    CHECK(nvjpegDecodeParamsCreate(handle_, &parameters_));
    CHECK(nvjpegDecodeParamsSetOutputFormat(parameters_, NVJPEG_OUTPUT_RGBI));
  }
  ~Decode() override {
    nvjpegDecodeParamsDestroy(parameters_);
    nvjpegJpegStreamDestroy(file_);
    nvjpegBufferDeviceDestroy(buffer_);
    nvjpegBufferPinnedDestroy(pinned_);
    nvjpegJpegStateDestroy(state_);
    nvjpegDecoderDestroy(decoder_);
    nvjpegDestroy(handle_);
  }

  void run(std::size_t input) override {
    const auto& files = inputs_.pictures[input];
    for (std::size_t k = 0; k < files.size(); ++k) {
      nvjpegImage_t image = pixels_.picture(k);
      CHECK(nvjpegJpegStreamParse(handle_, files[k].data(), files[k].size(), 0, 0, file_));
      CHECK(nvjpegDecodeJpegHost(handle_, decoder_, state_, parameters_, file_));
      CHECK(nvjpegDecodeJpegTransferToDevice(handle_, decoder_, state_, file_, stream_));
      CHECK(nvjpegDecodeJpegDevice(handle_, decoder_, state_, &image, stream_));
      stream_.wait();  // the next picture goes through the same buffers
    }
    pixels_.fetch(stream_);
    stream_.wait();
  }
  std::vector<double> result() const override { return pixels_.values(); }

 private:
  const Inputs& inputs_;
  Stream stream_;
  Pixels pixels_;
  nvjpegHandle_t handle_{};
  nvjpegJpegDecoder_t decoder_{};
  nvjpegJpegState_t state_{};
  nvjpegBufferPinned_t pinned_{};
  nvjpegBufferDevice_t buffer_{};
  nvjpegJpegStream_t file_{};
  nvjpegDecodeParams_t parameters_{};
};

class EngineDecode : public Kernel {
 public:
  explicit EngineDecode(const Inputs& inputs) : inputs_(inputs), pixels_(inputs.sizes) {
    CHECK(nvjpegCreateEx(NVJPEG_BACKEND_HARDWARE, nullptr, nullptr, 0, &handle_));
    CHECK(nvjpegJpegStateCreate(handle_, &state_));
    CHECK(nvjpegDecodeBatchedInitialize(handle_, state_, static_cast<int>(inputs.sizes.pictures), 1, NVJPEG_OUTPUT_RGBI));
    for (std::size_t k = 0; k < inputs.sizes.pictures; ++k) images_.push_back(pixels_.picture(k));
  }
  ~EngineDecode() override {
    nvjpegJpegStateDestroy(state_);
    nvjpegDestroy(handle_);
  }

  void run(std::size_t input) override {
    CHECK(cudaSetDevice(0));  // nvJPEG allocates for the engines in the thread's context, so there must be one
    files_.clear();
    lengths_.clear();
    for (const auto& file : inputs_.pictures[input]) {
      files_.push_back(file.data());
      lengths_.push_back(file.size());
    }
    CHECK(nvjpegDecodeBatched(handle_, state_, files_.data(), lengths_.data(), images_.data(), stream_));
    pixels_.fetch(stream_);
    stream_.wait();
  }
  std::vector<double> result() const override { return pixels_.values(); }

 private:
  const Inputs& inputs_;
  Stream stream_;
  Pixels pixels_;
  nvjpegHandle_t handle_{};
  nvjpegJpegState_t state_{};
  std::vector<nvjpegImage_t> images_;
  std::vector<const unsigned char*> files_;
  std::vector<std::size_t> lengths_;
};

unsigned jpeg_engines() {
  nvjpegHandle_t handle{};
  if (nvjpegCreateEx(NVJPEG_BACKEND_HARDWARE, nullptr, nullptr, 0, &handle) != NVJPEG_STATUS_SUCCESS) return 0;
  unsigned engines = 0;
  unsigned cores = 0;
  if (nvjpegGetHardwareDecoderInfo(handle, &engines, &cores) != NVJPEG_STATUS_SUCCESS) engines = 0;
  nvjpegDestroy(handle);
  return engines;
}

template <typename Item>
void pin(const std::vector<Item>& items) {
  CHECK(cudaHostRegister(const_cast<Item*>(items.data()), items.size() * sizeof(Item), cudaHostRegisterDefault));
}

}  // namespace

std::string describe_gpu() {
  int devices = 0;
  if (cudaGetDeviceCount(&devices) != cudaSuccess || devices == 0) return {};
  CHECK(cudaSetDeviceFlags(cudaDeviceScheduleSpin));  // before anything else makes a context
  cudaDeviceProp properties{};
  CHECK(cudaGetDeviceProperties(&properties, 0));
  return std::string(properties.name) + ", " + std::to_string(properties.multiProcessorCount) + " multiprocessors, " +
         std::to_string(jpeg_engines()) + " JPEG engines";
}

void pin_inputs(const Inputs& inputs) {
  for (const auto& matrix : inputs.left) pin(matrix);
  for (const auto& matrix : inputs.right) pin(matrix);
  for (const auto& keys : inputs.keys) pin(keys);
  for (const auto& programs : inputs.programs) pin(programs);
}

std::unique_ptr<Kernel> make_gpu_kernel(Work work, const Inputs& inputs) {
  switch (work) {
    case Work::kDecode: return inputs.pictures.empty() ? nullptr : std::make_unique<Decode>(inputs);
    case Work::kProduct: return std::make_unique<Product>(inputs);
    case Work::kSort: return std::make_unique<Sort>(inputs);
    case Work::kInterpret: return std::make_unique<Interpret>(inputs);
  }
  return nullptr;
}

std::unique_ptr<Kernel> make_jpeg_engine_kernel(const Inputs& inputs) {
  if (inputs.pictures.empty() || jpeg_engines() == 0) return nullptr;
  return std::make_unique<EngineDecode>(inputs);
}

}  // namespace real_machine
