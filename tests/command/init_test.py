#!/usr/bin/env python3
"""`allot init` on six kinds of machine, as their /sys and /proc list them, and on this one; what it writes is taken as it is."""
import json
import os
import pathlib
import re
import shutil
import subprocess
import tempfile
import unittest

ALLOT = str(pathlib.Path(os.environ.get("ALLOT", pathlib.Path(__file__).resolve().parents[2] / "build" / "allot")).resolve())
CPU = "sys/devices/system/cpu/"


def siblings(pairs):
    """A listing of hardware threads: for each group of threads of one core the file of each."""
    return {f"{CPU}cpu{cpu}/topology/thread_siblings_list": text + "\n" for cpus, text in pairs for cpu in cpus}


def card(number, vendor, memory=None, product=None):
    files = {f"sys/class/drm/card{number}/device/vendor": vendor + "\n", f"sys/class/drm/card{number}-HDMI-A-1/status": "connected\n"}
    if memory is not None:
        files[f"sys/class/drm/card{number}/device/mem_info_vram_total"] = f"{memory}\n"
    if product:
        files[f"sys/class/drm/card{number}/device/product_name"] = product + "\n"
    return files


# ---- six machines: files below the root, programs, and what is to be found

LAPTOP = {  # a hybrid processor: six fast cores of two threads each, eight small ones; its graphics
    CPU + "online": "0-19\n", "sys/devices/cpu_core/cpus": "0-11\n", "sys/devices/cpu_atom/cpus": "12-19\n",
    "proc/cpuinfo": "processor\t: 0\nmodel name\t: 13th Gen Intel(R) Core(TM) i7-13700H\n",
    **siblings([((2 * k, 2 * k + 1), f"{2 * k}-{2 * k + 1}") for k in range(6)] + [((k,), str(k)) for k in range(12, 20)]),
    **card(1, "0x8086"),
}
SERVER = {  # two sockets of 32 cores, two threads each, far apart in the list; a console that is no GPU
    CPU + "online": "0-127\n", "proc/meminfo": "MemTotal:       527988172 kB\nMemFree:  1 kB\n", "proc/cpuinfo": "model name\t: AMD EPYC 7543 32-Core Processor\n",
    **siblings([((k, k + 64), f"{k},{k + 64}") for k in range(64)]), **card(0, "0x1a03"),
}
BOARD = {  # three kinds of ARM cores, known by their capacity
    CPU + "online": "0-7\n", "sys/firmware/devicetree/base/model": "Radxa ROCK 5B\0",
    **{f"{CPU}cpu{k}/cpu_capacity": f"{capacity}\n" for k, capacity in enumerate([250, 250, 250, 250, 870, 870, 1024, 1024])},
    **siblings([((k,), str(k)) for k in range(8)]),
}
GPU_NODE = {  # 16 cores, two kinds of NVIDIA cards, that nvidia-smi lists with their memory; only cards 0 and 1 can be one resource
    CPU + "online": "0-15\n", "proc/cpuinfo": "model name\t: Intel(R) Xeon(R) Platinum 8480+\n", **card(0, "0x10de"), **card(1, "0x10de"), **card(2, "0x10de"),
    "usr/bin/nvidia-smi": "#!/bin/sh\n[ \"$1\" = --query-gpu=name,memory.total ] || exit 1\n"
                          "printf 'NVIDIA H200, 143771\\nNVIDIA H200, 143771\\nNVIDIA L4, 23034\\nNVIDIA L4, 23034\\n'\n",
}
DRIVER_ONLY = {  # a container with a quota of 2.5 processors, a driver without nvidia-smi, and a card of AMD
    CPU + "online": "0-31\n", "proc/meminfo": "MemTotal:       65809420 kB\n", "sys/fs/cgroup/memory.max": "8589934592\n", "sys/fs/cgroup/cpu.max": "250000 100000\n",
    "proc/driver/nvidia/gpus/0000:01:00.0/information": "Model: \t\t NVIDIA GeForce RTX 3090\nIRQ:   \t\t 140\n",
    **card(0, "0x10de"), **card(1, "0x1002", 17163091968, "Radeon RX 7800 XT"),
}
LOGIN_NODE = {  # of a cluster: Slurm has partitions; a name that could not be one is left out
    CPU + "online": "0,2-3\n",
    "usr/bin/sinfo": "#!/bin/sh\nprintf 'batch|120|(null)\\nbatch|8|gpu:a100:4\\ngpu|16|gpu:h100:8(S:0-1)\\nx\"]; rm|1|(null)\\n'\n",
}
MACHINES = {
    "laptop": (LAPTOP, [("p-core", 6, "0-11"), ("e-core", 8, "12-19")], [("gpu", "Intel GPU", 1, None)], []),
    "server": (SERVER, [("cpu", 64, "0-127")], [], []),
    "board": (BOARD, [("big", 2, "6-7"), ("middle", 2, "4-5"), ("little", 4, "0-3")], [], []),
    "gpu node": (GPU_NODE, [("cpu", 16, "0-15")], [("gpu", "NVIDIA H200", 2, 143771 << 20), ("gpu-2", "NVIDIA L4", 1, 23034 << 20), ("gpu-3", "NVIDIA L4", 1, 23034 << 20)], []),
    "driver only": (DRIVER_ONLY, [("cpu", 3, "0-31")], [("gpu", "NVIDIA GeForce RTX 3090", 1, None), ("gpu-2", "Radeon RX 7800 XT", 1, 17163091968)], []),
    "login node": (LOGIN_NODE, [("cpu", 3, "0,2-3")], [], [("batch", 128), ("gpu", 16)]),
}


