#!/usr/bin/env python3
"""tools/setup waits while another program holds the locks of the package manager, and gives up on other errors."""
import os
import pathlib
import stat
import subprocess
import sys
import tempfile
import unittest

SETUP = pathlib.Path(__file__).resolve().parents[2] / "tools" / "setup"


class Setup(unittest.TestCase):
    def run_setup(self, apt_get, patience="60"):
        """Runs it with programs of our own in place of the system's; nothing is installed as far as they know."""
        with tempfile.TemporaryDirectory() as folder:
            def program(name, text):
                path = pathlib.Path(folder) / name
                path.write_text("#!/bin/sh\n" + text)
                path.chmod(path.stat().st_mode | stat.S_IXUSR)
            program("apt-get", apt_get)
            program("dpkg-query", "exit 1\n")
            program("apt-cache", "exit 0\n")
            program("sudo", 'exec "$@"\n')
            program("sleep", "exit 0\n")
            environment = dict(os.environ, PATH=folder + ":" + os.environ["PATH"], ALLOT_SETUP_PATIENCE=patience, CALLS=folder + "/calls")
            done = subprocess.run([SETUP, "format"], env=environment, capture_output=True, text=True, timeout=60)
            calls = pathlib.Path(folder, "calls")
            return done, calls.read_text().split() if calls.exists() else []

    COUNT = """for word; do case $word in update | install) echo $word >> "$CALLS" ;; esac; done
n=$(wc -l < "$CALLS")
"""

    def test_waits_for_the_lists_and_for_dpkg(self):
        done, calls = self.run_setup(self.COUNT + """case $n in
1 | 2) echo 'E: Could not get lock /var/lib/apt/lists/lock. It is held by process 7' >&2; exit 100 ;;
4) echo 'E: Unable to acquire the dpkg frontend lock' >&2; exit 100 ;;
esac
""")
        self.assertEqual(done.returncode, 0, done.stderr)
        self.assertEqual(calls, ["update"] * 3 + ["install"] * 2)
        self.assertEqual(done.stderr.count("waiting for it"), 1)

    def test_other_errors_end_it_at_once(self):
        done, calls = self.run_setup(self.COUNT + "echo 'E: no space left' >&2; exit 100\n")
        self.assertNotEqual(done.returncode, 0)
        self.assertEqual(calls, ["update"])
        self.assertIn("no space left", done.stderr)

    def test_patience_ends(self):
        done, calls = self.run_setup(self.COUNT + "echo 'E: Could not get lock' >&2; exit 100\n", patience="0")
        self.assertNotEqual(done.returncode, 0)
        self.assertEqual(calls, ["update"])


if __name__ == "__main__":
    unittest.main(verbosity=2)
