# SPDX-License-Identifier: BSD-3-Clause
"""What laple-grid answers to a wrong command line or scenario. Raises nothing and needs no rights."""
import os
import subprocess
import sys
import tempfile
import unittest

LAPLE_GRID, JOB = sys.argv[1:3]

GOOD = """{
"format": "laple-grid-1",
"name": "tiny",
"description": "two hosts",
"nic": "100Mbit",
"sites": [{"name": "a", "hosts": 2}]
}
"""


def laple_grid(*arguments):
    return subprocess.run([LAPLE_GRID, *arguments], capture_output=True, text=True, timeout=60)


class CommandLine(unittest.TestCase):
    def check(self, arguments, *parts):
        result = laple_grid(*arguments)
        self.assertEqual(result.returncode, 2, result.stderr)
        self.assertEqual(result.stdout, "")
        for part in parts:
            self.assertIn(part, result.stderr)

    def test_help_begins_with_examples(self):
        result = laple_grid("--help")
        self.assertEqual(result.returncode, 0)
        self.assertTrue(result.stdout.startswith("Examples:"))

    def test_version(self):
        self.assertRegex(laple_grid("--version").stdout, r"^laple-grid \d")

    def test_wrong_options(self):
        self.check([], "subcommand")
        self.check(["run", "--nonsense", "wan4x4", "--", "true"], "--nonsense")
        self.check(["run", "wan4x4", "-n", "0", "--", "true"], "-n")
        self.check(["run", "wan4x4", "-n", "many", "--", "true"], "-n")
        self.check(["run", "wan4x4"], "no program to run", "-- PROGRAM")
        self.check(["run", "wan4x4", "--"], "no program to run")
        self.check(["run", "wan4x4", "--env", "X", "--", "true"], "--env NAME=value")
        self.check(["run", "wan4x4", "--hosts", "north-1,eats-1", "--", "true"], 'no host "eats-1"',
                   "did you mean east-1?")
        self.check(["run", "wan4x4", "--hosts", "north-1,north-1", "--", "true"], "names north-1 twice")
        self.check(["run", "wan4x4", "--mpiexec", "/nowhere/mpiexec", "--", "true"], "/nowhere/mpiexec")
        self.check(["check", "wan4x4", "--", "true"], "takes no program")
        self.check(["run", "wan4x4", "--placment", "cyclic", "--", "true"], 'unknown option "--placment"',
                   "did you mean --placement?")
        self.check(["run", "wan4x4", "./program"], 'make sense of "./program"', "after --: laple-grid run SCENARIO")
        self.check(["exec", "nosuch-1", "./program"], "after --: laple-grid exec ID")
        self.check(["list", "--jsn"], 'unknown option "--jsn"', "did you mean --json?")
        self.check(["list", "-x"], 'unknown option "-x"', "see laple-grid list --help")
        self.check(["down", "a", "b"], 'make sense of "b"', "see laple-grid down --help")
        self.check(["down"], "which grid?")
        self.check(["down", "nosuch-1"], 'no grid "nosuch-1"')
        self.check(["exec", "nosuch-1", "--", "true"], 'no grid "nosuch-1"')

    def test_unknown_scenario(self):
        self.check(["check", "wan4x5"], 'no scenario "wan4x5"', "did you mean wan4x4?")
        self.check(["check", "./nosuch.json"], "nosuch.json", "cannot be opened")


class ScenarioFile(unittest.TestCase):
    def answer(self, text):
        with tempfile.TemporaryDirectory() as directory:
            path = os.path.join(directory, "x.json")
            with open(path, "w", encoding="utf-8") as file:
                file.write(text)
            result = laple_grid("check", path)
            self.assertEqual(result.returncode, 2, result.stderr)
            return result.stderr.replace(path, "x.json")

    def test_place_and_advice(self):
        for what, with_, expected in [
            ('"nic": ', '"nic" ', "x.json:5: not valid JSON"),
            ("100Mbit", "100Mb", 'x.json:5: "nic": "100Mb" is not a rate; write'),
            ('"name": "tiny",', "", 'the scenario has no "name"; add "name"'),
            ('"nic"', '"nik"', 'x.json:5: the scenario has an unknown key "nik"; did you mean "nic"?'),
            ('"hosts": 2', '"hosts": -2', 'x.json:6: "hosts" is -2; write a whole number'),
        ]:
            with self.subTest(with_):
                self.assertIn("laple-grid: ", self.answer(GOOD.replace(what, with_)))
                self.assertIn(expected, self.answer(GOOD.replace(what, with_)))


if __name__ == "__main__":
    unittest.main(argv=sys.argv[:1])