class Init(unittest.TestCase):
    def setUp(self):
        self.folder = pathlib.Path(tempfile.mkdtemp(prefix="allot-init-"))
        self.addCleanup(shutil.rmtree, self.folder, ignore_errors=True)

    def allot(self, *words, expect=0):
        done = subprocess.run([ALLOT, *words], cwd=self.folder, capture_output=True, text=True, timeout=240)
        self.assertEqual(done.returncode, expect, f"{words}\n{done.stdout}\n{done.stderr}")
        return done

    def machine(self, files):
        root = self.folder / "root"
        shutil.rmtree(root, ignore_errors=True)
        root.mkdir()
        for name, text in files.items():
            path = root / name
            path.parent.mkdir(parents=True, exist_ok=True)
            path.write_text(text)
            if name.startswith("usr/bin/"):
                path.chmod(0o755)
        return str(root)

    def test_each_machine_is_seen_as_it_is(self):
        for name, (files, cores, gpus, partitions) in MACHINES.items():
            with self.subTest(machine=name):
                root = self.machine(files)
                for old in self.folder.glob("*.toml*"):
                    old.unlink() if old.is_file() else shutil.rmtree(old)
                found = json.loads(self.allot("init", "--root", root, "--json").stdout)
                self.assertEqual([(c["name"], c["cores"], c["threads"]) for c in found["cores"]], cores)
                self.assertEqual([(g["name"], g["model"], g["count"], g["memory"]) for g in found["gpus"]], gpus)
                self.assertEqual([(p["name"], p["nodes"]) for p in found["partitions"]], partitions)
                self.assertEqual(found["file"], "scenario.toml")
                # The file says the same, and is taken as it is.
                text = (self.folder / "scenario.toml").read_text()
                answer = json.loads(self.allot("solve", "scenario.toml", "--json").stdout)
                self.assertEqual(answer["resources"], [core[0] for core in cores] + [gpu[0] for gpu in gpus])
                for _, model, _, memory in gpus:
                    self.assertIn(model + (f", {memory / (1 << 30):.0f} GiB" if memory else ""), text)
                for partition, nodes in partitions:
                    self.assertIn(f'# name = "slurm-{partition}"\n# servers = {nodes}', text)
                self.allot("init", "--jobs", "--root", root)
                dry = json.loads(self.allot("run", "jobs.toml", "--dry-run", "--json").stdout)
                self.assertTrue(dry)

    def test_memory_is_that_of_the_machine_or_of_the_group(self):
        for files, memory in ((SERVER, 527988172 << 10), (DRIVER_ONLY, 8 << 30), (BOARD, None)):
            (self.folder / "scenario.toml").unlink(missing_ok=True)
            found = json.loads(self.allot("init", "--root", self.machine(files), "--json").stdout)
            self.assertEqual(found["memory"], memory)
            text = (self.folder / "scenario.toml").read_text()
            self.assertEqual(re.findall(r'^# name = "memory"\n# amount = (\d+)', text, re.MULTILINE), [str(memory >> 30)] if memory else [])
            # Without the # it is a capacity.
            (self.folder / "more.toml").write_text(re.sub(r"^# (\[\[cap|name = \"mem|amount)", r"\1", text, flags=re.MULTILINE))
            self.allot("solve", "more.toml")

    def cores_and_memory(self, files):
        (self.folder / "scenario.toml").unlink(missing_ok=True)
        found = json.loads(self.allot("init", "--root", self.machine(files), "--json").stdout)
        self.allot("solve", "scenario.toml")
        return [(kind["name"], kind["cores"]) for kind in found["cores"]], found["memory"]

    def test_a_quota_is_for_all_kinds_of_cores_together(self):
        for microseconds, cores in ((400000, [("p-core", 4)]), (850000, [("p-core", 6), ("e-core", 3)]), (9900000, [("p-core", 6), ("e-core", 8)])):
            self.assertEqual(self.cores_and_memory({**LAPTOP, "sys/fs/cgroup/cpu.max": f"{microseconds} 100000\n"})[0], cores)

    def test_limits_of_groups_within_groups_count(self):
        top, memory = "sys/fs/cgroup/", {"proc/meminfo": "MemTotal: 67108864 kB\n"}
        nested = {**SERVER, **memory, "proc/self/cgroup": "0::/pod.slice/a b/leaf\n", top + "cpu.max": "max 100000\n", top + "pod.slice/cpu.max": "600000 100000\n",
                  top + "pod.slice/a b/cpu.max": "max 100000\n", top + "pod.slice/a b/leaf/cpu.max": "800000 100000\n", top + "pod.slice/a b/memory.max": f"{4 << 30}\n",
                  top + "pod.slice/memory.max": "max\n", top + "other/cpu.max": "100000 100000\n"}
        self.assertEqual(self.cores_and_memory(nested), ([("cpu", 6)], 4 << 30))
        first = {**SERVER, **memory, "proc/self/cgroup": "5:memory:/job\n4:cpu,cpuacct:/job/step\n0::/\n", top + "cpu/job/step/cpu.cfs_quota_us": "-1\n",
                 top + "cpu/job/step/cpu.cfs_period_us": "100000\n", top + "cpu/job/cpu.cfs_quota_us": "350000\n", top + "cpu/job/cpu.cfs_period_us": "100000\n",
                 top + "memory/memory.limit_in_bytes": "9223372036854771712\n", top + "memory/job/memory.limit_in_bytes": f"{2 << 30}\n"}
        self.assertEqual(self.cores_and_memory(first), ([("cpu", 4)], 2 << 30))
        # In a container of version 1, the group's folder is the top; its path is that of the machine outside.
        inside = {**SERVER, **memory, "proc/self/cgroup": "4:cpu,cpuacct:/docker/1a2b\n", top + "cpu/cpu.cfs_quota_us": "150000\n", top + "cpu/cpu.cfs_period_us": "100000\n"}
        self.assertEqual(self.cores_and_memory(inside), ([("cpu", 2)], 64 << 30))
        outside = {**SERVER, **memory, "proc/self/cgroup": "0::/../../x\n", "sys/cpu.max": "100000 100000\n"}
        self.assertEqual(self.cores_and_memory(outside), ([("cpu", 64)], 64 << 30))

    def test_cores_of_almost_the_same_capacity_are_of_one_kind(self):
        def board(*capacities):
            files = {CPU + "online": f"0-{len(capacities) - 1}\n"}
            return {**files, **{f"{CPU}cpu{k}/cpu_capacity": f"{capacity}\n" for k, capacity in enumerate(capacities)}}

        self.assertEqual(self.cores_and_memory(board(1024, 1024, 1009, 1009))[0], [("cpu", 4)])
        self.assertEqual(self.cores_and_memory(board(250, 246, 1024, 990))[0], [("big", 2), ("little", 2)])
        self.assertEqual(self.cores_and_memory(board(250, 600, 900, 1024))[0], [("big", 1), ("middle-1", 1), ("middle-2", 1), ("little", 1)])

    def test_each_task_sees_the_card_of_its_slot(self):
        text = self.allot("init", "-", "--jobs", "--root", self.machine(GPU_NODE)).stdout
        self.assertEqual(re.findall(r'CUDA_VISIBLE_DEVICES = "(.*?)", CUDA_DEVICE_ORDER = "PCI_BUS_ID"', text), ["{%%}", "2", "3"])
        self.assertIn("'needs = { gpu-2 = { gpu-2 = 0.5 } }'", text)
        text = self.allot("init", "-", "--jobs", "--root", self.machine(DRIVER_ONLY)).stdout
        self.assertIn('env = { CUDA_VISIBLE_DEVICES = "0" }', text)
        self.assertIn('env = { ROCR_VISIBLE_DEVICES = "0" }', text)

    def test_a_job_file_is_taken_by_profile_and_run(self):
        for name, (files, *_) in MACHINES.items():
            with self.subTest(machine=name):
                self.allot("init", f"{name}.toml", "--jobs", "--root", self.machine(files))
                self.allot("profile", f"{name}.toml", "--min-runs", "2", "--min-time", "0", "--max-time", "1s", "--mixed-time", "0.1s")
                self.allot("solve", f"{name}.rates.toml")
                self.allot("run", f"{name}.toml")

    def test_this_machine_is_seen(self):
        found = json.loads(self.allot("init", "--json").stdout)
        threads = set()
        for kind in found["cores"]:
            for part in kind["threads"].split(","):
                first, _, last = part.partition("-")
                threads.update(range(int(first), int(last or first) + 1))
        self.assertEqual(threads, os.sched_getaffinity(0))
        self.allot("solve", "scenario.toml")

    def test_nothing_is_overwritten(self):
        (self.folder / "scenario.toml").write_text("mine")
        (self.folder / "link.toml").symlink_to(self.folder / "elsewhere")
        self.assertIn("exists already", self.allot("init", expect=1).stderr)
        self.allot("init", "link.toml", expect=1)
        self.assertEqual((self.folder / "scenario.toml").read_text(), "mine")
        self.assertFalse((self.folder / "elsewhere").exists())
        self.allot("init", "no/such/folder.toml", expect=1)
        self.allot("init", "a.json", expect=2)
        self.allot("init", "-", "--json", expect=2)

    def test_editors_find_the_schema(self):
        for words, title in ((("init", "-"), "scenario"), (("init", "-", "--jobs"), "job"), (("generate",), "scenario")):
            text = self.allot(*words).stdout
            path = re.match(r"#:schema (/\S+\.schema\.json)\n", text).group(1)
            schema = json.loads(pathlib.Path(path).read_text())
            self.assertIn(title, schema["title"].lower())
        generated = json.loads(self.allot("generate", "--json").stdout)
        self.assertTrue(pathlib.Path(generated["$schema"]).exists())
        (self.folder / "machine.json").write_text(json.dumps(generated))
        self.allot("solve", "machine.json")
        for wrong in ({"$schema": 3}, {"name": "a", "resources": [{"name": "c", "$schema": "x"}]}):
            (self.folder / "machine.json").write_text(json.dumps({**generated, **wrong}))
            self.assertIn("unknown key '$schema'", self.allot("solve", "machine.json", expect=3).stderr)

    def test_listings_that_make_no_sense_give_a_file_all_the_same(self):
        odd = {CPU + "online": "0-99999999999,x,7-3\n", "sys/devices/cpu_core/cpus": "a\n", "sys/fs/cgroup/cpu.max": "max 100000\n",
               "proc/cpuinfo": "model name\t: \x1b[2J\"]\n[[resources]]\n", "usr/bin/nvidia-smi": "#!/bin/sh\nprintf 'a\\001b\"\\n, x\\n,\\n'\n",
               "usr/bin/sinfo": "#!/bin/sh\nexit 1\n", **card(0, "0x1002", -5, "a\x07\"]")}
        for files in ({}, odd):
            (self.folder / "scenario.toml").unlink(missing_ok=True)
            self.allot("init", "--root", self.machine(files))
            self.allot("solve", "scenario.toml")
            self.assertNotIn("\x1b", (self.folder / "scenario.toml").read_text())


if __name__ == "__main__":
    unittest.main(verbosity=2)
