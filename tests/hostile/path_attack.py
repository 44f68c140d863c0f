#!/usr/bin/env python3
"""Inputs and file names of others, and links where files are expected. One mutation is one input, or one link."""
import os
import stat

from hostile import MUTATIONS, PATHS, SEED, Attack, Texts, toml_text


PRECIOUS = "not yours\n"


def main():
    attack = Attack("path")
    texts = Texts(SEED)
    done = 0
    while attack.mutations < MUTATIONS:
        seed = attack.next_seed(texts)
        one = Texts(seed)
        r = one.random
        folder = attack.folder()
        outside = folder.parent.parent / "a"
        precious = attack.root / "precious"
        precious.write_text(PRECIOUS)
        files = 0
        for _ in range(r.randint(2, 12)):
            name = os.fsencode("".join(r.choice([one.text([PATHS]), one.text(), "plain"]) for _ in range(1)).replace("\x00", "").replace("/", "_")[:200])[:200]
            if name in (b"", b".", b".."):
                continue
            try:
                with open(os.path.join(os.fsencode(folder), name), "w") as file:
                    file.write("x")
                files += 1
            except OSError:
                pass
        rows = [one.text([PATHS]) if r.random() < 0.7 else one.text() for _ in range(r.randint(1, 8))]
        rows = [row.replace("\x00", "").replace("\n", "").replace("\r", "") or "row" for row in rows]
        (folder / "rows.txt").write_text("\n".join(rows) + "\n", encoding="utf-8", errors="replace")
        source = r.choice(['inputs = "*"', 'inputs_from = "rows.txt"', 'inputs_from = "rows.txt"'])
        output = r.choice(["out/{}", "{}", "out/{/}", "out/{#}", "{//}/x{#}", "out/{/.}.txt", "{.}.out"])
        command = r.choice([["sh", "-c", 'echo "$1" > "$2"', "sh", "{}", "{out}"], ["echo", "{}"], ["cat", "--", "{}"], ["ls", "{}"], ["touch", "{}", "{out}"],
                            ["sh", "-c", "exit 0"]])
        if command[0] in ("touch", "ls", "cat") and source != 'inputs = "*"':
            command = ["echo", "{}"]
        (folder / "job.toml").write_text(
            f'[[resources]]\nname = "cpu"\nservers = 2\n[[tasks]]\nname = "t"\n{source}\ncommand = [{", ".join(toml_text(w) for w in command)}]\n'
            f'output = {toml_text(output)}\nretries = 0\n', encoding="utf-8")
        links = 0
        for name in ("job.toml.journal.lock", "job.toml.journal.allot-lock", "job.toml.journal-wal", "job.toml.journal.out", "job.toml.journal.html.part",
                     "job.toml.journal.html", "out", "link", "out.x", ".allot-1-x", "job.toml.journal.out/1.1.out", "job.toml.journal.out/1.1.err"):
            path = folder / name
            if r.random() < 0.25 and not os.path.lexists(path):
                if name.endswith(("1.1.out", "1.1.err")):
                    if os.path.lexists(path.parent):
                        continue
                    path.parent.mkdir()
                path.symlink_to(outside if name in ("out", "link", "job.toml.journal.out") else precious)
                links += 1
        ran = attack.run(seed, ["run", "job.toml", "--time-limit", "20"], folder, {0, 1, 3, 4, 5})
        if ran.status in (0, 1):
            done += 1
            if not (folder / "job.toml").read_text(errors="replace").startswith("[[resources]]"):
                attack.complain(seed, "a task wrote over the job file")
            for path in (folder / "job.toml.journal", folder / "job.toml.journal.out"):
                if not path.is_symlink() and stat.S_IMODE(path.stat().st_mode) & 0o077:
                    attack.complain(seed, f"others may look into {path.name}")
        attack.run(seed, ["plot", "job.toml.journal"], folder, {0, 1, 3})
        if precious.read_text() != PRECIOUS:
            attack.complain(seed, "wrote through a link")
        lock = folder / "job.toml.journal.lock"
        if "inputs_from" in source and os.path.lexists(lock) and not lock.is_symlink():
            attack.complain(seed, "a .lock of somebody else was touched")
        attack.check_folder(seed, folder)
        attack.mutations += len(rows) + files + links
    if done < attack.commands / 20:
        attack.complain(SEED, f"only {done} of {attack.commands} commands ran anything: the attack misses its aim")
    attack.end()


main()
