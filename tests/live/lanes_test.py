#!/usr/bin/env python3
"""Resources with a `launch` prefix, with stand-ins for ssh and the like: what tasks see, launchers that talk, and
launchers that never work."""
import collections
import os
import pathlib
import sys

sys.path.insert(0, str(pathlib.Path(__file__).parent))
from live import LiveTest, main  # noqa: E402

# As ssh does: another folder, a greeting, an environment of its own, and the words as one line for a shell.
SSH = """#!/bin/sh
echo "Welcome to $1!"
echo "Last login: yesterday" >&2
shift
cd /
exec env -i PATH="$PATH" sh -c "$*"
"""


class Lanes(LiveTest):
    def stand_in(self, name, text):
        path = self.write(name, text)
        path.chmod(0o755)
        return str(path)

    def test_a_launcher_that_greets_and_goes_elsewhere(self):
        ssh = self.stand_in("ssh", SSH)
        self.write("in.txt", "a b\nc\n")
        self.job({"other": {"servers": 2, "launch": [ssh, "other"], "env": {"SLOT": "{%}"}}},
                 {"t": {"inputs_from": "in.txt", "output": "out/{}.txt", "directory": "sub",
                        "command": ["sh", "-c", 'echo "$1"; pwd; echo "$ALLOT_RESOURCE $ALLOT_SLOT $SLOT" >&2', "sh", "{}"]}})
        (self.folder / "sub").mkdir()
        # Not from the job file's folder.
        self.run_allot("run", self.folder / "job.toml", cwd="/")
        for value in ("a b", "c"):
            self.assertEqual((self.folder / f"out/{value}.txt").read_text(), f"{value}\n{self.folder}/sub\n")
        rows = self.log()
        self.assertEqual([row["status"] for row in rows], ["ok", "ok"])
        said = [path.read_text() for path in (self.folder / "job.toml.journal.out").glob("*.err")]
        self.assertEqual(len(said), 2)
        for row in rows:
            self.assertIn(f"other {row['slot']} {row['slot']}\n", said)

    def test_a_launcher_that_never_works_is_given_up_and_its_tasks_run_elsewhere(self):
        refuses = self.stand_in("refuses", "#!/bin/sh\necho closed >&2; exit 3\n")
        for launch, tasks, policy in (([refuses], 150, []), (["false"], 150, ["--policy", "jsq"]),
                                      (["no-such-launcher-anywhere"], 20, []),
                                      (["no-such-launcher-anywhere"], 20, ["--policy", "jsq"])):
            with self.subTest(launch=launch, policy=policy):
                self.job({"bad": {"servers": 3, "launch": launch}, "here": {}},
                         {"t": {"repeat": tasks, "command": ["sleep", "0.1"]}})
                _, _, err = self.run_allot("run", "job.toml", "--fresh", *policy)
                rows = self.log()
                self.assertEqual(collections.Counter(row["status"] for row in rows), {"ok": tasks})
                self.assertEqual({row["resource"] for row in rows}, {"here"})
                self.assertRegex(err, "resource 'bad' is given up for now|a lane of 'bad' did not open and is tried again")
                self.assertLessEqual(err.count("tried again"), 6, err)

    def test_tasks_that_can_run_nowhere_else_stay_for_another_run(self):
        self.job({"bad": {"servers": 3, "launch": ["no-such-launcher-anywhere"]}, "here": {}},
                 {"t": {"repeat": 5, "command": {"bad": ["true"]}}, "u": {"repeat": 5, "command": {"here": ["true"]}}})
        _, _, err = self.run_allot("run", "job.toml", expect=1)
        self.assertIn("cannot execute no-such-launcher-anywhere", err)
        self.assertEqual(collections.Counter((row["task"][0], row["status"]) for row in self.log()), {("u", "ok"): 5})
        launcher = self.stand_in("no-such-launcher-anywhere", '#!/bin/sh\nexec "$@"\n')
        self.run_allot("run", "job.toml", env={**os.environ, "PATH": str(pathlib.Path(launcher).parent) + ":" + os.environ["PATH"]})
        self.assertEqual(len(self.finals()), 10)

    def test_work_goes_on_while_a_launcher_waits(self):
        # A queue that never moves: what is to be learnt there does not hold up the last task either.
        waits = self.stand_in("waits", "#!/bin/sh\nexec sleep 1000\n")
        for policy in ([], ["--policy", "jsq"]):
            with self.subTest(policy=policy):
                self.job({"queue": {"servers": 4, "launch": [waits]}, "here": {"servers": 2}},
                         {"t": {"repeat": 80, "command": ["sleep", "0.1"]}})
                _, _, err = self.run_allot("run", "job.toml", "--fresh", *policy, timeout=60)
                self.assertEqual(len(self.finals()), 80)
                self.assertIn("no worker of 'queue' is connected", err)

    def test_a_launcher_that_comes_late_is_used(self):
        late = self.stand_in("late", '#!/bin/sh\nsleep 4\nexec "$@"\n')
        self.job({"late": {"servers": 4, "launch": [late]}, "here": {"servers": 1}},
                 {"t": {"repeat": 150, "command": ["sleep", "0.1"]}})
        self.run_allot("run", "job.toml")
        used = collections.Counter(row["resource"] for row in self.log())
        self.assertEqual(sum(used.values()), 150)
        self.assertGreater(used["late"], 0)


if __name__ == "__main__":
    main()
