#!/usr/bin/python3
"""Recipes for other package managers, as far as they can be tried without them: they are taken with stand-ins of the same interface,
and CMake configures the sources that they hand on with the options that they set. One version stands everywhere.

  recipes_test.py BUILD_FOLDER
"""
import importlib.util
import json
import pathlib
import re
import shutil
import subprocess
import sys
import tempfile
import types
import unittest

ROOT = pathlib.Path(__file__).resolve().parents[2]
PACKAGING = ROOT / "packaging"
VERSION = re.search(r"^  VERSION ([0-9.]+)$", (ROOT / "CMakeLists.txt").read_text(), re.MULTILINE)[1]
COMPILER = re.search(r"^CMAKE_CXX_COMPILER:\w+=(.*)$", (pathlib.Path(sys.argv.pop(1)) / "CMakeCache.txt").read_text(), re.MULTILINE)[1]

#: The libraries of cmake/AllotDependencies.cmake: their names for vcpkg and for Conan, which takes one from Debian.
NAMES = {"clp": ("coin-or-clp", "coin-clp"), "nlopt": ("nlopt", "nlopt"), "sqlite3": ("sqlite3", "sqlite3"), "gmpxx": ("gmp", "gmp"),
         "random123": ("random123", "librandom123-dev"), "eigen": ("eigen3", "eigen"), "tomlplusplus": ("tomlplusplus", "tomlplusplus"),
         "nlohmann_json": ("nlohmann-json", "nlohmann_json")}

#: vcpkg's functions: configuring is CMake's, the rest is told.
VCPKG = r"""
function(vcpkg_cmake_configure)
  cmake_parse_arguments(A "" "SOURCE_PATH" "OPTIONS" ${ARGN})
  execute_process(COMMAND "${CMAKE_COMMAND}" -S "${A_SOURCE_PATH}" -B "${BUILD}" "-DCMAKE_CXX_COMPILER=${COMPILER}" ${A_OPTIONS}
                  COMMAND_ERROR_IS_FATAL ANY OUTPUT_QUIET)
endfunction()
foreach(name vcpkg_cmake_install vcpkg_cmake_config_fixup vcpkg_fixup_pkgconfig vcpkg_install_copyright)
  cmake_language(EVAL CODE "function(${name})\n message(STATUS \"${name} \${ARGN}\")\nendfunction()")
endforeach()
include("${PORT}")
"""


def load_recipe():
    """The conanfile, with classes that take whatever is asked of them in the place of Conan's."""
    recorded = {}

    class Anything:
        def __init__(self, *_):
            self.cache_variables = recorded.setdefault("variables", {})

        def __getattr__(self, name):
            return lambda *words: recorded.setdefault(name, words)

    def copy(_, pattern, source, target):
        for path in pathlib.Path(source).glob(pattern + ("*/*" if pattern.endswith("/*") else "")):
            place = pathlib.Path(target) / path.relative_to(source)
            if path.is_file():
                place.parent.mkdir(parents=True, exist_ok=True)
                shutil.copyfile(path, place)

    names = {"conan": {"ConanFile": object}, "conan.tools": {}, "conan.tools.system": {},
             "conan.tools.cmake": {"CMake": Anything, "CMakeDeps": Anything, "CMakeToolchain": Anything, "cmake_layout": lambda _: None},
             "conan.tools.files": {"copy": copy}, "conan.tools.gnu": {"PkgConfigDeps": Anything},
             "conan.tools.system.package_manager": {"Apt": Anything}}
    for name, content in names.items():
        sys.modules[name] = types.ModuleType(name)
        vars(sys.modules[name]).update(content)
    spec = importlib.util.spec_from_file_location("conanfile", PACKAGING / "conan" / "conanfile.py")
    module = importlib.util.module_from_spec(spec)
    sys.dont_write_bytecode = True
    spec.loader.exec_module(module)
    recipe = module.Allot()
    recipe.recipe_folder = str(PACKAGING / "conan")
    return recipe, recorded


class Recipes(unittest.TestCase):
    def setUp(self):
        folder = tempfile.TemporaryDirectory(prefix="allot-recipes-")
        self.addCleanup(folder.cleanup)
        self.folder = pathlib.Path(folder.name)

    def run_cmake(self, *words):
        done = subprocess.run(["cmake", *map(str, words)], capture_output=True, text=True, timeout=300)
        self.assertEqual(done.returncode, 0, done.stdout + done.stderr)
        self.assertNotIn("not used by the project", done.stderr)
        return done

    def test_vcpkg(self):
        manifest = json.loads((PACKAGING / "vcpkg" / "vcpkg.json").read_text())
        self.assertEqual((manifest["name"], manifest["version"]), ("allot", VERSION))
        (self.folder / "try.cmake").write_text(VCPKG)
        done = self.run_cmake(f"-DBUILD={self.folder}/build", f"-DCOMPILER={COMPILER}", f"-DPORT={PACKAGING}/vcpkg/portfile.cmake",
                              f"-DCURRENT_PACKAGES_DIR={self.folder}/packages", "-P", self.folder / "try.cmake")
        self.assertIn("vcpkg_cmake_install", done.stdout)
        self.assertIn("CONFIG_PATH;lib/cmake/allot", done.stdout)
        self.assertTrue((self.folder / "build" / "allotConfig.cmake").exists())

    def test_conan(self):
        recipe, recorded = load_recipe()
        recipe.set_version()
        self.assertEqual(recipe.version, VERSION)
        recipe.export_sources_folder = self.folder / "source"
        recipe.export_sources()
        recipe.system_requirements()
        recipe.generate()
        recipe.build()
        self.assertLessEqual({"configure", "build"}, recorded.keys())
        switches = [f"-D{name}={'ON' if value else 'OFF'}" for name, value in recorded["variables"].items()]
        self.run_cmake("-S", self.folder / "source", "-B", self.folder / "build", f"-DCMAKE_CXX_COMPILER={COMPILER}", *switches)
        self.assertTrue((self.folder / "build" / "allotConfig.cmake").exists())

    def test_both_recipes_have_every_library(self):
        text = (ROOT / "cmake" / "AllotDependencies.cmake").read_text()
        libraries = re.findall(r"^allot_library\(\w+ (\w+)", text, re.MULTILINE) + re.findall(r"^allot_headers_only\((\w+)", text, re.MULTILINE)
        self.assertEqual(set(libraries), NAMES.keys(), "give the library its names in the recipes")
        manifest = json.loads((PACKAGING / "vcpkg" / "vcpkg.json").read_text())["dependencies"]
        ports = {entry if isinstance(entry, str) else entry["name"] for entry in manifest if isinstance(entry, str) or not entry.get("host")}
        self.assertEqual(ports, {vcpkg for vcpkg, _ in NAMES.values()})
        recipe, recorded = load_recipe()
        recipe.system_requirements()
        packages = {name.partition("/")[0] for name in recipe.requires} | set(recorded["install"][0])
        self.assertEqual(packages, {conan for _, conan in NAMES.values()})

    def test_citation(self):
        """It is plain enough to be read without a library for YAML."""
        lines = (ROOT / "CITATION.cff").read_text().splitlines()
        keys = [line.partition(":")[0] for line in lines if line[:1].isalpha()]
        for key in ("cff-version", "message", "title", "authors", "preferred-citation"):
            self.assertEqual(keys.count(key), 1, key)
        self.assertIn(f"version: {VERSION}", lines)
        self.assertIn("    - family-names: Chen", lines)
        self.assertIn("    - family-names: Marculescu", lines)


if __name__ == "__main__":
    unittest.main(verbosity=2)
