#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-3-Clause
"""The scripts of bench: what they make of names, files and answers. Needs neither grids nor MPI, nor what is built."""
import importlib.machinery
import importlib.util
import subprocess
import sys
import unittest
from pathlib import Path

ROOT = Path(__file__).resolve().parents[3]
sys.dont_write_bytecode = True


def load(path):
    """A script as a module; its name has no suffix."""
    loader = importlib.machinery.SourceFileLoader(path.replace("/", "_"), str(ROOT / path))
    module = importlib.util.module_from_spec(importlib.util.spec_from_loader(loader.name, loader))
    loader.exec_module(module)
    return module


def answer(path, *words):
    """Exit status and stderr of a script."""
    done = subprocess.run([sys.executable, ROOT / path, *words], capture_output=True, text=True, check=False)
    return done.returncode, done.stderr


class Yardstick(unittest.TestCase):
    def test_names_are_those_of_platforms_and_scenarios(self):
        yardstick = load("bench/planner/yardstick")
        self.assertEqual(yardstick.unknown_names(["wan4x4", "grid5000-88", "sites16"]), [])
        self.assertEqual(yardstick.unknown_names(["88", "wan4x4", "platform-wan4x4"]), ["88", "platform-wan4x4"])
        self.assertEqual(yardstick.network_of("platform-grid5000-88"), "grid5000-88")

    def test_an_unknown_name_is_refused_with_those_that_there_are(self):
        status, said = answer("bench/planner/yardstick", "88")
        self.assertEqual(status, 1)
        self.assertIn("unknown 88; choose from cloud-512,", said)
        self.assertIn(" grid5000-88,", said)


if __name__ == "__main__":
    unittest.main()
