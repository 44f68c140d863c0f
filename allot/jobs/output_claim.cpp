#include "allot/jobs/output_claim.hpp"

#include <fcntl.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <cstdint>
#include <cstdlib>
#include <cstring>
#include <filesystem>
#include <optional>
#include <system_error>
#include <unordered_map>
#include <utility>

#include "allot/base/own_file.hpp"
#include "allot/base/sha256.hpp"
#include "allot/jobs/journal.hpp"
#include "allot/jobs/output_fence.hpp"

namespace allot {
namespace {

namespace fs = std::filesystem;

constexpr std::string_view kPrefix = "outputs-";
/// Eight bytes for each task of the largest possible job.
constexpr off_t kMostBytes = off_t{8} * static_cast<off_t>(kMostInputs + 1);

std::string claims_folder() {
  const char* const runtime = std::getenv("XDG_RUNTIME_DIR");
  if (runtime != nullptr && *runtime == '/') {
    const std::string folder = std::string(runtime) + "/allot";
    if (!make_private_folder(folder)) return folder;
  }
  std::error_code error;
  const std::string folder =
      (fs::temp_directory_path(error) / ("allot-" + std::to_string(::geteuid()))).string();
  return !error && !make_private_folder(folder) ? folder : "";
}

/// A file or folder that closes itself.
class File {
 public:
  File(const std::string& path, int flags)
      : file_(::open(path.c_str(), flags | O_CLOEXEC | O_NOFOLLOW, 0600)) {}
  File(const File&) = delete;
  File& operator=(const File&) = delete;
  ~File() {
    if (file_ >= 0) ::close(file_);
  }
  int get() const noexcept { return file_; }
  int release() noexcept { return std::exchange(file_, -1); }

 private:
  int file_;
};

bool lock(int file, short kind) {
  struct flock range {};
  range.l_type = kind;
  range.l_whence = SEEK_SET;
  return ::fcntl(file, F_OFD_SETLK, &range) == 0;
}

/// The process number, then a number for each output, in order.
using Claim = std::vector<std::uint64_t>;

std::uint64_t number_of(const std::string& output) {
  const Sha256 digest = sha256(output);
  std::uint64_t number = 0;
  std::memcpy(&number, digest.data(), sizeof number);
  return number;
}

bool write_claim(int file, const Claim& claim) {
  const auto* bytes = reinterpret_cast<const char*>(claim.data());
  for (std::size_t at = 0, size = claim.size() * sizeof(std::uint64_t); at < size;) {
    const ssize_t written = ::write(file, bytes + at, size - at);
    if (written <= 0) return false;
    at += static_cast<std::size_t>(written);
  }
  return true;
}

/// The claim of a run that is still running; nothing if that run has ended.
std::optional<Claim> read_claim(int file) {
  struct stat found {};
  if (lock(file, F_RDLCK) || ::fstat(file, &found) != 0 || !S_ISREG(found.st_mode) ||
      found.st_size > kMostBytes)
    return std::nullopt;
  Claim claim(static_cast<std::size_t>(found.st_size) / sizeof(std::uint64_t));
  const std::size_t size = claim.size() * sizeof(std::uint64_t);
  if (claim.empty() || ::pread(file, claim.data(), size, 0) != static_cast<ssize_t>(size))
    return std::nullopt;
  return claim;
}

}  // namespace

std::vector<std::string> outputs_of(const Job& job) {
  std::vector<std::string> outputs;
  const std::vector<JobItem> items = list_items(job);
  for (std::size_t k = 0; k < items.size(); ++k) {
    const JobTask& task = job.tasks[index(items[k].type)];
    if (!task.output) continue;
    const fs::path output = task.output->expand({task.inputs.row(items[k].row), k + 1, 0, {}});
    outputs.push_back((fs::path(job.folder) / output).lexically_normal().string());
  }
  return outputs;
}

OutputClaim::OutputClaim(const std::vector<std::string>& outputs, const std::string& folder) {
  if (outputs.empty()) return;
  const std::string place = folder.empty() ? claims_folder() : folder;
  if (place.empty()) return;
  std::vector<std::pair<std::uint64_t, const std::string*>> ours;
  std::unordered_map<std::string, std::string> real;  // folders
  for (const std::string& output : outputs) {
    const fs::path path(output);
    auto& parent = real[path.parent_path().string()];
    if (parent.empty()) parent = fs::path(real_output(output)).parent_path().string();
    ours.emplace_back(number_of((fs::path(parent) / path.filename()).string()), &output);
  }
  std::sort(ours.begin(), ours.end());
  Claim claim = {static_cast<std::uint64_t>(::getpid())};
  for (const auto& [number, output] : ours) claim.push_back(number);

  // Only one process at a time checks and claims.
  const File turn(place, O_RDONLY | O_DIRECTORY);
  if (turn.get() < 0 || ::flock(turn.get(), LOCK_EX) != 0) return;
  std::error_code error;
  for (fs::directory_iterator it(place, error), end; !error && it != end; it.increment(error)) {
    if (!it->path().filename().string().starts_with(kPrefix)) continue;
    const File file(it->path().string(), O_RDONLY | O_NONBLOCK);
    if (file.get() < 0) continue;
    const std::optional<Claim> theirs = read_claim(file.get());
    if (!theirs) {
      ::unlink(it->path().c_str());  // of a run that was killed
      continue;
    }
    for (const auto& [number, output] : ours) {
      if (!std::binary_search(theirs->begin() + 1, theirs->end(), number)) continue;
      throw JournalError(
          JournalProblem::kLocked,
          *output + ": is an output of another run in progress, process " + std::to_string(theirs->front()));
    }
  }
  path_ = place + "/" + std::string(kPrefix) + random_digits(16);
  File file(path_, O_RDWR | O_CREAT | O_EXCL);
  if (file.get() < 0 || !lock(file.get(), F_WRLCK) || !write_claim(file.get(), claim)) {
    if (file.get() >= 0) ::unlink(path_.c_str());
    path_.clear();
    return;
  }
  file_ = file.release();
}

OutputClaim::~OutputClaim() {
  if (file_ < 0) return;
  ::unlink(path_.c_str());
  ::close(file_);
}

}  // namespace allot
