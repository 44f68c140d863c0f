#!/usr/bin/env python3
"""Names, inputs, errors and paths of others on a terminal. One mutation is one text that is asked to be shown."""
import json
import os
import re

from hostile import MUTATIONS, SEED, Attack, Texts, toml_text


def scenario(names, others):
    """Two types on two resources, and others of either kind, which run nowhere else."""
    a, b, c, d = (toml_text(n) for n in names[:4])
    pairs = [(toml_text(f"{at}{x}"), toml_text(f"{at}{y}")) for at, (x, y) in enumerate(zip(others[::2], others[1::2]))]
    return (f"name = {toml_text(names[4])}\n[[resources]]\nname = {a}\n[[resources]]\nname = {b}\n" +
            "".join(f"[[resources]]\nname = {x}\n" for x, _ in pairs) +
            f"[[tasks]]\nname = {c}\ncount = 3\npriority = 1\nrates = {{ {a} = 2.0, {b} = 1.0 }}\n[[tasks]]\nname = {d}\ncount = 2\npriority = 2\nrates = {{ {b} = 1.0 }}\n" +
            "".join(f"[[tasks]]\nname = {y}\ncount = 1\npriority = 1\nrates = {{ {x} = 1.0 }}\n" for x, y in pairs))


def job(names):
    values = ", ".join(toml_text(n) for n in names[4:])
    return (f'[[resources]]\nname = {toml_text(names[0])}\n[[tasks]]\nname = {toml_text(names[1])}\ninputs = [{values}]\n'
            f'command = ["sh", "-c", "printf \'%s\' \\"$1\\"; printf \'%s\' \\"$1\\" >&2; exit 1", "sh", "{{}}"]\nretries = 0\n')


def main():
    attack = Attack("terminal")
    texts = Texts(SEED)
    while attack.mutations < MUTATIONS:
        seed = attack.next_seed(texts)
        one = Texts(seed)
        r = one.random
        folder = attack.folder()
        # Names with control characters are refused, and one of them refuses its file: half of the rounds have none.
        part = r.choice([0, 0.5])
        names = [one.text().replace("\x00", "") if r.random() < part else
                 re.sub("[\x00-\x1f\x7f-\x9f]", "", one.text()) or "n" for _ in range(12 + 2 * r.randint(0, 5))]
        # At most 3 MB each: what a command takes is measured with what this program had when it started the command.
        names = [n if r.random() < 0.98 else n * min(20000, 3_000_000 // max(1, len(n)) + 1) for n in names]
        names, others = names[:12], names[12:]
        (folder / "box.toml").write_text(scenario(names, others), encoding="utf-8")
        (folder / "box.json").write_text(json.dumps({"resources": [{"name": names[0]}], "tasks": [{"name": names[1], "count": 1, "rates": {names[0]: 1}, names[2]: 1}]}))
        (folder / "job.toml").write_text(job(names), encoding="utf-8")
        strange = names[5].replace("/", "")[:100].encode("utf-8", "replace")[:240] or b"x"
        with open(os.path.join(os.fsencode(folder), b"f" + strange + b".toml"), "wb") as file:
            file.write(b"name = 3\n" + one.bytes(200))
        commands = [["solve", "box.toml", "--explain"], ["solve", "box.json"], ["solve", "box.toml", "--json"], ["pareto", "box.toml"], ["whatif", "box.toml"],
                    ["simulate", "box.toml", "--policy", "map", "--completions", "100"], ["run", "job.toml", "--dry-run"], ["run", "job.toml"],
                    ["run", "job.toml", "--print", "grouped"], ["solve", os.fsdecode(b"f" + strange + b".toml")], [names[6][:500]], ["solve", names[7][:500]],
                    ["solve", "box.toml", "--solver", names[8][:500]], ["solve", "box.toml", "--" + names[9][:500]], ["log", names[10][:200]],
                    ["sweep", "box.toml"], ["analyze", "box.toml", "--policy", "random"], ["compare", "box.toml", "--policies", names[11][:300]]]
        for command in r.sample(commands, 4):
            command = [word.replace("\x00", "") for word in command]
            attack.run(seed, command, folder, {0, 1, 2, 3, 4, 5})
            attack.mutations += 3 + (len(others) if "box.toml" in command else 0)
        if (folder / "job.toml.journal").exists():
            attack.run(seed, ["log", "job.toml.journal", *r.choice([[], ["--json"], ["--csv"]])], folder, {0})
        attack.check_folder(seed, folder)
    attack.end()


main()
