// SQLite with exceptions for errors and C++ types for values.
#pragma once

#include <sqlite3.h>

#include <cmath>
#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <string_view>

#include "allot/jobs/journal.hpp"

namespace allot::detail {

inline constexpr int kJournalApplication = 0x616c6a6e;  // "aljn": marks our files
inline constexpr int kJournalFormat = 1;

/// Throws JournalError if a file that SQLite keeps beside a database (its log, for example) is a link.
void refuse_links_beside(const std::string& path);

/// An open database that is not trusted: SQLite's defensive mode, no views, no triggers, no functions in the
/// schema, limits on the size of values. Every failure throws JournalError.
class Database {
 public:
  /// `name` is used for the file in messages; `flags` are SQLite's. Waits ten seconds for locks of readers.
  Database(const std::string& path, std::string name, int flags, const std::string& vfs);

  void execute(const std::string& sql) const;
  std::int64_t number(const std::string& sql) const;
  std::string text(const std::string& sql) const;
  /// Number of rows that the last statement changed.
  int changes() const noexcept { return sqlite3_changes(handle_.get()); }
  sqlite3* handle() const noexcept { return handle_.get(); }
  const std::string& name() const noexcept { return name_; }

  /// Throws the JournalError for an SQLite code.
  [[noreturn]] void fail(int code) const;
  [[noreturn]] void corrupt(const std::string& why) const;
  /// Throws unless the file is a journal with exactly the tables of this format. Call it before reading
  /// anything. `may_be_new`: an empty file is accepted, and true is returned for it.
  bool check_format(bool may_be_new) const;

 private:
  struct Close {
    void operator()(sqlite3* handle) const noexcept { sqlite3_close(handle); }
  };
  std::string name_;
  std::unique_ptr<sqlite3, Close> handle_;
};

/// A prepared statement; can be used repeatedly.
class Statement {
 public:
  Statement(const Database& database, const char* sql);

  /// Restarts the statement with these values for its parameters.
  template <typename... Values>
  Statement& with(const Values&... values) {
    sqlite3_reset(handle_.get());
    int at = 0;
    (bind(++at, values), ...);
    return *this;
  }
  /// Whether there is a row, or a next row.
  bool step();
  /// Runs to the end.
  void run() {
    while (step()) {
    }
  }

  bool is_null(int column) const { return sqlite3_column_type(handle_.get(), column) == SQLITE_NULL; }
  std::int64_t whole(int column) const { return sqlite3_column_int64(handle_.get(), column); }
  double real(int column) const { return sqlite3_column_double(handle_.get(), column); }
  std::string text(int column) const;
  /// Reads the first columns of the row, with the types of the arguments.
  template <typename... Values>
  void into(Values&... values) const {
    int at = 0;
    (read(at++, values), ...);
  }

 private:
  void read(int column, std::int64_t& value) const { value = whole(column); }
  void read(int column, int& value) const { value = static_cast<int>(whole(column)); }
  void read(int column, bool& value) const { value = whole(column) != 0; }
  void read(int column, double& value) const { value = real(column); }
  void read(int column, std::string& value) const { value = text(column); }
  template <typename Value>
  void read(int column, std::optional<Value>& value) const {
    value.reset();
    if (!is_null(column)) read(column, value.emplace());
  }

  void check(int code) const {
    if (code != SQLITE_OK) database_->fail(code);
  }
  void bind(int at, std::int64_t value) { check(sqlite3_bind_int64(handle_.get(), at, value)); }
  void bind(int at, int value) { check(sqlite3_bind_int64(handle_.get(), at, value)); }
  void bind(int at, bool value) { check(sqlite3_bind_int64(handle_.get(), at, value ? 1 : 0)); }
  void bind(int at, double value) {
    // NaN would become NULL.
    check(sqlite3_bind_double(handle_.get(), at, std::isfinite(value) ? value : 0.0));
  }
  void bind(int at, std::string_view value) {
    check(sqlite3_bind_text64(handle_.get(), at, value.data() ? value.data() : "", value.size(),
                              SQLITE_TRANSIENT, SQLITE_UTF8));
  }
  void bind(int at, const std::string& value) { bind(at, std::string_view(value)); }
  template <typename Value>
  void bind(int at, const std::optional<Value>& value) {
    if (value) {
      bind(at, *value);
    } else {
      check(sqlite3_bind_null(handle_.get(), at));
    }
  }

  struct Finalize {
    void operator()(sqlite3_stmt* handle) const noexcept { sqlite3_finalize(handle); }
  };
  const Database* database_;
  std::unique_ptr<sqlite3_stmt, Finalize> handle_;
};

/// A transaction that is rolled back unless it is committed.
class Transaction {
 public:
  explicit Transaction(const Database& database) : database_(database) {
    database.execute("BEGIN IMMEDIATE");
  }
  Transaction(const Transaction&) = delete;
  Transaction& operator=(const Transaction&) = delete;
  ~Transaction() {
    if (!sqlite3_get_autocommit(database_.handle()))
      sqlite3_exec(database_.handle(), "ROLLBACK", nullptr, nullptr, nullptr);
  }
  void commit() const { database_.execute("COMMIT"); }

 private:
  const Database& database_;
};

}  // namespace allot::detail
