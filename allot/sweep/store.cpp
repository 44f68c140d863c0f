#include "allot/sweep/store.hpp"

#include <sqlite3.h>

#include <bit>
#include <filesystem>
#include <optional>
#include <string_view>
#include <system_error>
#include <utility>

#include "allot/sweep/encoding.hpp"

namespace allot {
namespace {

constexpr int kApplication = 0x616c6f74;  // "alot": marks our files
constexpr int kFormat = 1;
constexpr const char* kTable =
    "CREATE TABLE units (experiment TEXT NOT NULL, version INTEGER NOT NULL, seed INTEGER NOT NULL, "
    "unit INTEGER NOT NULL, seconds REAL NOT NULL, result BLOB NOT NULL, "
    "PRIMARY KEY (experiment, version, seed, unit)) WITHOUT ROWID";
constexpr int kPatienceMilliseconds = 2000;  // a run that is being killed holds its lock a little longer

struct CloseDatabase {
  void operator()(sqlite3* handle) const noexcept { sqlite3_close(handle); }
};
struct FinalizeStatement {
  void operator()(sqlite3_stmt* statement) const noexcept { sqlite3_finalize(statement); }
};
using Statement = std::unique_ptr<sqlite3_stmt, FinalizeStatement>;

/// SQLite has signed numbers only.
sqlite3_int64 as_signed(std::uint64_t value) noexcept { return std::bit_cast<sqlite3_int64>(value); }

}  // namespace

struct Store::Database {
  std::string path;
  std::unique_ptr<sqlite3, CloseDatabase> handle;
  Statement insert;
  Statement select;

  [[noreturn]] void fail(int code) const {
    const int kind = code & 0xff;  // without SQLite's details
    if (kind == SQLITE_BUSY || kind == SQLITE_LOCKED)
      throw StoreError(path + ": in use by another run; wait for it to end, or give this one another folder");
    if (kind == SQLITE_NOTADB)
      throw StoreError(path + ": not a store of allot; move it away, or give another folder");
    const char* const why = handle ? sqlite3_errmsg(handle.get()) : sqlite3_errstr(code);
    throw StoreError(path + ": " + why);
  }

  void execute(const char* sql) const {
    const int code = sqlite3_exec(handle.get(), sql, nullptr, nullptr, nullptr);
    if (code != SQLITE_OK) fail(code);
  }

  Statement prepare(const char* sql) const {
    sqlite3_stmt* statement = nullptr;
    const int code = sqlite3_prepare_v2(handle.get(), sql, -1, &statement, nullptr);
    if (code != SQLITE_OK) fail(code);
    return Statement(statement);
  }

  /// Whether there is a row.
  bool step(sqlite3_stmt* statement) const {
    const int code = sqlite3_step(statement);
    if (code != SQLITE_ROW && code != SQLITE_DONE) fail(code);
    return code == SQLITE_ROW;
  }

  std::int64_t number(const char* sql) const {
    const Statement statement = prepare(sql);
    return step(statement.get()) ? sqlite3_column_int64(statement.get(), 0) : 0;
  }

  void bind_key(sqlite3_stmt* statement, const Experiment& experiment, std::uint64_t seed) const {
    const int code = sqlite3_bind_text64(statement, 1, experiment.name.data(), experiment.name.size(),
                                         SQLITE_STATIC, SQLITE_UTF8);
    if (code != SQLITE_OK) fail(code);
    sqlite3_bind_int(statement, 2, experiment.version);
    sqlite3_bind_int64(statement, 3, as_signed(seed));
  }

  void open() {
    // The user did not choose this name: a link here would lead to a file that is not ours.
    for (const char* const ending : {"", "-wal", "-journal"}) {
      std::error_code error;
      if (std::filesystem::is_symlink(path + ending, error))
        throw StoreError(path + ending +
                         ": is a link, which is not followed; remove it, or give another folder");
    }
    sqlite3* opened = nullptr;
    const int code =
        sqlite3_open_v2(path.c_str(), &opened, SQLITE_OPEN_READWRITE | SQLITE_OPEN_CREATE, nullptr);
    handle.reset(opened);
    if (code != SQLITE_OK) fail(code);
    sqlite3_extended_result_codes(handle.get(), 1);
    sqlite3_busy_timeout(handle.get(), kPatienceMilliseconds);
    // The file may be malicious.
    sqlite3_db_config(handle.get(), SQLITE_DBCONFIG_DEFENSIVE, 1, nullptr);
    sqlite3_db_config(handle.get(), SQLITE_DBCONFIG_TRUSTED_SCHEMA, 0, nullptr);
    sqlite3_db_config(handle.get(), SQLITE_DBCONFIG_ENABLE_TRIGGER, 0, nullptr);
    sqlite3_db_config(handle.get(), SQLITE_DBCONFIG_ENABLE_VIEW, 0, nullptr);
    // Locked while it is open. As a side effect the log needs no shared memory, which network file systems
    // lack.
    execute("PRAGMA locking_mode = EXCLUSIVE");
    execute("BEGIN EXCLUSIVE");
    check_format();  // before anything in another program's file is changed
    execute("COMMIT");
    // A write-ahead log, passed to the operating system at every commit: a killed process loses nothing. It
    // reaches the disk only at checkpoints: a power failure may lose the last units, but leaves the file
    // valid.
    execute("PRAGMA journal_mode = WAL");
    execute("PRAGMA synchronous = NORMAL");
    insert = prepare("INSERT INTO units VALUES (?, ?, ?, ?, ?, ?)");
    select = prepare(
        "SELECT unit, seconds, result FROM units WHERE experiment = ? AND version = ? AND seed = ? AND unit "
        "< ? "
        "ORDER BY unit");
  }

