// Finished units on disk. They survive a crash of the process that did them.
#pragma once

#include <cstdint>
#include <memory>
#include <stdexcept>
#include <string>
#include <vector>

#include "allot/sweep/experiment.hpp"

namespace allot {

/// The store cannot be opened, read or written: `what()` names the file and the reason.
class StoreError : public std::runtime_error {
 public:
  using std::runtime_error::runtime_error;
};

struct StoredUnit {
  std::size_t unit = 0;
  UnitResult result;
  double seconds = 0;  ///< how long the unit took
};

/// A file of results, keyed by the name and version of the experiment, the random seed and the unit. It is an
/// SQLite database that one process at a time may hold open. The process may be killed at any moment: saved
/// units stay, and the file stays valid. Not thread-safe.
class Store {
 public:
  /// Opens the file, or creates it; the folder must exist. Throws StoreError if the file is not a store, has
  /// a format that this version does not know, is held open by another process (after waiting two seconds),
  /// or cannot be read or written.
  explicit Store(const std::string& path);
  Store(Store&&) noexcept;
  Store& operator=(Store&&) noexcept;
  ~Store();

  /// The stored units below `units`, in order. Throws StoreError.
  std::vector<StoredUnit> load(const Experiment& experiment, std::uint64_t seed, std::size_t units) const;

  /// Saves a unit, which must not be in the store yet. Once this returns, a crash of the process cannot undo
  /// it; a power failure may undo the last few. Throws StoreError.
  void save(const Experiment& experiment, std::uint64_t seed, const StoredUnit& unit);

 private:
  struct Database;
  std::unique_ptr<Database> database_;
};

}  // namespace allot
