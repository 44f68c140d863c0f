#!/usr/bin/env python3
"""Journals that somebody else made, or that a disk has damaged: values, schemas, bytes. One mutation is one journal."""
import json
import pathlib
import shutil
import sqlite3
import subprocess
import sys

from hostile import ALLOT, MUTATIONS, SEED, Attack, Texts

TABLES = {"runs": ["id", "job", "objective", "policy", "version", "outcome", "start_unix", "end_unix", "pid"],
          "definitions": ["type", "part", "resource", "text"],
          "tasks": ["task", "type", "final", "seal"],
          "attempts": ["task", "run", "attempt", "resource", "slot", "status", "exit", "signal", "start_unix", "queue_s", "wall_s",
                       "user_s", "sys_s", "maxrss_kb", "counted", "error", "command"],
          "rates": ["type", "resource", "rate", "low", "high", "completions", "time_unix"],
          "predictions": ["time_unix", "type", "throughput"], "events": ["time_unix", "kind", "text"]}
ENDLESS = "WITH RECURSIVE n(i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n) SELECT i FROM n"


def job():
    return ('[[resources]]\nname = "cpu"\nservers = 2\n[[tasks]]\nname = "t"\nrepeat = 6\ncommand = ["sh", "-c", "exit $(( $1 % 2 ))", "sh", "{}"]\n'
            'output = "out/{}.txt"\nenv = { KEY = "secret" }\n')


def change_values(database, texts):
    r = texts.random
    for _ in range(r.randint(1, 6)):
        table = r.choice(list(TABLES))
        column = r.choice(TABLES[table])
        value = r.choice([texts.text(), texts.bytes(100), 1e300, -1e300, float("inf"), -1, 0, 1 << 62, -(1 << 62), None, r.uniform(-1e12, 1e12), "ok", "started", "../../x"])
        try:
            if r.random() < 0.3:
                columns = TABLES[table]
                row = [r.choice([texts.text(), 1e300, -1, 0, None, 1 << 40, "ok"]) for _ in columns]
                database.execute(f"INSERT INTO {table} ({', '.join(columns)}) VALUES ({', '.join('?' * len(columns))})", row)
            else:
                database.execute(f"UPDATE {table} SET {column} = ?", (value,))
        except (sqlite3.Error, OverflowError, UnicodeEncodeError):
            pass


def change_schema(database, texts):
    r = texts.random
    table = r.choice(list(TABLES))
    column = r.choice(TABLES[table])
    statement = r.choice([
        f"ALTER TABLE {table} RENAME TO hidden; CREATE VIEW {table} AS {ENDLESS}",
        f"ALTER TABLE {table} RENAME TO hidden; CREATE VIEW {table} AS WITH RECURSIVE n(i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n) "
        f"SELECT i AS sequence, i AS run, i AS id, {', '.join('1 AS ' + c for c in TABLES[table] if c not in ('id', 'run'))} FROM n",
        f"CREATE VIEW v{r.randrange(99)} AS {ENDLESS}",
        f"CREATE TRIGGER g AFTER UPDATE ON {table} BEGIN INSERT INTO events (run, time_unix, kind, text) SELECT 1, 1, 'x', 'y' FROM ({ENDLESS}); END",
        f"CREATE TRIGGER g AFTER INSERT ON {table} BEGIN DELETE FROM {table}; END",
        f"CREATE INDEX x ON {table} (hex({column}))",
        f"ALTER TABLE {table} ADD COLUMN more GENERATED ALWAYS AS (hex(zeroblob(900000000))) VIRTUAL",
        f"DROP TABLE {table}", f"CREATE TABLE more (a, b, c)", "PRAGMA user_version = 7", "PRAGMA application_id = 1",
        f"ALTER TABLE {table} RENAME COLUMN {column} TO other", "CREATE VIRTUAL TABLE f USING fts5(a)",
    ])
    try:
        database.executescript(statement)
    except sqlite3.Error:
        pass


def change_bytes(path, texts):
    r = texts.random
    data = bytearray(path.read_bytes())
    for _ in range(r.choice([1, 1, 2, 8, 64, 512])):
        kind = r.random()
        at = r.randrange(len(data)) if data else 0
        if kind < 0.6 and data:
            data[at] = r.randrange(256)
        elif kind < 0.8:
            data[at:at + r.randint(1, 64)] = texts.bytes(64)
        elif kind < 0.9:
            del data[at:at + r.randint(1, 5000)]
        else:
            data[at:at] = data[: r.randint(1, 4096)]
    path.write_bytes(data)


def main():
    attack = Attack("journal")
    texts = Texts(SEED)
    model = attack.root / "model"
    model.mkdir()
    (model / "job.toml").write_text(job())
    subprocess.run([ALLOT, "run", "job.toml"], cwd=model, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL, timeout=60)
    if (model / "job.toml.journal").stat().st_mode & 0o077:
        attack.complain(SEED, "others may read a journal")
    if b"secret" in (model / "job.toml.journal").read_bytes():
        attack.complain(SEED, "the value of an env variable is in the journal")
    folder = attack.folder()
    while attack.mutations < MUTATIONS:
        seed = attack.next_seed(texts)
        one = Texts(seed)
        if attack.mutations % 20 == 0:
            folder = attack.folder()
            (folder / "job.toml").write_text(job())
        journal = folder / "job.toml.journal"
        for beside in folder.glob("job.toml.journal*"):
            shutil.rmtree(beside) if beside.is_dir() and not beside.is_symlink() else beside.unlink()
        shutil.copy(model / "job.toml.journal", journal)
        kind = one.random.random()
        if kind < 0.75:
            database = sqlite3.connect(journal)
            database.execute("PRAGMA synchronous = OFF")  # nobody pulls the plug here
            (change_values if kind < 0.45 else change_schema)(database, one)
            try:
                database.commit()
            except sqlite3.Error:
                pass
            database.close()
        else:
            change_bytes(journal, one)
        which = one.random.random()
        if which < 0.55:
            attack.run(seed, ["log", journal.name, *one.random.choice([[], ["--json"], ["--csv"]])], folder, {0, 3}, longest=20)
        elif which < 0.7:
            attack.run(seed, ["export", "trace", journal.name, "-o", "trace.json"], folder, {0, 3}, longest=20)
            if (folder / "trace.json").exists():
                json.loads((folder / "trace.json").read_text(encoding="utf-8"))
                (folder / "trace.json").unlink()
        elif which < 0.93:
            attack.run(seed, ["plot", journal.name], folder, {0, 3}, longest=20)
        else:
            attack.run(seed, ["run", "job.toml", "--time-limit", "10"], folder, {0, 1, 4, 5}, longest=40)
        attack.check_folder(seed, folder)
        attack.mutations += 1
    attack.end()


main()
