"""Builds the native part of the Python module with CMake; all else is in pyproject.toml.

CMAKE_ARGS in the environment holds further arguments for CMake, such as -D ALLOT_WITH_CLP=OFF; ALLOT_NATIVE the path of a
native part that was built already.
"""
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


class BuildWithCMake(build_ext):
    def build_extension(self, extension):
        module = pathlib.Path(self.get_ext_fullpath(extension.name)).resolve()
        native = os.environ.get("ALLOT_NATIVE") or self.native_part(module.name)
        module.parent.mkdir(parents=True, exist_ok=True)
        shutil.copyfile(native, module)

    def native_part(self, name):
        build = pathlib.Path(self.build_temp).resolve()
        settings = {
            "CMAKE_BUILD_TYPE": "Release",
            "Python3_EXECUTABLE": sys.executable,
            "ALLOT_WITH_PYTHON": "ON",
            "ALLOT_BUILD_APPS": "OFF",
            "ALLOT_BUILD_TESTS": "OFF",
            # As in the preset `release`: a third of the time.
            "ALLOT_PRECOMPILE": "ON",
            "ALLOT_TOGETHER": "ON",
            "ALLOT_EDGE_FLAGS": "-O1",
        }
        configure = ["cmake", "-S", ROOT, "-B", build]
        if shutil.which("ninja"):
            configure += ["-G", "Ninja"]
        for name, value in settings.items():
            configure += ["-D", f"{name}={value}"]
        subprocess.run([*configure, *shlex.split(os.environ.get("CMAKE_ARGS", ""))], check=True)
        subprocess.run(["cmake", "--build", build, "--target", "allot_python", "--parallel"], check=True)
        return build / "integrations/python/allot" / name


version = re.search(r"^ *VERSION ([0-9.]+)$", (ROOT / "CMakeLists.txt").read_text(), re.MULTILINE)[1]
(ROOT / "build").mkdir(exist_ok=True)
setup(
    version=version,
    ext_modules=[Extension("allot._native", [])],
    cmdclass={"build_ext": BuildWithCMake},
    options={"egg_info": {"egg_base": "build"}},
)
