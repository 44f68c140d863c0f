"""The library as a Conan 2 package: conan create packaging/conan"""
import pathlib
import re

from conan import ConanFile
from conan.tools.cmake import CMake, CMakeDeps, CMakeToolchain, cmake_layout
from conan.tools.files import copy
from conan.tools.gnu import PkgConfigDeps
from conan.tools.system.package_manager import Apt


class Allot(ConanFile):
    name = "allot"
    description = "Decides where each task runs on a heterogeneous machine"
    license = "Apache-2.0"
    package_type = "library"
    settings = "os", "arch", "compiler", "build_type"
    options = {"shared": [True, False], "fPIC": [True, False]}
    default_options = {"shared": False, "fPIC": True, "gmp/*:enable_cxx": True}
    requires = ("coin-clp/1.17.7", "eigen/3.4.0", "gmp/6.3.0", "nlohmann_json/3.11.3", "nlopt/2.7.1", "sqlite3/3.45.0", "tomlplusplus/3.4.0")

    def set_version(self):
        lists = pathlib.Path(self.recipe_folder, "..", "..", "CMakeLists.txt").read_text()
        self.version = re.search(r"^ *VERSION ([0-9.]+)$", lists, re.MULTILINE)[1]

    def export_sources(self):
        root = pathlib.Path(self.recipe_folder, "..", "..")
        for pattern in ("CMakeLists.txt", "LICENSE", "allot/*", "cmake/*", "integrations/wasm/CMakeLists.txt"):
            copy(self, pattern, root, self.export_sources_folder)

    def system_requirements(self):
        # Headers that Conan has no recipe for.
        Apt(self).install(["librandom123-dev"])

    def layout(self):
        cmake_layout(self)

    def generate(self):
        CMakeDeps(self).generate()
        PkgConfigDeps(self).generate()
        toolchain = CMakeToolchain(self)
        for name in ("BUILD_APPS", "BUILD_TESTS", "BUILD_EXAMPLES", "BUILD_REAL_MACHINE", "WITH_MPI", "WITH_PYTHON", "WITH_STARPU"):
            toolchain.cache_variables["ALLOT_" + name] = False
        toolchain.generate()

    def build(self):
        cmake = CMake(self)
        cmake.configure()
        cmake.build()

    def package(self):
        copy(self, "LICENSE", self.source_folder, pathlib.Path(self.package_folder, "licenses"))
        CMake(self).install()

    def package_info(self):
        # find_package(allot) takes the files that allot installs itself.
        self.cpp_info.set_property("cmake_find_mode", "none")
        self.cpp_info.builddirs = ["lib/cmake/allot"]
        self.cpp_info.libs = ["allot"]
