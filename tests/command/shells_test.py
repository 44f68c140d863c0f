#!/usr/bin/env python3
"""`allot completion`: real shells source the scripts and complete command lines. bash is always there; zsh and fish where they
are installed."""
import json
import os
import pathlib
import pty
import re
import select
import shutil
import subprocess
import sys
import tempfile
import time
import unittest

ALLOT = pathlib.Path(os.environ.get("ALLOT", pathlib.Path(__file__).resolve().parents[2] / "build" / "allot")).resolve()

LANES = '[[resources]]\nname = "cpu"\n[[resources]]\nname = "my gpu"\n[[tasks]]\nname = "a"\nrepeat = 1\ncommand = ["true"]\n'
BOX = ('[[resources]]\nname = "cpu"\n[[tasks]]\nname = "sort"\ncount = 2\nrates = { cpu = 1.0 }\n[[tasks]]\nname = "my type"\ncount = 2\n'
       "rates = { cpu = 1.0 }\n")
JOB = '[[resources]]\nname = "cpu"\n[[tasks]]\nname = "decode"\nrepeat = 1\ncommand = ["true"]\n[[tasks]]\nname = "it\'s $HOME"\nrepeat = 1\ncommand = ["true"]\n'

# In bash: the words that would be offered for a line.
BASH = r"""
source ./script
cmp() { COMP_WORDS=("$@"); COMP_CWORD=$(( $# - 1 )); COMPREPLY=(); _allot "$1" "${!#}" "${@:$#-1:1}"; printf '%s\n' "${COMPREPLY[@]}"; }
"""