  /// Marks a new file as ours; rejects files of other programs.
  void check_format() const {
    const std::int64_t application = number("PRAGMA application_id");
    const std::int64_t format = number("PRAGMA user_version");
    if (application == 0 && format == 0 && number("SELECT count(*) FROM sqlite_master") == 0) {
      execute(("PRAGMA application_id = " + std::to_string(kApplication)).c_str());
      execute(("PRAGMA user_version = " + std::to_string(kFormat)).c_str());
      execute(kTable);
      return;
    }
    if (application != kApplication)
      throw StoreError(path + ": a database of another program; move it away, or give another folder");
    if (format != kFormat)
      throw StoreError(path + ": made by another version of allot (format " + std::to_string(format) +
                       ", this version reads " + std::to_string(kFormat) + "); give another folder");
    // A view or a trigger would run code that the author of the file wrote.
    const Statement others =
        prepare("SELECT count(*), sum(sql = ?) FROM sqlite_master WHERE name NOT LIKE 'sqlite_autoindex_%'");
    sqlite3_bind_text(others.get(), 1, kTable, -1, SQLITE_STATIC);
    if (!step(others.get()) || sqlite3_column_int64(others.get(), 0) != 1 ||
        sqlite3_column_int64(others.get(), 1) != 1)
      throw StoreError(path + ": its tables are not those of a store; give another folder");
  }
};

Store::Store(const std::string& path) : database_(std::make_unique<Database>()) {
  database_->path = path;
  database_->open();
}
Store::Store(Store&&) noexcept = default;
Store& Store::operator=(Store&&) noexcept = default;
Store::~Store() = default;

std::vector<StoredUnit> Store::load(const Experiment& experiment, std::uint64_t seed,
                                    std::size_t units) const {
  sqlite3_stmt* const select = database_->select.get();
  sqlite3_reset(select);  // also after a load that threw
  database_->bind_key(select, experiment, seed);
  sqlite3_bind_int64(select, 4, static_cast<sqlite3_int64>(units));
  std::vector<StoredUnit> found;
  while (database_->step(select)) {
    StoredUnit unit;
    unit.unit = static_cast<std::size_t>(sqlite3_column_int64(select, 0));
    unit.seconds = sqlite3_column_double(select, 1);
    const void* const bytes = sqlite3_column_blob(select, 2);
    const auto size = static_cast<std::size_t>(sqlite3_column_bytes(select, 2));
    std::optional<UnitResult> result = decode_result({static_cast<const char*>(bytes), size});
    if (!result)
      throw StoreError(database_->path + ": damaged at unit " + std::to_string(unit.unit) + " of " +
                       experiment.name);
    unit.result = *std::move(result);
    found.push_back(std::move(unit));
  }
  sqlite3_reset(select);
  return found;
}

void Store::save(const Experiment& experiment, std::uint64_t seed, const StoredUnit& unit) {
  sqlite3_stmt* const insert = database_->insert.get();
  const std::string bytes = encode_result(unit.result);
  sqlite3_reset(insert);
  database_->bind_key(insert, experiment, seed);
  sqlite3_bind_int64(insert, 4, static_cast<sqlite3_int64>(unit.unit));
  sqlite3_bind_double(insert, 5, unit.seconds);
  const int code = sqlite3_bind_blob64(insert, 6, bytes.data(), bytes.size(), SQLITE_STATIC);
  if (code != SQLITE_OK) database_->fail(code);
  database_->step(insert);
  sqlite3_reset(insert);
  sqlite3_clear_bindings(insert);  // they point to data that is about to be destroyed
}

}  // namespace allot
