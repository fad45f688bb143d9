#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-3-Clause
"""profile_test.py MPIEXEC DIRECTORY YIELD MESSAGES LAPLE_PLOT MPI_VERSION: what LAPLE_PROFILE says of the program messages.c;
liblaple.so and its companions are in DIRECTORY."""
import importlib.util
import json
import os
import subprocess
import sys
import tempfile
import unittest

MPIEXEC, LIBRARIES, YIELD, MESSAGES, LAPLE_PLOT = sys.argv[1:6]
IS_MPI_4 = int(sys.argv[6]) >= 4
LATE = 0.3  # as there

# What a rank sends to the next one, function by function: messages, bytes. To the one before it sends 7 bytes.
SENT = {
    "Sendrecv": (1, 100), "Ssend": (1, 8), "Isend": (10, 10 + 5 + 5 + 6 + 1000), "Startall": (3, 600), "Start": (1, 200),
    "Sendrecv_replace": (1, 7),
}
CALLS = {"Send": 1, "Recv": 2, "Irecv": 8, "Send_init": 1, "Recv_init": 1, "Startall": 3, "Start": 2, "Mprobe": 1, "Mrecv": 1,
         "Wait": 4, "Waitall": 5, "Waitany": 1, "Waitsome": 1, "Testany": 1}
if IS_MPI_4:
    SENT |= {"Isend": (11, SENT["Isend"][1] + 6), "Isendrecv": (1, 4)}
    CALLS |= {"Recv": 3, "Wait": 6}


