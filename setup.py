"""Builds the native part of the Python module with CMake; all else is in pyproject.toml.

CMAKE_ARGS in the environment holds further arguments for CMake, such as -D ALLOT_WITH_CLP=OFF; ALLOT_NATIVE the path of a
native part that was built already.
"""
import json
import os
import pathlib
import re
import shlex
import shutil
import subprocess
import sys

from setuptools import Extension, setup
from setuptools.command.build_ext import build_ext

ROOT = pathlib.Path(__file__).resolve().parent


def has_pybind11():
    """Whether CMake finds the system's; else it comes from the package index, as cmake itself does."""
    shares = [pathlib.Path(prefix, folder) for prefix in ("/usr", "/usr/local") for folder in ("lib", "share")]
    return any((share / "cmake/pybind11").is_dir() for share in shares)


def missing_packages():
    """Of what the native part is built with, in Debian's names; on other systems all of it, as nobody can look."""
    lines = [line.split() for line in (ROOT / "tools/packages.txt").read_text().splitlines() if line and line[0] != "#"]
    wanted = [package for group, package, *_ in lines if group == "build" or package in ("pybind11-dev", "python3-dev")]
    if not shutil.which("dpkg-query"):
        return wanted
    listed = subprocess.run(["dpkg-query", "-W", "-f", "${Package} ${db:Status-Status}\n"], capture_output=True, text=True)
    there = {line.split()[0] for line in listed.stdout.splitlines() if line.endswith(" installed")}
    return [package for package in wanted if package not in there]


def compiled_as_released():
    """How the preset `release` compiles, which takes a third of the time; ccache may have it all."""
    presets = json.loads((ROOT / "CMakePresets.json").read_text())["configurePresets"]
    return next(preset["cacheVariables"] for preset in presets if preset["name"] == "release")


def run(*words):
    """Runs a step of the build; where it fails, says what is not there."""
    try:
        subprocess.run(words, check=True)
    except (OSError, subprocess.CalledProcessError) as error:
        missing = missing_packages()
        hint = "these packages are missing (in Debian's names): " + " ".join(missing) if missing else "see above"
        sys.exit(f"allot: {words[0]} failed ({error}).\nallot: {hint}\nallot: tools/setup build python installs them")


class BuildWithCMake(build_ext):
    def build_extension(self, extension):
        module = pathlib.Path(self.get_ext_fullpath(extension.name)).resolve()
        native = os.environ.get("ALLOT_NATIVE") or self.native_part(module.name)
        module.parent.mkdir(parents=True, exist_ok=True)
        shutil.copyfile(native, module)

    def native_part(self, module):
        build = pathlib.Path(self.build_temp).resolve()
        settings = {
            "Python3_EXECUTABLE": sys.executable,
            "ALLOT_WITH_PYTHON": "ON",
            "ALLOT_BUILD_APPS": "OFF",
            **compiled_as_released(),
            "ALLOT_BUILD_TESTS": "OFF",
            "ALLOT_BUILD_BENCH": "OFF",
        }
        configure = ["cmake", "-S", ROOT, "-B", build]
        if shutil.which("ninja"):
            configure += ["-G", "Ninja"]
        for name, value in settings.items():
            configure += ["-D", f"{name}={value}"]
        if not has_pybind11():
            import pybind11

            configure += ["-D", f"pybind11_DIR={pybind11.get_cmake_dir()}"]
        run(*configure, *shlex.split(os.environ.get("CMAKE_ARGS", "")))
        run("cmake", "--build", build, "--target", "allot_python", "--parallel")
        return build / "integrations/python/allot" / module


version = re.search(r"^ *VERSION ([0-9.]+)$", (ROOT / "CMakeLists.txt").read_text(), re.MULTILINE)[1]
(ROOT / "build").mkdir(exist_ok=True)
is_built = bool(os.environ.get("ALLOT_NATIVE"))
setup(
    version=version,
    ext_modules=[Extension("allot._native", [])],
    cmdclass={"build_ext": BuildWithCMake},
    setup_requires=[
        *([] if is_built or has_pybind11() else ["pybind11>=2.10"]),
        *([] if is_built or shutil.which("cmake") else ["cmake>=3.22"]),
    ],
    options={"egg_info": {"egg_base": "build"}},
)
