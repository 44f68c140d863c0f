// SQLite with errors as exceptions and values as they are in C++.
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

inline constexpr int kJournalApplication = 0x616c6a6e;  // "aljn": tells our files from those of others
inline constexpr int kJournalFormat = 1;

/// Throws JournalError where one of the files that SQLite keeps beside a database (its log and the like) is a
/// link.
void refuse_links_beside(const std::string& path);

/// An open database, of which nothing is trusted: SQLite's defensive mode, no views, no triggers, no
/// functions of the schema, limits to what a value may take. Whatever fails throws JournalError.
class Database {
 public:
  /// `name` stands for the file in messages; `flags` as SQLite has them. Waits ten seconds for locks of
  /// readers.
  Database(const std::string& path, std::string name, int flags, const std::string& vfs);

  void execute(const std::string& sql) const;
  std::int64_t number(const std::string& sql) const;
  std::string text(const std::string& sql) const;
  /// Rows that the last statement changed.
  int changes() const noexcept { return sqlite3_changes(handle_.get()); }
  sqlite3* handle() const noexcept { return handle_.get(); }
  const std::string& name() const noexcept { return name_; }

  /// What SQLite's code means to a user.
  [[noreturn]] void fail(int code) const;
  [[noreturn]] void corrupt(const std::string& why) const;
  /// Throws unless the file is a journal of this format, with the tables of this format and nothing else. To
  /// be called before anything of it is read. `may_be_new`: an empty one is, too, and true is returned.
  bool check_format(bool may_be_new) const;

 private:
  struct Close {
    void operator()(sqlite3* handle) const noexcept { sqlite3_close(handle); }
  };
  std::string name_;
  std::unique_ptr<sqlite3, Close> handle_;
};

/// A prepared statement, to be used again and again.
class Statement {
 public:
  Statement(const Database& database, const char* sql);

  /// Begins anew with these values for its parameters.
  template <typename... Values>
  Statement& with(const Values&... values) {
    sqlite3_reset(handle_.get());
    int at = 0;
    (bind(++at, values), ...);
    return *this;
  }
  /// Whether there is a row, or another one.
  bool step();
  /// To the end.
  void run() {
    while (step()) {
    }
  }

  bool is_null(int column) const { return sqlite3_column_type(handle_.get(), column) == SQLITE_NULL; }
  std::int64_t whole(int column) const { return sqlite3_column_int64(handle_.get(), column); }
  double real(int column) const { return sqlite3_column_double(handle_.get(), column); }
  std::string text(int column) const;
  /// The first columns of the row, as these have types for them.
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
    // What is not a number would become NULL.
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

/// A transaction that is undone unless it is committed.
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