class ProfileTest(unittest.TestCase):
    def setUp(self):
        directory = tempfile.TemporaryDirectory()
        self.addCleanup(directory.cleanup)
        self.directory = directory.name
        self.file = os.path.join(self.directory, "profile.json")

    def run_job(self, ranks, *arguments, library="liblaple_profile.so", environment=(), **settings):
        topology = os.path.join(self.directory, "map")
        with open(topology, "w", encoding="utf-8") as file:
            for parity in range(min(ranks, 2)):
                file.write(f"cluster {parity} process {' '.join(map(str, range(parity, ranks, 2)))}\n")
        settings = {"LAPLE_TOPOLOGY": topology, "LAPLE_PROFILE": self.file, **settings}
        genv = [word for name, value in settings.items() for word in ("-genv", name, value)]
        command = [MPIEXEC, "-genv", "LD_PRELOAD", f"{LIBRARIES}/{library}:{YIELD}", *genv, *(environment or ("-n", str(ranks))),
                   MESSAGES, *arguments]
        result = subprocess.run(command, capture_output=True, text=True, timeout=60)
        self.assertEqual(result.returncode, 0, result.stderr)
        self.assertIn("done", result.stdout)
        return result.stderr

    def profile(self, ranks, *arguments, **settings):
        text = self.run_job(ranks, *arguments, **settings)
        with open(self.file, encoding="utf-8") as file:
            return text, json.load(file)

    def check_lines(self, profile):
        lines = {line["function"]: line for line in profile["point_to_point"]}
        for function, (messages, size) in SENT.items():
            with self.subTest(function):
                expected = (messages + (function == "Sendrecv_replace"), size + 7 * (function == "Sendrecv_replace"))
                self.assertEqual((lines[function]["messages"], lines[function]["bytes"]), expected)
        for function, calls in CALLS.items():
            with self.subTest(function):
                self.assertEqual(lines[function]["calls"], calls)
        for function in set(lines) - set(SENT):
            self.assertEqual(lines[function]["messages"], 0, function)
        took = sum(line["total"] for line in lines.values())
        own = profile["ranks"][0]
        self.assertAlmostEqual(took, sum(own[place] for place in ("between_clusters", "in_cluster", "on_host", "elsewhere")), places=6)

    def expected_matrix(self, ranks):
        parts = min(ranks, 2)
        messages = [[0] * parts for _ in range(parts)]
        sizes = [[0] * parts for _ in range(parts)]
        for rank in range(ranks):
            ways = [((rank + 1) % ranks, *pair) for pair in SENT.values()] + [((rank - 1) % ranks, 1, 7)]
            for to, number, size in ways:
                messages[rank % 2][to % 2] += number
                sizes[rank % 2][to % 2] += size
        return messages, sizes

    def check_ranks(self, ranks):
        text, profile = self.profile(ranks)
        self.check_lines(profile)
        self.assertEqual(len(profile["ranks"]), ranks)
        self.assertTrue(all(rank["counts_messages"] for rank in profile["ranks"]))
        messages, sizes = self.expected_matrix(ranks)
        self.assertEqual(profile["messages"], messages)
        self.assertEqual(profile["bytes"], sizes)
        self.assertIn("point-to-point calls of rank 0", text)
        self.assertIn("LaPle does not change point-to-point calls. On the average of ranks they took", text)
        if ranks == 1:
            return
        # Rank 0 has waited for the last one. As the map has it, no two ranks share a host.
        place = "in_cluster" if (ranks - 1) % 2 == 0 else "between_clusters"
        self.assertGreater(profile["ranks"][0][place], 0.9 * LATE)
        self.assertGreater(profile["ranks"][ranks - 1]["wall"], LATE)
        self.assertRegex(text, r"LaPle does not change imbalance: [^\n]* and rank \d ")

    def test_one_rank(self):
        self.check_ranks(1)

    def test_two_ranks(self):
        self.check_ranks(2)

    def test_three_ranks(self):
        self.check_ranks(3)

    def test_four_ranks(self):
        self.check_ranks(4)

    def test_rank_that_is_late_for_collectives(self):
        _, profile = self.profile(4, "together")
        line, = (line for line in profile["collectives"] if line["function"] == "Allreduce")
        self.assertGreater(line["total"], 0.9 * LATE)
        self.assertLess(line["native"], 0.5 * LATE / line["calls"])  # what the last rank, which waits for nobody, sees
        self.assertTrue(line["is_native_of_this_job"])
        self.assertGreater(profile["ranks"][0]["late"], 0.5 * LATE)
        self.assertLess(profile["ranks"][3]["late"], 0.5 * LATE)

    def test_what_is_not_wanted_or_not_seen(self):
        text = self.run_job(4, LAPLE_PROFILE="0", LAPLE_REPORT="1")
        self.assertNotIn("point-to-point", text)
        text = self.run_job(4, library="liblaple.so")
        self.assertIn("Point-to-point calls were not counted: laple-run --profile does", text)
        self.assertNotIn("LaPle does not change point-to-point calls", text)

    def test_reports_for_programs(self):
        for wanted, form in (("0", "laple-report-1"), ("1", "laple-profile-1")):
            report = os.path.join(self.directory, f"report-{wanted}.json")
            with self.subTest(form):
                text = self.run_job(4, LAPLE_PROFILE=wanted, LAPLE_REPORT=report)
                self.assertNotIn("collectives of rank 0", text)
                with open(report, encoding="utf-8") as file:
                    found = json.load(file)
                self.assertEqual((found["format"], found["ranks_of_world"]), (form, 4))
                self.assertIn("Barrier", [line["function"] for line in found["collectives"]])
                self.assertEqual("point_to_point" in found, wanted == "1")

    def test_setting_of_one_rank(self):
        _, profile = self.profile(3, environment=("-n", "1", "-env", "LAPLE_PROFILE", self.file, MESSAGES, ":", "-n", "2"),
                                  LAPLE_PROFILE="0")
        self.assertEqual([rank["counts_messages"] for rank in profile["ranks"]], [True, False, False])
        self.assertTrue(all(rank["collectives"] > 0 for rank in profile["ranks"]), profile["ranks"])

    def test_without_a_map(self):
        text, profile = self.profile(4, LAPLE_TOPOLOGY="off")
        self.assertNotIn("bytes", profile)
        self.assertEqual(len(profile["ranks"]), 4)
        self.assertIn("Who is near whom is not known", text)

    def test_without_a_collective(self):
        text, profile = self.profile(2, "alone")
        self.assertFalse(profile["has_all_ranks"])
        self.assertEqual(len(profile["ranks"]), 1)
        self.assertIn("no blocking collective was called on all of them", text)

    def test_file_that_cannot_be_written(self):
        self.assertIn("cannot be written to /nowhere/x.json: No such file", self.run_job(2, LAPLE_PROFILE="/nowhere/x.json"))

    @unittest.skipUnless(importlib.util.find_spec("matplotlib"), "needs matplotlib")
    def test_picture(self):
        self.run_job(4)
        result = subprocess.run([sys.executable, LAPLE_PLOT, "traffic", self.file, "-o", self.file + ".svg"], capture_output=True,
                                text=True, timeout=60)
        self.assertEqual((result.returncode, result.stderr), (0, ""))


if __name__ == "__main__":
    result = unittest.main(argv=sys.argv[:1], exit=False).result
    sys.exit(1 if not result.wasSuccessful() else 77 if result.skipped else 0)  # 77: something was skipped
