#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-3-Clause
"""trace_test.py MPIEXEC LIBRARIES MODEL LAPLE_BENCH LAPLE_PLOT: what LAPLE_TRACE writes, and says where it cannot."""
import collections
import importlib.util
import json
import os
import re
import subprocess
import sys
import tempfile
import unittest

MPIEXEC, LIBRARIES, MODEL, LAPLE_BENCH, LAPLE_PLOT = sys.argv[1:]
RANKS = 4
SIZE = 64 << 10
CALLS = 11  # of each collective that are timed or warm up


class TraceTest(unittest.TestCase):
    def setUp(self):
        directory = tempfile.TemporaryDirectory()
        self.addCleanup(directory.cleanup)
        self.file = os.path.join(directory.name, "trace.json")

    def run_job(self, *collectives, environment=("-n", str(RANKS)), **of_all):
        settings = {"LAPLE_MODEL": MODEL, "LAPLE_ALGORITHM": "^native", "LAPLE_ADAPT": "off", **of_all}
        genv = [word for name, value in settings.items() for word in ("-genv", name, value)]
        command = [MPIEXEC, "-genv", "LD_PRELOAD", LIBRARIES, *genv, *environment, LAPLE_BENCH,
                   *collectives, "--sizes", str(SIZE), "-i", str(CALLS - 1), "-x", "1"]
        result = subprocess.run(command, capture_output=True, text=True, timeout=60)
        self.assertEqual(result.returncode, 0, result.stderr)
        return result.stderr

    def trace(self, *collectives, **settings):
        self.run_job(*collectives, LAPLE_TRACE=self.file, **settings)
        with open(self.file, encoding="utf-8") as file:
            return json.load(file)

    @staticmethod
    def slices(trace):
        return [event for event in trace["traceEvents"] if event["ph"] == "X"]

    def calls(self, trace, function):
        """Of each call its slices, by rank."""
        calls = collections.defaultdict(dict)
        for event in self.slices(trace):
            if event["name"].startswith(function + " "):
                calls[event["args"]["call"]][event["pid"]] = event
        return calls

    def messages(self, trace, call, predicted=False):
        return [event for event in self.slices(trace) if "arrived_us" in event["args"] and event["args"]["call"] == call
                and (event["pid"] >= RANKS) == predicted]

    def test_first_second_fourth_eighth(self):
        report = self.file + ".report"
        traced = self.calls(self.trace("bcast", LAPLE_REPORT=report), "Bcast")
        with open(report, encoding="utf-8") as file:
            made = int(re.search(r"^bcast +64K +\S+ +(\d+) ", file.read(), re.MULTILINE).group(1))
        self.assertGreaterEqual(made, CALLS)
        self.assertEqual(len(traced), made.bit_length())
        for ranks in traced.values():
            self.assertEqual(set(ranks), set(range(RANKS)))

    def test_all_bytes_are_there(self):
        trace = self.trace("bcast", LAPLE_ALGORITHM="bcast:flat/binomial@16K")
        for call, ranks in self.calls(trace, "Bcast").items():
            received = collections.Counter()
            for message in self.messages(trace, call):
                received[message["args"]["to"]] += message["args"]["bytes"]
                sender, receiver = ranks[message["args"]["from"]], ranks[message["args"]["to"]]
                self.assertGreaterEqual(message["ts"], sender["ts"])
                self.assertLessEqual(message["ts"] + message["dur"], sender["ts"] + sender["dur"] + 1)
                self.assertLessEqual(message["args"]["arrived_us"], receiver["ts"] + receiver["dur"] + 1)
            self.assertEqual(received, {rank: SIZE for rank in range(1, RANKS)})
        self.assertEqual(trace["otherData"]["messages_without_other_end"], 0)

    def test_prediction_has_the_same_messages(self):
        trace = self.trace("allreduce")
        for call in self.calls(trace, "Allreduce"):
            kinds = [collections.Counter((event["args"]["from"], event["args"]["to"], event["args"]["bytes"])
                                         for event in self.messages(trace, call, predicted)) for predicted in (False, True)]
            self.assertTrue(kinds[0])
            self.assertEqual(*kinds)

    def test_slices_of_a_track_do_not_overlap(self):
        trace = self.trace("allreduce", "alltoallv", "gather")
        tracks = collections.defaultdict(list)
        for event in self.slices(trace):
            self.assertGreater(event["dur"], 0)
            tracks[event["pid"], event["tid"]].append((event["ts"], -event["dur"]))
        for events in tracks.values():
            ends = []
            for begin, length in sorted(events):
                while ends and ends[-1] <= begin + 0.002:
                    ends.pop()
                self.assertTrue(not ends or begin - length <= ends[-1] + 0.002)
                ends.append(begin - length)
        starts, ends = ([event["id"] for event in trace["traceEvents"] if event["ph"] == phase] for phase in "sf")
        self.assertEqual(sorted(starts), sorted(ends))

    def test_started_calls_and_blocks_of_different_sizes(self):
        for function, *options in (("Iallreduce", "allreduce", "--overlap"), ("Alltoallv", "alltoallv"),
                                   ("Alltoallv", "alltoallv", "--counts", "log-normal")):
            trace = self.trace(*options)
            calls = self.calls(trace, function)
            self.assertGreaterEqual(len(calls), 4, function)
            for call, ranks in calls.items():
                self.assertEqual(set(ranks), set(range(RANKS)))
                senders = {message["pid"] for message in self.messages(trace, call)}
                self.assertEqual(senders, set(range(RANKS)), function)
            self.assertEqual(trace["otherData"]["messages_without_other_end"], 0)

    def test_calls_of_mpi_are_in_it(self):
        trace = self.trace("bcast", LAPLE_TOPOLOGY="off", LAPLE_MODEL="")
        calls = [event for event in self.slices(trace) if event["name"].startswith("Bcast ")]
        self.assertEqual({event["args"]["algorithm"] for event in calls}, {"MPI's own"})
        self.assertEqual({event["pid"] for event in calls}, set(range(RANKS)))

    def test_what_cannot_be_written_is_said(self):
        told = self.run_job("bcast", LAPLE_TRACE="/no/such/place/trace.json")
        self.assertIn("LAPLE_TRACE: /no/such/place/trace.json is not written: No such file", told)

    def test_where_a_rank_wants_none_there_is_none(self):
        arguments = [LAPLE_BENCH, "bcast", "--sizes", str(SIZE), "-i", str(CALLS - 1), "-x", "1"]
        told = self.run_job("bcast", environment=["-n", "3", "-env", "LAPLE_TRACE", self.file, *arguments, ":", "-n", "1"])
        self.assertIn("not all ranks have LAPLE_TRACE", told)
        self.assertFalse(os.path.exists(self.file))

    @unittest.skipUnless(importlib.util.find_spec("matplotlib"), "needs matplotlib")
    def test_it_can_be_drawn(self):
        self.trace("allreduce")
        picture = self.file + ".svg"
        for options in ([], ["--call", "2"]):
            result = subprocess.run([sys.executable, LAPLE_PLOT, "timeline", self.file, "-o", picture, *options],
                                    capture_output=True, text=True, timeout=60)
            self.assertEqual((result.returncode, result.stderr), (0, ""))
            with open(picture, encoding="utf-8") as file:
                drawn = file.read()
            for label in ("measured", "predicted", "to another cluster"):
                self.assertIn(f"<!-- {label} -->", drawn)
        result = subprocess.run([sys.executable, LAPLE_PLOT, "timeline", self.file, "-o", picture, "--call", "99"],
                                capture_output=True, text=True, timeout=60)
        self.assertEqual(result.returncode, 2)
        self.assertIn("has no call 99; choose from 1 to", result.stderr)


if __name__ == "__main__":
    result = unittest.main(argv=sys.argv[:1], exit=False).result
    sys.exit(1 if not result.wasSuccessful() else 77 if result.skipped else 0)  # 77: something was skipped
