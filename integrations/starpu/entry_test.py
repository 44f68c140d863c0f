#!/usr/bin/env python3
"""The ways in: linked and preloaded, and who decides which policy it is.

  entry_test.py LIBRARY LINKED_PROGRAM OTHER_PROGRAM
"""
import ctypes
import errno
import json
import os
import pathlib
import re
import subprocess
import sys
import tempfile
import unittest

LIBRARY, LINKED, OTHER = sys.argv[1:4]


class Entry(unittest.TestCase):
    def start(self, program, preload=False, **variables):
        """(status, what it said, the policy that its statistics name: the same both times that it starts StarPU)"""
        with tempfile.TemporaryDirectory(prefix="allot-starpu-") as folder:
            stats = pathlib.Path(folder) / "stats.json"
            clean = {k: v for k, v in os.environ.items() if not re.match("STARPU_|ALLOT_|LD_PRELOAD$", k)}
            clean.update(STARPU_HOME=folder, STARPU_SILENT="1", STARPU_WORKERS_NOBIND="1", STARPU_NCPU="2", STARPU_NOPENCL="0",
                         ALLOT_STATS=str(stats), **variables)
            if preload:
                clean["LD_PRELOAD"] = LIBRARY
            done = subprocess.run([program], env=clean, capture_output=True, text=True, timeout=120, check=False)
            policies = [json.loads(file.read_text(encoding="utf-8"))["policy"] for file in sorted(pathlib.Path(folder).glob("stats*.json"))]
            self.assertIn(len(policies), (0, 2), "each start of StarPU has the policy, or none has")
            self.assertEqual(len(set(policies) | {None}), 2 if policies else 1, policies)
            return done.returncode, done.stdout + done.stderr, policies[0] if policies else None

    def test_a_linked_program_has_the_policy_that_it_names_unless_told_otherwise(self):
        self.assertEqual(self.start(LINKED)[::2], (0, "allot-map"))
        for policy in ("allot-mis", "allot-weighted"):
            self.assertEqual(self.start(LINKED, STARPU_SCHED=policy)[::2], (0, policy))
        self.assertEqual(self.start(LINKED, STARPU_SCHED="eager")[::2], (0, None))

    def test_a_preloaded_library_serves_map_unless_told_otherwise(self):
        self.assertEqual(self.start(OTHER, True)[::2], (0, "allot-map"))
        self.assertEqual(self.start(OTHER, True, STARPU_SCHED="allot-weighted")[::2], (0, "allot-weighted"))
        self.assertEqual(self.start(OTHER, True, STARPU_SCHED="eager")[::2], (0, None))

    def test_the_program_finds_its_variables_as_they_were(self):
        self.assertEqual(self.start(OTHER, True)[1].count("STARPU_SCHED is not set"), 2)
        self.assertEqual(self.start(OTHER, True, STARPU_SCHED="allot-mis")[1].count("STARPU_SCHED is allot-mis"), 2)

    def test_a_policy_that_is_not_there_is_an_error_that_names_those_that_are(self):
        status, said, policy = self.start(LINKED, STARPU_SCHED="allot-best")
        self.assertEqual((status, policy), (1, None))
        self.assertIn(f"starpu_init: {-errno.ENODEV}", said)
        for word in ("'allot-best'", "allot-map", "allot-mis", "allot-weighted", "allot-planned"):
            self.assertIn(word, said)

    def test_settings_that_cannot_be_read_are_named_and_ignored(self):
        status, said, policy = self.start(OTHER, True, ALLOT_DEPTH="deep")
        self.assertEqual((status, policy), (0, "allot-map"))
        self.assertIn("ALLOT_DEPTH=deep is ignored", said)

    def test_starpu_1_4_finds_its_functions(self):
        library = ctypes.CDLL(LIBRARY)
        library.starpu_get_sched_lib_policy.restype = ctypes.c_void_p
        library.starpu_get_sched_lib_policies.restype = ctypes.POINTER(ctypes.c_void_p)
        policies = library.starpu_get_sched_lib_policies()
        for at, name in enumerate((b"allot-map", b"allot-mis", b"allot-weighted", b"allot-planned")):
            self.assertEqual(library.starpu_get_sched_lib_policy(name), policies[at])
        self.assertIsNone(policies[4])
        self.assertIsNone(library.starpu_get_sched_lib_policy(b"dmda"))


if __name__ == "__main__":
    unittest.main(argv=sys.argv[:1])