class Shells(unittest.TestCase):
    def setUp(self):
        self.folder = pathlib.Path(tempfile.mkdtemp(prefix="allot-shells-"))
        self.addCleanup(shutil.rmtree, self.folder, ignore_errors=True)
        (self.folder / "bin").mkdir()
        (self.folder / "bin" / "allot").symlink_to(ALLOT)
        (self.folder / "box.toml").write_text(BOX)
        (self.folder / "job.toml").write_text(JOB)
        (self.folder / "lanes.toml").write_text(LANES)
        self.environment = {**os.environ, "PATH": f"{self.folder / 'bin'}:{os.environ['PATH']}", "HOME": str(self.folder), "TERM": "xterm"}
        self.run_program("allot", "run", "job.toml")

    def run_program(self, *words, text=None):
        done = subprocess.run(words, cwd=self.folder, env=self.environment, input=text, capture_output=True, text=True, timeout=200)
        self.assertEqual(done.returncode, 0, f"{words}\n{done.stdout}\n{done.stderr}")
        return done.stdout

    def refusal(self, *words):
        done = subprocess.run([str(ALLOT), *words], cwd=self.folder, capture_output=True, text=True, timeout=200)
        self.assertEqual(done.returncode, 2)
        return done.stderr

    def script(self, shell, name="script"):
        (self.folder / name).write_text(self.run_program("allot", "completion", shell))

    def asked(self, *words):
        """What the program itself offers for the last word; the first line says of which kind."""
        return self.run_program("allot", "completion", "fish", "words", *words).splitlines()

    def words_for(self, *words):
        lines = self.asked(*words)
        self.assertEqual(lines[0], "words", lines)
        return [line.split("\t")[0] for line in lines[1:]]

    # ---- the candidates

    def test_everything_in_the_tables_is_offered(self):
        for command in json.loads(self.run_program("allot", "help", "--json")):
            name = command["command"]
            self.assertIn(name, self.words_for(name[:2]))
            offered = self.words_for(name, "--")
            for option in command["options"]:
                if option["positional"]:
                    continue
                self.assertIn(option["option"], offered)
                if option["words"]:
                    self.assertEqual(self.words_for(name, option["option"], ""), option["words"])
                    self.assertEqual(self.words_for(name, option["option"] + "=" + option["words"][0]),
                                     [option["option"] + "=" + word for word in option["words"] if word.startswith(option["words"][0])])
            self.assertNotIn("--inputs-after", offered)

    def test_values_come_from_the_librarys_tables(self):
        listing = json.loads(self.run_program("allot", "list", "--json"))
        names = {key: [entry["name"] for entry in listing[key]] for key in listing}
        self.assertEqual(self.words_for("solve", "box.toml", "--solver", ""), names["solvers"])
        for command in ("simulate", "analyze", "run"):
            self.assertEqual(self.words_for(command, "box.toml", "--policy", ""), names["policies"])
        self.assertEqual(self.words_for("simulate", "box.toml", "--distribution", "bounded"), ["bounded-pareto"])
        self.assertEqual(self.words_for("compare", "box.toml", "--policies", "map,js"), ["map,jsq"])
        self.assertEqual(self.words_for("simulate", "box.toml", "--warmup", ""), ["auto"])
        self.assertEqual(self.words_for("completion", ""), ["bash", "zsh", "fish"])
        figures = self.words_for("reproduce", "--figure", "")
        self.assertTrue(figures)
        self.assertIn(", ".join(figures[:-1]) + " or " + figures[-1], self.refusal("reproduce", "--figure", "nonsense").replace("'", ""))
        self.assertEqual(self.words_for("export", "t"), ["trace"])
        self.assertIn("exit-status", self.words_for("help", "e"))

    def test_names_come_from_the_file_that_was_named(self):
        self.assertEqual(self.words_for("log", "job.toml.journal", "--type", ""), ["decode", "it's $HOME"])
        self.assertEqual(self.words_for("log", "--type", ""), [])
        self.assertEqual(self.words_for("log", "box.toml", "--type", ""), [])
        self.assertEqual(self.words_for("run", "job.toml", "--redo", "d"), ["decode:*"])
        self.assertEqual(self.words_for("run", "none.toml", "--redo", "m"), ["missing"])
        for option in ("-j", "--jobs"):
            self.assertEqual(self.words_for("run", "lanes.toml", option, ""), ["cpu=", "my gpu="])
        self.assertEqual(self.words_for("run", "lanes.toml", "--jobs=c"), ["--jobs=cpu="])
        self.assertEqual(self.words_for("run", "none.toml", "-j", ""), [])

    def test_files_are_left_to_the_shell(self):
        for line in (("solve", ""), ("solve", "box.toml", "--proof", ""), ("log", "j"), ("run", ""), ("plot", "job.toml.journal", "-o", ""),
                     ("run", "gzip {}", ":::", ""), ("export", "trace", ""), ("simulate", "box.toml", "--trace", "")):
            self.assertEqual(self.asked(*line)[0], "files", line)
        for line in (("nonsense", ""), ("solve", "box.toml", "--seed", ""), ("solve", "box.toml", "")):
            self.assertEqual(self.asked(*line), ["words"], line)

    def test_what_was_given_is_not_offered_again(self):
        offered = self.words_for("solve", "box.toml", "--explain", "--seed", "3", "--")
        self.assertNotIn("--explain", offered)
        self.assertNotIn("--seed", offered)
        self.assertIn("--command", self.words_for("run", "--command", "x", "--"))
        names = self.words_for("compare", "-p", "")
        self.assertEqual(self.words_for("compare", "-p", "map,jsq,"), ["map,jsq," + name for name in names if name not in ("map", "jsq")])
        self.assertEqual(self.words_for("compare", "--policies=map,m"), ["--policies=map," + name for name in names if name.startswith("m") and name != "map"])

    # ---- the shells

    def bash(self, *words):
        line = " ".join("'" + word.replace("'", "'\\''") + "'" for word in words)
        return [word for word in self.run_program("bash", "--norc", "-c", BASH + f"\ncmp {line} 2>/dev/null").splitlines() if word]

    def test_bash(self):
        self.script("bash")
        self.assertIn("solve", self.bash("allot", "so"))
        self.assertEqual(self.bash("allot", "solve", "box.toml", "--obj"), ["--objective"])
        self.assertEqual(self.bash("allot", "solve", "box.toml", "--objective", "pri"), ["priority"])
        self.assertEqual(self.bash("allot", "solve", "box.toml", "--objective", "=", "pri"), ["priority"])
        self.assertEqual(self.bash("allot", "solve", "box.toml", "--objective", "="), ["throughput", "priority", "max-min", "proportional", "energy"])
        self.assertEqual(self.bash("allot", "compare", "box.toml", "--policies", "map,js"), ["map,jsq"])
        # Words are quoted for the line that they go into.
        self.assertEqual(self.bash("allot", "log", "job.toml.journal", "--type", "it"), ["'it'\\''s $HOME'"])
        self.assertEqual(self.bash("allot", "solve", ""), [])
        kinds = self.run_program("bash", "--norc", "-c", "source ./script; complete -p allot")
        self.assertIn("-F _allot allot", kinds)

    def test_bash_at_a_prompt(self):
        self.script("bash")
        seen = self.at_a_prompt(["bash", "--norc", "--noprofile", "-i"], "source ./script\n", "allot solve bo\t--objective max\t\n", "max-min")
        self.assertIn("proven optimal", seen.replace("\r", ""))

    @unittest.skipUnless(shutil.which("zsh"), "no zsh")
    def test_zsh_at_a_prompt(self):
        for name in ("script", "functions/_allot"):
            (self.folder / "functions").mkdir(exist_ok=True)
            self.script("zsh", name)
        for set_up in ("autoload -Uz compinit; compinit -u; source ./script\n", "fpath=($PWD/functions $fpath); autoload -Uz compinit; compinit -u\n"):
            seen = self.at_a_prompt(["zsh", "-f", "-i"], set_up, "allot solve bo\t--objective max\t\n", "max-min")
            self.assertIn("proven optimal", seen.replace("\r", ""))

    @unittest.skipUnless(shutil.which("fish"), "no fish")
    def test_fish(self):
        self.script("fish")

        def offered(line):
            out = self.run_program("fish", "--no-config", "-c", f"source ./script; complete -C {json.dumps(line)}")
            return [row.split("\t")[0] for row in out.splitlines()]

        self.assertIn("solve", offered("allot so"))
        self.assertEqual(offered("allot solve box.toml --objective pri"), ["priority"])
        self.assertIn("--explain", offered("allot solve box.toml --ex"))
        self.assertIn("box.toml", offered("allot solve bo"))
        self.assertEqual(offered("allot compare box.toml --policies map,js"), ["map,jsq"])
        self.assertEqual(offered("allot log job.toml.journal --type d"), ["decode"])
        self.assertIn("exit-status", offered("allot help exi"))

    def at_a_prompt(self, shell, set_up, keys, expected):
        """Types the keys as people do, each line when the one before is answered."""
        process, terminal = pty.fork()
        if process == 0:
            os.chdir(self.folder)
            os.execvpe(shell[0], shell, {**self.environment, "PS1": "ready> ", "PROMPT": "ready> ", "NO_COLOR": "1"})
        seen = b""

        def read_until(pattern, seconds=200):
            nonlocal seen
            end = time.monotonic() + seconds
            begin = len(seen)
            while not re.search(pattern, seen[begin:]):
                ready, _, _ = select.select([terminal], [], [], max(0, end - time.monotonic()))
                if not ready:
                    self.fail(f"{shell[0]}: no {pattern!r} in {seen[begin:]!r}")
                seen += os.read(terminal, 65536)

        try:
            read_until(rb"ready> ")
            os.write(terminal, set_up.encode())
            read_until(rb"ready> ")
            for part in re.split(r"(?<=\t)", keys):
                os.write(terminal, part.encode())
                if part.endswith("\t"):
                    read_until(rb"box.toml" if "solve" in part else expected.encode())
            read_until(rb"tasks/s[\s\S]*ready> ")
        finally:
            os.close(terminal)
            os.waitpid(process, 0)
        return seen.decode(errors="replace")


if __name__ == "__main__":
    unittest.main(verbosity=2)
