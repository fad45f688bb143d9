# SPDX-License-Identifier: BSD-3-Clause
"""What LaPle finds out by itself on two emulated sites of two hosts, two ranks on each.

Usage: auto_test.py LAPLE_GRID LIBLAPLE LAPLE_BENCH LAPLE_DISCOVER PART_FIRST ADAPTING_TEST
"""
import glob
import json
import os
import shutil
import subprocess
import sys
import tempfile
import threading
import time
import unittest

LAPLE_GRID, LIBLAPLE, LAPLE_BENCH, LAPLE_DISCOVER, PART_FIRST, ADAPTING_TEST = sys.argv[1:7]
SKIPPED = 77

NAME = f"auto{os.getpid()}"
TWO_SITES = {
    "format": "laple-grid-1",
    "name": NAME,
    "description": "two sites of two hosts",
    "nic": "100Mbit",
    "uplink": "100Mbit",
    "sites": [{"name": "a", "hosts": 2}, {"name": "b", "hosts": 2}],
    "link": {"delay": "5ms"},
}
SITES = [[0, 1, 2, 3], [4, 5, 6, 7]]


class OnTwoSites(unittest.TestCase):
    def setUp(self):
        self.directory = tempfile.TemporaryDirectory(prefix=NAME)
        self.addCleanup(self.directory.cleanup)
        self.scenario = self.file("scenario.json", json.dumps(TWO_SITES))
        self.settings = {"LD_PRELOAD": LIBLAPLE, "XDG_CACHE_HOME": self.directory.name, "LAPLE_DEBUG": "1",
                         "LAPLE_PROBE_BUDGET": "60"}

    def file(self, name, text=None):
        path = os.path.join(self.directory.name, name)
        if text is not None:
            with open(path, "w", encoding="utf-8") as file:
                file.write(text)
        return path

    def run_job(self, *command, settings=None, options=("-n", "8"), **more):
        arguments = [LAPLE_GRID, "run", self.scenario, *options]
        for name, value in {**(self.settings if settings is None else settings)}.items():
            arguments += ["--env", f"{name}={value}"]
        return subprocess.run([*arguments, "--", *command], capture_output=True, text=True, timeout=120, check=False,
                              **more)

    def bench(self, **settings):
        return self.run_bench(("-n", "8"), settings)

    def bench_on(self, hosts, ranks):
        return self.run_bench(("--hosts", hosts, "-n", str(ranks)), {})

    def run_bench(self, options, settings):
        """The algorithms that a small broadcast and a barrier take; every result is checked."""
        run = self.run_job(LAPLE_BENCH, "-c", "--sizes", "8", "-i", "3", "bcast", "barrier",
                           settings={**self.settings, **settings}, options=options)
        self.assertEqual(run.returncode, 0, run.stdout + run.stderr)
        rows = [line.split() for line in run.stdout.splitlines() if line and not line.startswith("#")]
        self.assertEqual([row[-1] for row in rows], ["pass", "pass"])
        return [row[-2] for row in rows], run.stderr

    def test_measured_once_and_known_later(self):
        algorithms, said = self.bench()
        # Of two sites some calls are as fast natively.
        self.assertNotEqual(set(algorithms), {"native"})
        self.assertIn("measured 4 hosts", said)
        self.assertIn("8 ranks on 4 hosts in 2 clusters (2 2 hosts)", said)
        algorithms, said = self.bench(LAPLE_DEBUG="2")
        # Of two sites some calls are as fast natively.
        self.assertNotEqual(set(algorithms), {"native"})
        self.assertIn("topology from", said)
        self.assertNotIn("measured 4 hosts", said)
        # The rates that were measured are known later, too: a plan without them has no time.
        self.assertRegex(said, r"bcast 8 bytes, root 0: \S+ \([^()]+, \d\S* ms\)")
        # Of several sites the first job has measured MPI's own collectives, too.
        self.assertNotIn("measured", said)
        # The same hosts, their ranks in another order.
        run = self.run_job(PART_FIRST, options=("--hosts", "b-2,a-1,b-1,a-2"))
        self.assertEqual((run.returncode, run.stdout), (0, "good\n"), run.stderr)

    def test_what_cannot_be_kept_is_said(self):
        algorithms, said = self.bench(XDG_CACHE_HOME=self.file("a-file", ""), LAPLE_DEBUG="0")
        self.assertNotEqual(set(algorithms), {"native"})
        self.assertEqual(said.count("cannot be written"), 1, said)
        self.assertIn("later jobs measure again, unless XDG_CACHE_HOME names another folder", said)

    def test_hosts_of_an_earlier_job_are_known_without_a_message(self):
        grid = subprocess.run([LAPLE_GRID, "up", self.scenario], capture_output=True, text=True, timeout=60,
                              check=True).stdout.strip()
        self.addCleanup(subprocess.run, [LAPLE_GRID, "down", grid], capture_output=True, timeout=60, check=False)

        def are_known(*options):
            settings = [f"--env={name}={value}" for name, value in self.settings.items()]
            run = subprocess.run([LAPLE_GRID, "exec", grid, "-n", "8", *options, *settings, "--", LAPLE_BENCH, "-c", "--sizes",
                                  "8", "-i", "3", "bcast"], capture_output=True, text=True, timeout=120, check=False)
            self.assertEqual(run.returncode, 0, run.stdout + run.stderr)
            self.assertIn("8 ranks on 4 hosts in 2 clusters (2 2 hosts)", run.stderr)
            return "all ranks are where those of an earlier job were" in run.stderr

        self.assertFalse(are_known())
        self.assertTrue(are_known())
        # The same hosts, other ranks on them: twice, then the first ones again.
        for is_known in (False, True):
            self.assertEqual(are_known("--hosts", "b-2,a-1,b-1,a-2"), is_known)
        self.assertTrue(are_known())
        for name in glob.glob(self.file("laple/*.hosts")):
            os.chmod(name, 0o666)
        self.assertFalse(are_known())
        self.assertTrue(are_known())

    def test_at_one_site_long_jobs_let_later_ones_measure_more_of_mpis_own_collectives(self):
        one_site = {**TWO_SITES, "sites": [{"name": "a", "hosts": 4}]}
        del one_site["uplink"], one_site["link"]
        self.scenario = self.file("one.json", json.dumps(one_site))
        measured = "measured MPI's own collectives with these ranks"

        def known_times():
            times = self.native_times()
            return sum(len(times.get(name, ())) for name in ("bcast", "allreduce", "alltoall"))

        _, said = self.bench(LAPLE_PROBE_BUDGET="2")
        self.assertIn("measured 4 hosts", said)
        first = known_times()
        _, said = self.bench(LAPLE_PROBE_BUDGET="2")
        self.assertNotIn("measured", said)  # the first job was short
        self.assertLess(0, self.native_times()["allowance"])
        self.assertLess(self.native_times()["allowance"], 1)
        for _ in range(40):
            self.allow_to_measure(50)
            _, said = self.bench(LAPLE_PROBE_BUDGET="2")
            self.assertNotIn("measured 4 hosts", said)
            self.assertIn(measured, said)
            if "unfinished" not in self.native_times():
                break
            self.assertLess(self.native_times()["allowance"], 50)
        self.assertGreater(known_times(), first)
        self.assertNotIn("unfinished", self.native_times())
        self.assertNotIn("allowance", self.native_times())
        _, said = self.bench(LAPLE_PROBE_BUDGET="2")
        self.assertNotIn("measured", said)

    def allow_to_measure(self, seconds):
        """As if jobs had lasted a hundred times as long."""
        file = self.kept("*-*.json")
        with open(file, encoding="utf-8") as kept:
            model = json.load(kept)
        model["native"]["allowance"] = seconds
        with open(file, "w", encoding="utf-8") as kept:
            json.dump(model, kept)

    def native_times(self):
        with open(self.kept("*-*.json"), encoding="utf-8") as file:
            return json.load(file)["native"]

    def test_not_measured_when_it_must_not_be(self):
        for settings in ({"LAPLE_TOPOLOGY": "off"}, {"LAPLE_PROBE_BUDGET": "0"}):
            algorithms, said = self.bench(**settings)
            self.assertEqual(algorithms, ["native", "native"])
            self.assertNotIn("measured", said)
            self.assertFalse(os.path.exists(self.file("laple")))

    def test_too_little_time_is_said_once(self):
        algorithms, said = self.bench(LAPLE_PROBE_BUDGET="0.001")
        self.assertEqual(algorithms, ["native", "native"])
        self.assertEqual(said.count("could not be measured within 0.001 s"), 1, said)
        self.assertNotIn("the next job", said)  # nothing was measured

    def kept(self, pattern):
        [file] = glob.glob(self.file(f"laple/{pattern}"))
        return file

    def test_a_job_goes_on_where_one_with_too_little_time_stopped(self):
        self.bench()
        model = self.kept("*.json")
        latencies = model.removesuffix(".json") + ".latencies"
        os.rename(model, latencies)
        # What nobody would measure here.
        with open(latencies, "w", encoding="utf-8") as file:
            json.dump({"format": "laple-latencies-1", "hosts": ["a-1", "a-2", "b-1", "b-2"],
                       "latencies": [[0, 2, 0.0075], [0, 3, 0.0075], [1, 2, 0.0075], [1, 3, 0.0075]]}, file)
        _, said = self.bench(LAPLE_PROBE_BUDGET="0.001")
        self.assertIn("the next job goes on where this one stopped", said)
        algorithms, said = self.bench()
        self.assertIn("measured 4 hosts", said)
        with open(self.kept("*.json"), encoding="utf-8") as file:
            matrix = json.load(file)["matrix"]
        self.assertEqual([matrix[a][b] for a, b in ((0, 2), (0, 3), (1, 2), (1, 3))], [0.0075] * 4)
        self.assertNotEqual(matrix[0][1], 0)
        self.assertEqual(glob.glob(self.file("laple/*.latencies")), [])

    def forget_rates_after_three_jobs(self):
        file_of_hosts = self.kept("?" * 16 + ".json")
        with open(file_of_hosts, encoding="utf-8") as file:
            model = json.load(file)
        del model["links"]
        model["warnings"].append("there was no time to measure all rates: later jobs on these hosts go on, once they last long enough")
        model["sweeps"] = 3
        with open(file_of_hosts, "w", encoding="utf-8") as file:
            json.dump(model, file)
        return file_of_hosts

    def test_between_far_sites_what_jobs_have_lasted_adds_up(self):
        self.scenario = self.file("far.json", json.dumps({**TWO_SITES, "link": {"delay": "12ms"}}))
        self.bench(LAPLE_PROBE_BUDGET="2")
        self.forget_rates_after_three_jobs()
        allowances = []
        for _ in range(2):
            _, said = self.bench(LAPLE_PROBE_BUDGET="2")
            self.assertNotIn("measured", said)
            self.assertNotIn("ignored", said)
            allowances.append(self.native_times()["allowance"])
        self.assertLess(1.5 * allowances[0], allowances[1])

    def test_after_three_jobs_rates_wait_for_long_ones(self):
        self.bench(LAPLE_PROBE_BUDGET="2")
        file_of_hosts = self.forget_rates_after_three_jobs()
        _, said = self.bench(LAPLE_PROBE_BUDGET="2")
        self.assertNotIn("measured", said)
        self.assertLess(0, self.native_times()["allowance"])
        self.allow_to_measure(2)
        _, said = self.bench(LAPLE_PROBE_BUDGET="2")
        self.assertIn("measured more of the rates between these hosts", said)
        with open(file_of_hosts, encoding="utf-8") as file:
            model = json.load(file)
        self.assertEqual(len(model["links"]), 1)
        self.assertNotIn("sweeps", model)
        self.assertLess(self.native_times().get("allowance", 0), 2)

    def test_rates_that_an_earlier_job_had_no_time_for_are_measured(self):
        self.bench(LAPLE_PROBE_BUDGET="2")
        file_of_hosts = self.kept("?" * 16 + ".json")  # beside it is what concerns this placement of ranks
        with open(file_of_hosts, encoding="utf-8") as file:
            model = json.load(file)
        measured = {key: model.pop(key) for key in ("clusters", "links", "warnings")}
        with open(file_of_hosts, "w", encoding="utf-8") as file:
            json.dump(model, file)
        _, said = self.bench(LAPLE_PROBE_BUDGET="0.02")  # too short for any: not even tried
        self.assertNotIn("rates", said)
        algorithms, said = self.bench(LAPLE_PROBE_BUDGET="2")
        self.assertIn("measured more of the rates between these hosts", said)
        self.assertNotEqual(set(algorithms), {"native"})
        with open(file_of_hosts, encoding="utf-8") as file:
            model = json.load(file)
        self.assertEqual([link["between"] for link in model["links"]], [[0, 1]])
        self.assertEqual(len(model["clusters"]), len(measured["clusters"]))
        _, said = self.bench(LAPLE_PROBE_BUDGET="2")
        self.assertNotIn("rates", said)

    def test_a_job_on_some_of_the_hosts_measures_nothing_of_the_network(self):
        self.bench()
        _, said = self.bench_on("a-2,b-1", 4)
        self.assertIn("topology from", said)
        self.assertIn("4 ranks on 2 hosts in 2 clusters", said)
        self.assertNotIn("measured", said.replace("measured MPI's own collectives with these ranks", ""))

    def test_a_map_and_the_rates_of_a_model(self):
        self.bench()
        model = self.kept("*.json")
        clusters = self.file("clusters", "cluster 0 process 0 1 2 3\ncluster 1 process 4 5 6 7\n")
        timed = r"bcast 8 bytes, root 0: \S+ \([^()]+, \d\S* ms\)"
        _, said = self.bench(LAPLE_TOPOLOGY=clusters, LAPLE_DEBUG="2")
        self.assertNotRegex(said, timed)
        _, said = self.bench(LAPLE_TOPOLOGY=clusters, LAPLE_MODEL=model, LAPLE_DEBUG="2")
        self.assertRegex(said, timed)
        self.assertNotIn("knows no rates", said)
        without_rates = self.file("topology.json", json.dumps({"format": "laple-model-1", "ranks": 8, "levels": [SITES]}))
        _, said = self.bench(LAPLE_MODEL=without_rates)
        self.assertEqual(said.count("knows no rates"), 1, said)
        # A map is good without rates.
        broken = self.file("broken.json", "{")
        _, said = self.bench(LAPLE_TOPOLOGY=clusters, LAPLE_MODEL=broken)
        self.assertEqual(said.count("plans are made without its rates"), 1, said)
        self.assertIn("in 2 clusters", said)

    def test_jobs_end_on_far_links(self):
        # A laple-grid that finds no liblaple_yield.so: its own work-around for MPI_Finalize would hide LaPle's.
        os.mkdir(self.file("bin"))
        grid = shutil.copy(LAPLE_GRID, self.file("bin"))
        command = [grid, "run", self.scenario, "-n", "4", "--timeout", "30", "--env", f"LD_PRELOAD={LIBLAPLE}",
                   "--env", "LAPLE_TOPOLOGY=off", "--", LAPLE_BENCH, "--sizes", "8", "-i", "3", "barrier"]
        for _ in range(3):  # without LaPle's, seven of eight jobs did not end
            run = subprocess.run(command, capture_output=True, text=True, timeout=120, check=False)
            self.assertIn("liblaple_yield.so is not installed", run.stderr)
            self.assertEqual(run.returncode, 0, run.stderr)

    def test_what_others_may_write_is_not_trusted(self):
        self.bench()
        os.chmod(self.kept("*.json"), 0o666)
        _, said = self.bench()
        self.assertEqual(said.count("can be written by others"), 1, said)
        self.assertIn("measured 4 hosts", said)
        self.assertEqual(os.stat(self.kept("????????????????.json")).st_mode & 0o777, 0o600)

    def test_what_trials_find_is_for_the_next_job(self):
        # One site: its calls are so short that many of them take a second.
        one_site = {**TWO_SITES, "sites": [{"name": "a", "hosts": 4}]}
        del one_site["uplink"], one_site["link"]
        self.scenario = self.file("one-site.json", json.dumps(one_site))
        jobs_with_trials = 0
        for _ in range(10):
            run = self.run_job(ADAPTING_TEST, "broadcasts*", settings=self.settings, options=("-n", "4"))
            self.assertEqual(run.returncode, 0, run.stdout + run.stderr)
            jobs_with_trials += 1
            if "kept for the next job" not in run.stderr:
                # On a busy machine a job may have saved up too little time for a trial, or have measured times by which
                # nothing is worth one: begin anew.
                shutil.rmtree(self.file("laple"))
                jobs_with_trials = 0
            if jobs_with_trials == 2:
                break
        self.assertEqual(jobs_with_trials, 2, run.stderr)
        with open(self.kept("*-*.json"), encoding="utf-8") as file:
            calls = json.load(file)["calls"]
        self.assertEqual({(call["collective"], call["bytes"], call["root"]) for call in calls}, {("bcast", 8192, 3)})
        algorithms = [call["algorithm"] for call in calls]
        self.assertEqual(len(algorithms), len(set(algorithms)))
        self.assertGreater(len(calls[0]["times"]), 1)
        run = self.run_job(ADAPTING_TEST, "broadcasts*", settings={**self.settings, "LAPLE_DEBUG": "2"},
                           options=("-n", "4"))
        self.assertIn(f"root 3: {algorithms[0]} (the fastest of those that earlier jobs have tried", run.stderr)

    def test_plans_follow_an_uplink_that_is_slower_for_a_while(self):
        self.bench()
        grid = subprocess.run([LAPLE_GRID, "up", self.scenario], capture_output=True, text=True, timeout=60,
                              check=True).stdout.strip()
        self.addCleanup(subprocess.run, [LAPLE_GRID, "down", grid], capture_output=True, timeout=60, check=False)
        settings = [f"--env={name}={value}" for name, value in self.settings.items()]
        # It ends when nothing is left to be seen, long before all its calls.
        job = subprocess.Popen([LAPLE_GRID, "exec", grid, "-n", "8", *settings, "--", LAPLE_BENCH, "--sizes", "1M",
                                "--budget", "90", "-i", "5000", "bcast"], stdout=subprocess.DEVNULL, stderr=subprocess.PIPE, text=True)
        self.addCleanup(job.stderr.close)
        self.addCleanup(job.wait)
        self.addCleanup(job.terminate)
        watchdog = threading.Timer(100, job.terminate)
        self.addCleanup(watchdog.cancel)
        watchdog.start()

        def set_uplink(rate):
            subprocess.run([LAPLE_GRID, "set", grid, "b", "uplink", rate], check=True, capture_output=True, timeout=60)

        def next_line_with(text):
            return next((line for line in job.stderr if text in line), "")

        self.assertTrue(next_line_with("new communicator"))
        time.sleep(3)  # of usual calls
        set_uplink("20Mbit")
        # From a to b, or what leaves a, or what comes to b: between two sites that is the same.
        self.assertRegex(next_line_with("links have changed"), r"cluster [01] at most \S+ MB/s")
        set_uplink("100Mbit")
        self.assertIn("they are as they were measured; plans are made anew", next_line_with("links have changed"))

    def test_parts_of_the_job_first(self):
        run = self.run_job(PART_FIRST)
        self.assertEqual((run.returncode, run.stdout), (0, "good\n"), run.stderr)
        self.assertIn("measured 4 hosts", run.stderr)
        # Both halves have measured at the same time: what they found is not for all.
        self.assertIn("measured more of the rates between these hosts", run.stderr)
        of_all = []
        for name in glob.glob(self.file("laple/" + "?" * 16 + ".json")):
            with open(name, encoding="utf-8") as file:
                model = json.load(file)
            of_all += [model["warnings"]] if len(model["hosts"]) == 4 else []
        self.assertEqual(len(of_all), 1)
        self.assertNotIn("some ranks of a job", json.dumps(of_all))

    def test_a_file_for_another_order_of_hosts_and_parts_of_the_job_first(self):
        hosts = [{"name": name, "ranks": [2 * i, 2 * i + 1]} for i, name in enumerate(["b-1", "a-1", "b-2", "a-2"])]
        model = self.file("model.json", json.dumps({"format": "laple-model-1", "ranks": 8,
                                                    "levels": [[[0, 1, 4, 5], [2, 3, 6, 7]]], "hosts": hosts}))
        run = self.run_job(PART_FIRST, settings={**self.settings, "LAPLE_MODEL": model})
        self.assertEqual((run.returncode, run.stdout), (0, "good\n"), run.stderr)
        self.assertNotIn("MPI's own collectives are used", run.stderr)
        self.assertIn("8 ranks on 4 hosts in 2 clusters (2 2 hosts)", run.stderr)

    def test_a_foreign_file_is_refused_with_the_difference(self):
        hosts = [{"name": name, "ranks": [2 * i, 2 * i + 1]} for i, name in enumerate(["a-1", "a-2", "b-1", "c-1"])]
        model = self.file("foreign.json", json.dumps({"format": "laple-model-1", "ranks": 8, "levels": [SITES],
                                                      "hosts": hosts}))
        algorithms, said = self.bench(LAPLE_TOPOLOGY=model)
        self.assertEqual(algorithms, ["native", "native"])
        self.assertEqual(said.count("does not know b-2 and describes c-1, not in this job"), 1, said)

    def test_a_model_file_for_another_order_of_ranks(self):
        hosts = [{"name": name, "ranks": [i, i + 4]} for i, name in enumerate(["b-1", "a-1", "b-2", "a-2"])]
        model = self.file("model.json", json.dumps({"format": "laple-model-1", "ranks": 8,
                                                    "levels": [[[0, 2, 4, 6], [1, 3, 5, 7]]], "hosts": hosts}))
        algorithms, said = self.bench(LAPLE_MODEL=model)
        # Of two sites some calls are as fast natively.
        self.assertNotEqual(set(algorithms), {"native"})
        self.assertIn("8 ranks on 4 hosts in 2 clusters (2 2 hosts)", said)

    def test_a_missing_file_ends_all_ranks(self):
        run = self.run_job(LAPLE_DISCOVER, "--resume", self.file("nowhere"), settings={})
        self.assertEqual((run.returncode, run.stdout), (2, ""))
        self.assertIn("cannot be opened", run.stderr)

    def test_a_file_that_does_not_fit_a_part_fits_the_job(self):
        hosts = [{"name": name, "ranks": [i, i + 4]} for i, name in enumerate(["b-1", "a-1", "b-2", "a-2"])]
        model = self.file("model.json", json.dumps({"format": "laple-model-1", "ranks": 8,
                                                    "levels": [[[0, 2, 4, 6], [1, 3, 5, 7]]], "hosts": hosts}))
        run = self.run_job(PART_FIRST, settings={**self.settings, "LAPLE_MODEL": model})
        self.assertEqual((run.returncode, run.stdout), (0, "good\n"), run.stderr)
        self.assertIn("8 ranks on 4 hosts in 2 clusters (2 2 hosts)", run.stderr)

    def test_discover_stops_in_time_and_goes_on(self):
        run = self.run_job(LAPLE_DISCOVER, "--budget", "0.12", settings={})
        self.assertEqual(run.returncode, 3, run.stdout + run.stderr)
        part = json.loads(run.stdout)
        self.assertEqual(part["format"], "laple-latencies-1")
        self.assertLess(len(part["latencies"]), 6)
        # After Ctrl-C mpiexec has its say first.
        said = "[mpiexec@a-1] Sending Ctrl-C to processes as requested\n[mpiexec@a-1] Press Ctrl-C again to abort\n"
        run = self.run_job(LAPLE_DISCOVER, "--json", "--resume", self.file("part.json", said + run.stdout), settings={})
        self.assertEqual(run.returncode, 0, run.stderr)
        self.assertEqual(json.loads(run.stdout)["levels"], [SITES])

    def test_discover_measures_parameters(self):
        run = self.run_job(LAPLE_DISCOVER, "--model", "--quiet", settings={})
        self.assertEqual((run.returncode, run.stderr), (0, ""))
        model = json.loads(run.stdout)
        self.assertEqual(model["levels"], [SITES])
        self.assertEqual(len(model["clusters"]), 2)
        (link,) = model["links"]
        self.assertEqual(link["between"], [0, 1])
        # This machine may be busy, but nothing is faster than the network.
        self.assertGreater(link["plogp"]["latency"], 4e-3)
        self.assertEqual(link["there"][0][0], 1)
        # And it goes on from there without measuring anew.
        run = self.run_job(LAPLE_DISCOVER, "--model", "--quiet", "--resume", self.file("model.json", run.stdout),
                           settings={})
        self.assertEqual(json.loads(run.stdout)["links"], model["links"])


if __name__ == "__main__":
    if subprocess.run([LAPLE_GRID, "doctor"], stdout=subprocess.DEVNULL, check=False).returncode == 3:
        sys.exit(SKIPPED)
    unittest.main(argv=sys.argv[:1])
