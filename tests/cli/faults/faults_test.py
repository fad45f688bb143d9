# SPDX-License-Identifier: BSD-3-Clause
"""What becomes of a job when something goes wrong: on two emulated sites of two hosts, two ranks on each.

Usage: faults_test.py LAPLE_GRID LIBLAPLE LAPLE_DISCOVER STEADY
"""
import copy
import glob
import json
import os
import signal
import subprocess
import sys
import tempfile
import time
import unittest

LAPLE_GRID, LIBLAPLE, LAPLE_DISCOVER, STEADY = sys.argv[1:5]
SKIPPED = 77

NAME = f"faults{os.getpid()}"
TWO_SITES = {
    "format": "laple-grid-1",
    "name": NAME,
    "description": "two sites of two hosts",
    "nic": "100Mbit",
    "uplink": "100Mbit",
    "sites": [{"name": "a", "hosts": 2}, {"name": "b", "hosts": 2}],
    "link": {"delay": "5ms"},
}
# So that LaPle's own path is under way whatever prices say.
LAPLE = {"LD_PRELOAD": LIBLAPLE, "LAPLE_ALGORITHM": "^native", "LAPLE_PROBE_BUDGET": "60"}


def keeper_of_grid():
    """The process that relays all packets between the sites of our grid."""
    (state,) = glob.glob(f"/run/laple-grid/{NAME}-*/state.json")
    with open(state, encoding="utf-8") as file:
        return json.load(file)["keeper"]["pid"]


class Faults(unittest.TestCase):
    def setUp(self):
        self.directory = tempfile.TemporaryDirectory(prefix=NAME)
        self.addCleanup(self.directory.cleanup)
        self.scenario = self.file("scenario.json", json.dumps(TWO_SITES))
        self.settings = {**LAPLE, "XDG_CACHE_HOME": self.directory.name}

    def file(self, name, text=None):
        path = os.path.join(self.directory.name, name)
        if text is not None:
            with open(path, "w", encoding="utf-8") as file:
                file.write(text)
        return path

    def command(self, *command, settings, scenario=None):
        arguments = [LAPLE_GRID, "run", scenario or self.scenario, "-n", "8"]
        for name, value in settings.items():
            arguments += ["--env", f"{name}={value}"]
        return [*arguments, "--", *command]

    def run_job(self, *command, **more):
        return subprocess.run(self.command(*command, **more), capture_output=True, text=True, timeout=120, check=False)

    def assert_right(self, run):
        self.assertEqual((run.returncode, run.stdout), (0, "started\nright\n"), run.stderr)

    def test_a_killed_rank_ends_the_job_as_it_does_without_laple(self):
        stock = self.run_job(STEADY, "40", "5", settings={})
        run = self.run_job(STEADY, "40", "5", settings=self.settings)
        self.assertEqual(run.returncode, stock.returncode, run.stderr)
        self.assertNotEqual(run.returncode, 0)
        self.assertNotIn("WRONG", run.stdout)
        self.assertIn("BAD TERMINATION", run.stdout)

    def test_a_link_that_is_cut_for_a_while(self):
        """TCP sends again what was lost; nothing is wrong then, only late."""
        job = subprocess.Popen(self.command(STEADY, "100", settings=self.settings), stdout=subprocess.PIPE,
                               stderr=subprocess.PIPE, text=True)
        self.assertEqual(job.stdout.readline(), "started\n")
        keeper = keeper_of_grid()
        os.kill(keeper, signal.SIGSTOP)
        try:
            time.sleep(2)
            self.assertIsNone(job.poll())
        finally:
            os.kill(keeper, signal.SIGCONT)
        out, err = job.communicate(timeout=100)
        self.assertEqual((job.returncode, out), (0, "right\n"), err)

    def test_a_full_disk_under_the_cache(self):
        disk = self.file("disk")
        os.mkdir(disk)
        subprocess.run(["mount", "-t", "tmpfs", "-o", "size=16k", "tmpfs", disk], check=True)
        try:
            os.mkdir(os.path.join(disk, "laple"))
            with open(os.path.join(disk, "full"), "wb", buffering=0) as file:
                try:
                    while True:
                        file.write(bytes(4096))
                except OSError:
                    pass
            settings = {**self.settings, "XDG_CACHE_HOME": disk, "LAPLE_DEBUG": "1"}
            run = self.run_job(STEADY, "10", settings=settings)
            self.assert_right(run)
            self.assertEqual(run.stderr.count("No space left on device"), 1, run.stderr)
            self.assertIn("8 ranks on 4 hosts in 2 clusters (2 2 hosts)", run.stderr)
            self.assertEqual(os.listdir(os.path.join(disk, "laple")), [])
        finally:
            subprocess.run(["umount", disk], check=True)

    def test_a_cache_that_cannot_be_used(self):
        for cache in (self.file("file", ""), "/proc/nowhere"):
            run = self.run_job(STEADY, "10", settings={**self.settings, "XDG_CACHE_HOME": cache})
            self.assert_right(run)
            self.assertEqual([line.endswith("unless XDG_CACHE_HOME names another folder") for line in run.stderr.splitlines()], [True])

    def test_a_network_ten_times_slower_than_the_model(self):
        run = self.run_job(LAPLE_DISCOVER, "--model", "--quiet", settings={})
        self.assertEqual(run.returncode, 0, run.stderr)
        model = self.file("model.json", run.stdout)
        slow = copy.deepcopy(TWO_SITES)
        slow["link"]["delay"] = "50ms"
        settings = {**self.settings, "LAPLE_MODEL": model}
        said = "times as long as predicted"
        run = self.run_job(STEADY, "40", settings=settings, scenario=self.file("slow.json", json.dumps(slow)))
        self.assert_right(run)
        self.assertEqual(run.stderr.count(said), 1, run.stderr)


if __name__ == "__main__":
    if subprocess.run([LAPLE_GRID, "doctor"], stdout=subprocess.DEVNULL, check=False).returncode == 3:
        sys.exit(SKIPPED)
    unittest.main(argv=sys.argv[:1])
