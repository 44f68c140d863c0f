// Finished units on disk: what is in here has been done, whatever happened to the process that did it.
#pragma once

#include <cstdint>
#include <memory>
#include <stdexcept>
#include <string>
#include <vector>

#include "allot/sweep/experiment.hpp"

namespace allot {

/// The store cannot be opened, read or written: `what()` names the file and says why.
class StoreError : public std::runtime_error {
 public:
  using std::runtime_error::runtime_error;
};

struct StoredUnit {
  std::size_t unit = 0;
  UnitResult result;
  double seconds = 0;  ///< what doing it took
};

/// A file of results, keyed by the name and version of the experiment, the seed and the unit. One SQLite
/// database, which one process at a time may hold open. A process may be killed at any moment: what was saved
/// stays, and the file stays sound. Not thread-safe.
class Store {
 public:
  /// Opens the file, or makes it; the folder must be there. Throws StoreError when the file is no store, one
  /// of a format this version does not know, held open by another process (after waiting two seconds), or
  /// cannot be read or written.
  explicit Store(const std::string& path);
  Store(Store&&) noexcept;
  Store& operator=(Store&&) noexcept;
  ~Store();

  /// The units below `units` that are there, in their order. Throws StoreError.
  std::vector<StoredUnit> load(const Experiment& experiment, std::uint64_t seed, std::size_t units) const;

  /// Keeps a unit, which must not be there yet. Once this returns, no crash of the process undoes it; a power
  /// failure may undo the last few. Throws StoreError.
  void save(const Experiment& experiment, std::uint64_t seed, const StoredUnit& unit);

 private:
  struct Database;
  std::unique_ptr<Database> database_;
};

}  // namespace allot
