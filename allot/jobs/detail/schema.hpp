// The tables of a journal. docs/reference/journal.md
#pragma once

namespace allot::detail {

/// A task's final record is a column of its row, so it cannot have two. A journal whose schema differs from
/// this in any way is refused (Database::check_format): a view or a trigger instead of a table would run code
/// of the file's author.
inline constexpr const char* kJournalSchema = R"sql(
CREATE TABLE runs (run INTEGER PRIMARY KEY, id TEXT NOT NULL, job TEXT NOT NULL, objective TEXT NOT NULL,
  policy TEXT NOT NULL, version TEXT NOT NULL, pid INTEGER NOT NULL, start_unix REAL NOT NULL, end_unix REAL,
  outcome TEXT NOT NULL DEFAULT '');
CREATE TABLE definitions (type TEXT NOT NULL, part TEXT NOT NULL, resource TEXT NOT NULL, text TEXT NOT NULL,
  PRIMARY KEY (type, part, resource)) WITHOUT ROWID;
CREATE TABLE tasks (id INTEGER PRIMARY KEY, task TEXT NOT NULL UNIQUE, type TEXT NOT NULL,
  final INTEGER REFERENCES attempts (sequence), seal INTEGER NOT NULL);
CREATE TABLE attempts (sequence INTEGER PRIMARY KEY, task INTEGER NOT NULL REFERENCES tasks (id),
  run INTEGER NOT NULL, attempt INTEGER NOT NULL, resource TEXT NOT NULL, slot INTEGER NOT NULL,
  status TEXT NOT NULL CHECK (status IN ('started', 'ok', 'failed', 'timeout', 'killed', 'lost')),
  exit INTEGER, signal INTEGER, start_unix REAL NOT NULL, queue_s REAL NOT NULL, wall_s REAL NOT NULL DEFAULT 0,
  user_s REAL NOT NULL DEFAULT 0, sys_s REAL NOT NULL DEFAULT 0, maxrss_kb INTEGER NOT NULL DEFAULT 0,
  counted INTEGER NOT NULL DEFAULT 0, forgiven INTEGER NOT NULL DEFAULT 0, error TEXT NOT NULL DEFAULT '',
  command TEXT NOT NULL, UNIQUE (task, attempt));
CREATE TABLE rates (type TEXT NOT NULL, resource TEXT NOT NULL, rate REAL NOT NULL, low REAL NOT NULL,
  high REAL NOT NULL, completions INTEGER NOT NULL, time_unix REAL NOT NULL,
  PRIMARY KEY (type, resource)) WITHOUT ROWID;
CREATE TABLE predictions (sequence INTEGER PRIMARY KEY, run INTEGER NOT NULL, time_unix REAL NOT NULL,
  type TEXT NOT NULL, throughput REAL NOT NULL);
CREATE TABLE events (sequence INTEGER PRIMARY KEY, run INTEGER NOT NULL, time_unix REAL NOT NULL,
  kind TEXT NOT NULL, text TEXT NOT NULL);
)sql";

}  // namespace allot::detail
