#!/usr/bin/python3
"""What `tools/sbom` says allot is made of is SPDX 2.3: nothing is missing, nothing hangs in the air, and licences are known where Debian says
them so that programs can read it.

Skipped (77) outside of git, whose last commit it names.
"""
import json
import pathlib
import re
import subprocess
import sys
import unittest

ROOT = pathlib.Path(__file__).resolve().parents[2]
#: What Debian calls licences that are none of SPDX's list.
WITHOUT_NAME = {"public-domain", "other", "BSD-like", "Zsh", "GPL-2+ with OpenSSL exception"}
#: Of SPDX 2.3, section 11.
RELATIONSHIPS = {"DESCRIBES", "CONTAINED_BY", "RUNTIME_DEPENDENCY_OF", "BUILD_DEPENDENCY_OF", "TEST_DEPENDENCY_OF", "DEV_DEPENDENCY_OF", "DEV_TOOL_OF"}
LICENCE = re.compile(r"NOASSERTION$|[(]?[A-Za-z0-9.-]+( WITH [A-Za-z0-9.-]+)?[)]?( (AND|OR) [(]?[A-Za-z0-9.-]+( WITH [A-Za-z0-9.-]+)?[)]?)*$")


def made():
    return subprocess.run([str(ROOT / "tools" / "sbom"), "1.2.3"], capture_output=True, text=True, check=True, timeout=300).stdout


class Sbom(unittest.TestCase):
    @classmethod
    def setUpClass(cls):
        cls.text = made()
        cls.document = json.loads(cls.text)
        cls.packages = {package["SPDXID"]: package for package in cls.document["packages"]}

    def test_it_is_an_spdx_document(self):
        document = self.document
        self.assertEqual((document["spdxVersion"], document["dataLicense"], document["SPDXID"]), ("SPDX-2.3", "CC0-1.0", "SPDXRef-DOCUMENT"))
        self.assertRegex(document["documentNamespace"], r"^urn:uuid:[0-9a-f-]{36}$")
        self.assertRegex(document["creationInfo"]["created"], r"^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\dZ$")
        self.assertRegex(document["creationInfo"]["creators"][0], r"^Tool: \S+-1\.2\.3$")
        self.assertEqual(len(self.packages), len(document["packages"]), "an id stands twice")
        for name, package in self.packages.items():
            self.assertRegex(name, r"^SPDXRef-[A-Za-z0-9.-]+$")
            self.assertLessEqual({"name", "versionInfo", "downloadLocation", "filesAnalyzed", "licenseConcluded", "licenseDeclared", "copyrightText"}, package.keys())
            self.assertRegex(package["licenseDeclared"], LICENCE)
            self.assertRegex(package["externalRefs"][0]["referenceLocator"], r"^pkg:(deb/debian|npm|generic)/\S+@\S+$")
            for checksum in package.get("checksums", []):
                self.assertEqual((checksum["algorithm"], len(checksum["checksumValue"])), ("SHA512", 128))

    def test_every_package_has_its_place(self):
        related = []
        for relationship in self.document["relationships"]:
            ends = {relationship["spdxElementId"], relationship["relatedSpdxElement"]}
            self.assertLessEqual(ends, {"SPDXRef-DOCUMENT", *self.packages})
            self.assertIn("SPDXRef-allot", ends)
            self.assertIn(relationship["relationshipType"], RELATIONSHIPS)
            related += ends - {"SPDXRef-allot"}
        self.assertEqual(sorted(related), sorted({"SPDXRef-DOCUMENT", *self.packages} - {"SPDXRef-allot"}))
        kinds = {package["externalRefs"][0]["referenceLocator"].partition("/")[0] for package in self.packages.values()}
        self.assertEqual(kinds, {"pkg:deb", "pkg:npm", "pkg:generic"})
        inside = {r["spdxElementId"] for r in self.document["relationships"] if r["relationshipType"] == "CONTAINED_BY"}
        self.assertIn("nlohmann-json3-dev", {self.packages[name]["name"] for name in inside})

    def test_licences_that_debian_says_are_known(self):
        for package in self.packages.values():
            path = pathlib.Path("/usr/share/doc", package["name"], "copyright")
            text = path.read_text(errors="replace") if "deb/" in package["externalRefs"][0]["referenceLocator"] and path.exists() else ""
            stanzas = [stanza for stanza in re.split(r"\n\s*\n", text) if re.search(r"^Files: *\*\s", stanza, re.MULTILINE)]
            said = re.search(r"^License: *(\S.*?) *$", stanzas[0], re.MULTILINE) if stanzas else None
            if said and said[1] not in WITHOUT_NAME:
                self.assertNotEqual(package["licenseDeclared"], "NOASSERTION", f"{package['name']}: {said[1]}")
            elif "npm/" in package["externalRefs"][0]["referenceLocator"]:
                self.assertNotEqual(package["licenseDeclared"], "NOASSERTION", package["name"])

    def test_the_same_commit_and_packages_give_the_same_document(self):
        self.assertEqual(made(), self.text)


if __name__ == "__main__":
    if subprocess.run(["git", "-C", str(ROOT), "rev-parse", "HEAD"], capture_output=True).returncode != 0:
        sys.exit(77)
    unittest.main(verbosity=2)
