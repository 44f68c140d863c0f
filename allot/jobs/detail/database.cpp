#include "allot/jobs/detail/database.hpp"

#include <sys/stat.h>

#include <utility>
#include <vector>

#include "allot/jobs/detail/schema.hpp"

namespace allot::detail {
namespace {

constexpr int kPatienceMilliseconds = 10'000;
/// Of one row; the longest text that we write is a command of 1 MiB.
constexpr int kLongestRow = 16 << 20;

/// The file may be malicious.
void distrust(sqlite3* handle) {
  sqlite3_db_config(handle, SQLITE_DBCONFIG_DEFENSIVE, 1, nullptr);
  sqlite3_db_config(handle, SQLITE_DBCONFIG_TRUSTED_SCHEMA, 0, nullptr);
  sqlite3_db_config(handle, SQLITE_DBCONFIG_ENABLE_TRIGGER, 0, nullptr);
  sqlite3_db_config(handle, SQLITE_DBCONFIG_ENABLE_VIEW, 0, nullptr);
  sqlite3_db_config(handle, SQLITE_DBCONFIG_ENABLE_LOAD_EXTENSION, 0, nullptr);
  sqlite3_limit(handle, SQLITE_LIMIT_LENGTH, kLongestRow);
  sqlite3_limit(handle, SQLITE_LIMIT_SQL_LENGTH, 1 << 20);
  sqlite3_limit(handle, SQLITE_LIMIT_COLUMN, 64);
  sqlite3_limit(handle, SQLITE_LIMIT_EXPR_DEPTH, 64);
  sqlite3_limit(handle, SQLITE_LIMIT_COMPOUND_SELECT, 8);
  sqlite3_limit(handle, SQLITE_LIMIT_ATTACHED, 0);
  sqlite3_limit(handle, SQLITE_LIMIT_TRIGGER_DEPTH, 1);
}

/// The definitions of everything in the database.
std::vector<std::string> schema_of(const Database& database) {
  std::vector<std::string> out;
  Statement rows(database,
                 "SELECT type, name, tbl_name, coalesce(sql, '') FROM sqlite_master ORDER BY type, name");
  while (rows.step())
    out.push_back(rows.text(0) + " " + rows.text(1) + " " + rows.text(2) + " " + rows.text(3));
  return out;
}

}  // namespace

void refuse_links_beside(const std::string& path) {
  for (const char* const ending : {"-wal", "-shm", "-journal"}) {
    struct stat found {};
    if (::lstat((path + ending).c_str(), &found) == 0 && !S_ISREG(found.st_mode)) {
      throw JournalError(JournalProblem::kIo,
                         path + ending + ": is not a file, but SQLite would keep one there; remove it");
    }
  }
}

Database::Database(const std::string& path, std::string name, int flags, const std::string& vfs)
    : name_(std::move(name)) {
  sqlite3* opened = nullptr;
  const int code = sqlite3_open_v2(path.c_str(), &opened, flags, vfs.empty() ? nullptr : vfs.c_str());
  handle_.reset(opened);
  if (code != SQLITE_OK) fail(code);
  sqlite3_extended_result_codes(handle_.get(), 1);
  sqlite3_busy_timeout(handle_.get(), kPatienceMilliseconds);
  distrust(handle_.get());
}

void Database::fail(int code) const {
  const int kind = code & 0xff;  // without SQLite's details
  const std::string why = handle_ ? sqlite3_errmsg(handle_.get()) : sqlite3_errstr(code);
  switch (kind) {
    case SQLITE_BUSY:
    case SQLITE_LOCKED:
      throw JournalError(JournalProblem::kLocked, name_ + ": in use by another program");
    case SQLITE_NOTADB:
      throw JournalError(JournalProblem::kCorrupt, name_ + ": not a journal of allot");
    case SQLITE_CORRUPT:
    case SQLITE_CONSTRAINT:
    case SQLITE_MISMATCH:
    case SQLITE_SCHEMA:
    case SQLITE_ERROR:   // such as a missing table
    case SQLITE_TOOBIG:  // a text longer than any that we write
      corrupt(why);
    case SQLITE_FULL:
      throw JournalError(JournalProblem::kIo, name_ + ": the disk is full");
    default:
      throw JournalError(JournalProblem::kIo, name_ + ": " + why);
  }
}

void Database::corrupt(const std::string& why) const {
  throw JournalError(JournalProblem::kCorrupt, name_ + ": damaged (" + why + ")");
}

void Database::execute(const std::string& sql) const {
  const int code = sqlite3_exec(handle_.get(), sql.c_str(), nullptr, nullptr, nullptr);
  if (code != SQLITE_OK) fail(code);
}

std::int64_t Database::number(const std::string& sql) const {
  Statement statement(*this, sql.c_str());
  return statement.step() ? statement.whole(0) : 0;
}

std::string Database::text(const std::string& sql) const {
  Statement statement(*this, sql.c_str());
  return statement.step() ? statement.text(0) : "";
}

bool Database::check_format(bool may_be_new) const {
  const std::int64_t application = number("PRAGMA application_id");
  const std::int64_t format = number("PRAGMA user_version");
  if (may_be_new && application == 0 && format == 0 && number("SELECT count(*) FROM sqlite_master") == 0) {
    return true;
  }
  if (application != kJournalApplication)
    throw JournalError(JournalProblem::kCorrupt, name_ + ": not a journal of allot");
  if (format != kJournalFormat)
    throw JournalError(JournalProblem::kCorrupt, name_ + ": made by another version of allot (format " +
                                                     std::to_string(format) + ", this version reads " +
                                                     std::to_string(kJournalFormat) + ")");
  const Database expected(":memory:", name_, SQLITE_OPEN_READWRITE | SQLITE_OPEN_CREATE, "");
  expected.execute(kJournalSchema);
  if (schema_of(*this) != schema_of(expected))
    throw JournalError(JournalProblem::kCorrupt,
                       name_ + ": its tables are not those of a journal; it was changed by something else");
  return false;
}

Statement::Statement(const Database& database, const char* sql) : database_(&database) {
  sqlite3_stmt* statement = nullptr;
  const int code = sqlite3_prepare_v2(database.handle(), sql, -1, &statement, nullptr);
  handle_.reset(statement);
  if (code != SQLITE_OK) database.fail(code);
}

bool Statement::step() {
  const int code = sqlite3_step(handle_.get());
  if (code == SQLITE_ROW) return true;
  if (code != SQLITE_DONE) {
    // The message first, because resetting clears it.
    try {
      database_->fail(code);
    } catch (...) {
      sqlite3_reset(handle_.get());
      throw;
    }
  }
  sqlite3_reset(handle_.get());
  return false;
}

std::string Statement::text(int column) const {
  const auto* bytes = reinterpret_cast<const char*>(sqlite3_column_text(handle_.get(), column));
  const int size = sqlite3_column_bytes(handle_.get(), column);
  return bytes ? std::string(bytes, static_cast<std::size_t>(size)) : std::string();
}

}  // namespace allot::detail
