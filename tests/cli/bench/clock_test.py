# SPDX-License-Identifier: BSD-3-Clause
"""Times of ranks whose clocks differ: each pair of ranks has a time namespace of its own.

Usage: clock_test.py MPIEXEC LAPLE_BENCH LAPLE_YIELD
"""
import json
import os
import subprocess
import sys
import tempfile
import unittest

MPIEXEC, BENCH, YIELD = sys.argv[1:4]
SKIPPED = 77
AHEAD = 5000  # seconds


def unshared(ahead):
    as_root = [] if os.geteuid() == 0 else ["--map-root-user"]
    return ["unshare", *as_root, "--time", "--monotonic", str(ahead)]


def can_unshare():
    try:
        return subprocess.run([*unshared(1), "true"], capture_output=True, check=False).returncode == 0
    except FileNotFoundError:
        return False


class Clocks(unittest.TestCase):
    def bench(self, aheads, *options):
        """Two ranks for each of `aheads`, whose clocks are so many seconds ahead."""
        command = [MPIEXEC, "-genv", "LD_PRELOAD", YIELD]
        with tempfile.NamedTemporaryFile(suffix=".json") as file:
            for i, ahead in enumerate(aheads):
                command += [":"] if i else []
                command += ["-n", "2", *(unshared(ahead) if ahead else []), BENCH, "bcast", "barrier", "--sizes", "8"]
                command += ["-i", "5", "-x", "1", "--json", file.name, *options]
            run = subprocess.run(command, capture_output=True, text=True, timeout=60, check=False,
                                 env={**os.environ, "MPIEXEC_TIMEOUT": "50", "LAPLE_DISABLE": "1"})
            self.assertEqual(run.returncode, 0, run.stdout + run.stderr)
            result = json.load(file)
        self.assertEqual(len(result["results"]), 2)
        for row in result["results"]:
            self.assertGreater(row["library_us"], 0)
            self.assertLess(row["library_max_us"], 1e7)  # clocks are thousands of seconds apart
        return result["context"]["clock"]

    def test_ranks_on_one_machine_read_one_clock(self):
        self.assertIn("shared by all ranks", self.bench([0, 0]))

    def test_clocks_that_differ_are_compared(self):
        self.assertIn("offsets to rank 0", self.bench([0, AHEAD, -1]))
        self.assertIn("offsets to rank 0", self.bench([AHEAD, 0, AHEAD]))

    def test_clocks_are_compared_where_that_is_wanted(self):
        self.assertIn("offsets to rank 0", self.bench([0, 0], "--clock", "measured"))


if __name__ == "__main__":
    if not can_unshare():
        print("skipped: there are no time namespaces here")
        sys.exit(SKIPPED)
    unittest.main(argv=sys.argv[:1])
