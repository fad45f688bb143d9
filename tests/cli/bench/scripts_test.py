#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-3-Clause
"""The scripts of bench: what they make of names, files and answers. Needs neither grids nor MPI, nor what is built."""
import importlib.machinery
import importlib.util
import json
import os
import signal
import subprocess
import sys
import tempfile
import time
import unittest
from pathlib import Path
from types import SimpleNamespace
from unittest import mock

ROOT = Path(__file__).resolve().parents[3]
sys.dont_write_bytecode = True


def load(path):
    """A script as a module; its name has no suffix. What it imports is beside it."""
    sys.path.insert(0, str((ROOT / path).parent))
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


class Discovery(unittest.TestCase):
    SCENARIO = {"nic": "100Mbit", "uplink": "400Mbit", "link": {"delay": "10ms"},
                "sites": [{"name": "a", "hosts": 8}, {"name": "b", "hosts": 8, "nic": "50000kbit"},
                          {"name": "c", "hosts": 1, "uplink": "80000000bit"}],
                "links": [{"between": ["a", "b"], "rate": "200Mbit"}, {"between": ["c", "a"], "delay": "500us"}]}

    def truth(self, scenario):
        with tempfile.TemporaryDirectory() as name:
            file = Path(name) / "scenario.json"
            file.write_text(json.dumps(scenario))
            return load("bench/discovery/run").Truth(str(file))

    def test_sites_and_links_may_differ_from_the_rest(self):
        truth = self.truth(self.SCENARIO)
        self.assertEqual(truth.nic, {"a": 12.5e6, "b": 6.25e6, "c": 12.5e6})
        self.assertEqual(truth.uplink["c"], 10e6)
        self.assertEqual(truth.delay[frozenset("ab")], 10)
        self.assertEqual(truth.delay[frozenset("ac")], 0.5)
        self.assertEqual((truth.between("a", "b"), truth.lanes("a", "b")), (25e6, 4))
        self.assertEqual((truth.between("a", "c"), truth.lanes("a", "c")), (10e6, 1))
        self.assertEqual(truth.of_uplink("a"), 35e6)

    def wrong(self, laple_grid, timeout=60.0):
        """Of one run, with a laple-grid that stands here."""
        with tempfile.TemporaryDirectory() as name:
            tool = Path(name) / "laple-grid"
            tool.write_text(f"#!/bin/sh\n{laple_grid}\n")
            tool.chmod(0o755)
            options = SimpleNamespace(bin=Path(name), model=True, timeout=timeout)
            return load("bench/discovery/run").run_once(options, "id", self.truth(self.SCENARIO))["wrong"]

    def test_a_run_that_fails_is_a_wrong_one(self):
        self.assertEqual(self.wrong("exec sleep 600", 0.1), ["laple-discover has not ended within 0.1 s (--timeout)"])
        self.assertEqual(self.wrong("exit 3"), ["laple-discover ended with 3"])
        for answer in ("no JSON", "{", "{}", '{"hosts": 1}'):
            with self.subTest(answer):
                self.assertIn("is no model of this grid", self.wrong(f"echo '{answer}'")[0])

    def test_a_grid_of_one_site_has_no_uplink(self):
        self.assertEqual(self.truth({"nic": "1Gbit", "sites": [{"name": "home", "hosts": 8}]}).nic, {"home": 125e6})


class FirstJobs(unittest.TestCase):
    SCENARIO = {"nic": "1Gbit", "uplink": "1Gbit", "link": {"delay": "1ms"}, "sites": [{"name": "a", "hosts": 1}, {"name": "b", "hosts": 2}]}

    def table_line(self, levels):
        """Of a laple-grid whose jobs keep these levels from the second one on."""
        model = {"ranks": 3, "levels": levels, "links": [], "hosts": [{"name": name, "ranks": [rank]} for rank, name in enumerate(["a-1", "b-1", "b-2"])]}
        with tempfile.TemporaryDirectory() as name:
            (Path(name) / "scenario.json").write_text(json.dumps(self.SCENARIO))
            (Path(name) / "model.json").write_text(json.dumps(model))
            tool = Path(name) / "laple-grid"
            tool.write_text(f"""#!/bin/sh
for word; do case $word in XDG_CACHE_HOME=*) cache=${{word#XDG_CACHE_HOME=}}/laple; esac; done
[ -z "$cache" ] && exit 0
if [ -d "$cache" ]; then cp {name}/model.json "$cache/1.json"; else mkdir "$cache"; fi
""")
            tool.chmod(0o755)
            options = SimpleNamespace(bin=Path(name), times=2, stock=3, ranks=None, placement="block", timeout=60)
            jobs = load("bench/discovery/first-jobs")
            return jobs.table_line("two", jobs.run_scenario(options, str(Path(name) / "scenario.json"))).split()

    def test_groups_are_exact_where_they_are_the_sites(self):
        self.assertEqual(self.table_line([[[0], [1, 2]]])[1:3], ["0/2", "2/2"])
        for wrong in ([], [[[0, 1], [2]]], [[[0], [1], [2]]]):
            with self.subTest(wrong):
                self.assertEqual(self.table_line(wrong)[1:3], ["0/2", "0/2"])

    def test_a_job_loses_what_it_takes_longer_than_the_median_without_laple(self):
        def jobs(*seconds):
            return [{"seconds": value, "exact": True, "links": 0} for value in seconds]
        result = {"stock": [1.0, 9.0, 2.0], "times": [jobs(4, 3, 2.5, 2, 2), jobs(6, 2, 2.5, 2, 1.75)]}
        line = load("bench/discovery/first-jobs").table_line("two", result)
        self.assertEqual(line.split(), "two 2/2 2/2 2.00 s 3.00 (4.00) s 0.50 (1.00) s 0.00 (0.00) s".split())


class Peers(unittest.TestCase):
    def measured(self, measure):
        """The rows that are kept, where one was there already."""
        peers = load("bench/peers/run")
        kept = {"rows": [{"collective": "bcast", "bytes": 8, "stock_us": 5.0}]}
        mpi = SimpleNamespace(name="mpich", title="MPICH", has_laple=False)
        with mock.patch.multiple(peers, measure=measure, run=lambda *_: "abc", save=lambda _: None):
            try:
                peers.measure_jobs(mpi, None, [(["bcast"], "8")], kept, {"runs": {}}, SimpleNamespace(again=True, iterations=3))
            except ValueError:
                pass
        return [row["stock_us"] for row in kept["rows"]]

    def test_rows_give_way_to_new_ones_only(self):
        row = {"collective": "bcast", "bytes": 8, "library_us": 4.0, "bound_us": 1.0, "binds": "latency"}
        self.assertEqual(self.measured(mock.Mock(return_value={"context": {}, "results": [row]})), [4.0])
        self.assertEqual(self.measured(mock.Mock(side_effect=ValueError)), [5.0])


class Accuracy(unittest.TestCase):
    def test_wrong_numbers_are_refused_before_a_grid_is_raised(self):
        for words, expected in ((["--kinds", "-1"], "--kinds must be 0 or more"), (["--rounds", "0"], "--rounds must be 1 or more"),
                                (["--sizes", "8,1Q"], '"1Q" is no size'), (["--collectives", "cast"], "unknown collective cast"),
                                (["--model", "/nowhere.json"], "/nowhere.json: there is no such file")):
            with self.subTest(words):
                status, said = answer("bench/planner/accuracy", *words, "wan4x4")
                self.assertEqual(status, 2)
                self.assertIn(expected, said)

    def test_the_chosen_algorithm_and_that_of_mpi_are_always_measured(self):
        accuracy = load("bench/planner/accuracy")
        candidates = [{"kind": name, "algorithm": name, "predicted": 1.0} for name in ("native", "ring", "flat/binomial", "rsag")]
        told = {"algorithm": "ring", "predicted": 1.0, "candidates": candidates}
        options = SimpleNamespace(collectives=["bcast"], sizes=["8"], bin=Path("/nowhere"), kinds=0)
        for kinds, expected in ((0, ["ring", "native"]), (1, ["ring", "native"]), (2, ["ring", "flat/binomial", "native"])):
            options.kinds = kinds
            with mock.patch.object(accuracy, "output_of", return_value=json.dumps(told)):
                cells = accuracy.cells_of(options, "model.json")
            self.assertEqual([c["algorithm"] for c in cells[("bcast", 8)]], expected)


class Simulations(unittest.TestCase):
    """Of an smpirun that stands here, whose simulator does not end."""

    SMPIRUN = "#!/bin/sh\nsleep 600 &\necho $! > \"$STARTED.new\"\nmv \"$STARTED.new\" \"$STARTED\"\nwait\n"

    def setUp(self):
        directory = tempfile.TemporaryDirectory()
        self.addCleanup(directory.cleanup)
        self.directory = Path(directory.name)
        for name, text in (("bin/smpirun", self.SMPIRUN), ("build/smpi/laple-bench", "")):
            file = self.directory / name
            file.parent.mkdir(parents=True)
            file.write_text(text)
            file.chmod(0o755)
        (self.directory / "tmp").mkdir()
        self.started = self.directory / "started"

    def start(self, script, *words):
        """Returns when its simulator runs: the script's process, and the simulator's number."""
        process = subprocess.Popen([sys.executable, ROOT / "bench" / "smpi" / script, *words, "--build", self.directory / "build"],
                                   stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL,
                                   env={**os.environ, "PATH": f"{self.directory / 'bin'}:{os.environ['PATH']}",
                                        "TMPDIR": str(self.directory / "tmp"), "STARTED": str(self.started)})
        self.addCleanup(process.kill)
        end = time.monotonic() + 30
        while not self.started.exists() and time.monotonic() < end:
            time.sleep(0.02)
        return process, int(self.started.read_text())

    def is_running(self, number):
        try:
            return Path(f"/proc/{number}/stat").read_text().rsplit(")", 1)[1].split()[0] not in "ZX"
        except OSError:
            return False

    def test_nothing_is_left_of_what_is_interrupted(self):
        for script, *words in (["run", "wan4x4"], ["choices", "wan4x4"], ["strategies"], ["survey-cost"]):
            for number in (signal.SIGINT, signal.SIGTERM):
                with self.subTest(script=script, number=number):
                    process, simulator = self.start(script, *words)
                    process.send_signal(number)
                    self.assertEqual(process.wait(20), 128 + number)
                    end = time.monotonic() + 10
                    while self.is_running(simulator) and time.monotonic() < end:
                        time.sleep(0.02)
                    self.assertFalse(self.is_running(simulator))
                    self.assertEqual(list((self.directory / "tmp").iterdir()), [])
                    self.started.unlink()


if __name__ == "__main__":
    unittest.main()
