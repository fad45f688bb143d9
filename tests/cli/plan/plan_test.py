# SPDX-License-Identifier: BSD-3-Clause
"""What laple-plan explains, compares and simulates, and what it answers to wrong files and command lines."""
import json
import os
import pathlib
import re
import shlex
import subprocess
import sys
import tempfile
import unittest
import xml.etree.ElementTree

LAPLE_PLAN = sys.argv[1]
SITES = ["--synthetic", "site:4:10ms:100Mbit node:4:50us:100Mbit"]


def line(rate):
    return [[0, 2e-5], [1048576, 2e-5 + 1048576 / rate]]


def plogp(latency, rate):
    return {"latency": latency, "gap": line(rate), "flood_gap": line(rate)}


# Two sites of two ranks; the way to the second one is slow.
MODEL = {
    "format": "laple-model-1",
    "ranks": 4,
    "levels": [[[0, 2], [1, 3]]],
    "hosts": [{"name": "a-1", "ranks": [0]}, {"name": "b-1", "ranks": [1]},
              {"name": "a-2", "ranks": [2]}, {"name": "b-2", "ranks": [3]}],
    "inside": [5e-5, 5e-5],
    "between": [[0, 0.02], [0.02, 0]],
    "clusters": [{"inside": plogp(5e-5, 1e8)}, {"inside": plogp(5e-5, 1e8)}],
    "links": [{"between": [0, 1], "plogp": plogp(0.02, 1e7)}],
}


# Four sites of two hosts with four ranks each.
HOSTS = ["--synthetic", "site:4:10ms:100Mbit node:2:50us:100Mbit rank:4"]


def model_with_hosts(host_of):
    """MODEL with the ranks of `host_of` on hosts 0 to 3, two at each site."""
    ranks = range(len(host_of))
    hosts = [{"name": name, "ranks": [rank for rank in ranks if host_of[rank] == host]}
             for host, name in enumerate(["a-1", "a-2", "b-1", "b-2"])]
    sites = [[rank for rank in ranks if host_of[rank] // 2 == site] for site in (0, 1)]
    return {**MODEL, "ranks": len(host_of), "levels": [sites], "hosts": hosts}


# Two far hosts, between which eight connections carry twelve times what one does.
FAT_PIPE = {
    "format": "laple-model-1",
    "ranks": 2,
    "levels": [[[0], [1]]],
    "hosts": [{"name": "a", "ranks": [0]}, {"name": "b", "ranks": [1]}],
    "inside": [0, 0],
    "between": [[0, 0.05], [0.05, 0]],
    "clusters": [{}, {}],
    "links": [{"between": [0, 1], "plogp": plogp(0.05, 1e7), "there": [[1, 1e7]],
               "back": [[1, 1e7]], "streams_there": [[8, 1.2e8]], "streams_back": [[8, 1.2e8]]}],
}


class PlanTest(unittest.TestCase):
    def setUp(self):
        directory = tempfile.TemporaryDirectory()
        self.addCleanup(directory.cleanup)
        self.directory = directory.name

    def file(self, name, content):
        path = os.path.join(self.directory, name)
        with open(path, "w", encoding="utf-8") as file:
            file.write(content if isinstance(content, str) else json.dumps(content))
        return path

    def plan(self, *arguments):
        return subprocess.run([LAPLE_PLAN, *arguments], capture_output=True, text=True, timeout=60)

    def output(self, *arguments):
        result = self.plan(*arguments)
        self.assertEqual(result.returncode, 0, result.stderr)
        self.assertEqual(result.stderr, "")
        return result.stdout

    def check_refused(self, arguments, *parts):
        result = self.plan(*arguments)
        self.assertEqual(result.returncode, 2, result.stderr)
        self.assertEqual(result.stdout, "")
        for part in parts:
            self.assertIn(part, result.stderr)


class Explain(PlanTest):
    def test_a_small_message_crosses_the_wan_once(self):
        told = json.loads(self.output("explain", "bcast", "8", *SITES, "--format", "json"))
        self.assertGreater(told["predicted"], 0.010)
        self.assertLess(told["predicted"], 0.011)
        # Of those that are nearly as fast it is the one whose root has the fewest messages.
        [chosen] = [candidate for candidate in told["candidates"] if candidate["algorithm"] == told["algorithm"]]
        self.assertLess(chosen["predicted"], 1.04 * told["candidates"][0]["predicted"])
        times = [candidate["predicted"] for candidate in told["candidates"]]
        self.assertEqual(times, sorted(times))
        kinds = [candidate["kind"] for candidate in told["candidates"]]
        self.assertEqual(list(dict.fromkeys(kinds)), list(range(max(kinds) + 1)))
        self.assertLess(len(set(kinds)), len(kinds))

    def test_functions_have_their_names_in_mpi_too(self):
        told = self.output("explain", "allreduce", "64K", *SITES)
        for name in ["MPI_Allreduce", "mpi_iallreduce", "Allreduce_init", "iallreduce", "MPI_Allreduce_c"]:
            self.assertEqual(self.output("explain", name, "64K", *SITES), told)
        self.assertEqual(self.output("explain", "bcast", "8", *SITES, "--algorithm", "MPI_Bcast:chain/flat"),
                         self.output("explain", "bcast", "8", *SITES, "--algorithm", "bcast:chain/flat"))
        self.check_refused(["explain", "MPI_Send", "8", *SITES], '"MPI_Send" is no collective')

    def test_the_option_that_was_meant_is_named(self):
        self.check_refused(["explain", "bcast", "8", "--sinthetic", "x"], "--sinthetic", "did you mean --synthetic?")
        self.check_refused(["algorithms", "info"], "info is no collective")
        self.check_refused(["compare", *SITES, "--size=8"], "did you mean --sizes?")

    def test_the_way_that_was_not_taken_is_there_too(self):
        model = self.file("fat.json", FAT_PIPE)

        def explained(size, *arguments):
            return json.loads(self.output("explain", "bcast", size, "--model", model, "--format", "json", *arguments))
        by_streams = explained("64M")
        self.assertTrue(by_streams["algorithm"].endswith("+streams"))
        self.assertGreater(by_streams["other_way"]["predicted"], 5 * by_streams["predicted"])
        self.assertFalse(by_streams["other_way"]["algorithm"].endswith("+streams"))
        without = explained("64M", "--streams", "off")
        self.assertFalse(without["algorithm"].endswith("+streams"))
        self.assertNotIn("other_way", without)
        self.assertGreater(without["predicted"], 5 * by_streams["predicted"])
        # Four carry half of what eight do, at least; MPI's own goes by none of them.
        four = explained("64M", "--streams", "4")
        self.assertGreater(four["predicted"], 1.8 * by_streams["predicted"])

        def native(told):
            return [one["predicted"] for one in told["candidates"] if one["algorithm"] == "native"]
        self.assertEqual(native(four), native(without))
        self.assertIn("the best without streams", self.output("explain", "bcast", "64M", "--model", model))
        # The messages of pictures go by them, too.
        picture = self.output("explain", "bcast", "64M", "--model", model, "--format", "trace")
        ends = [event["ts"] + event.get("dur", 0) for event in json.loads(picture)["traceEvents"] if "ts" in event]
        self.assertLess(max(ends), 1.2e6 * by_streams["predicted"])
        self.check_refused(["explain", "bcast", "8", "--model", model, "--streams", "99"], "--streams 99")

    def test_text_names_the_choice_the_root_and_why_not_the_others(self):
        text = self.output("explain", "bcast", "1M", "--root", "3", *SITES)
        self.assertIn("root 3, 16 ranks in 4 clusters (4 4 4 4)", text)
        self.assertIn("chosen", text)
        self.assertIn("native", text)
        self.assertIn("until the first of", text)
        self.assertIn("\n3\n└─", text)

    def test_what_was_meant_is_asked_for(self):
        call = ["explain", "bcast", "1M", *SITES, "--algorithm"]
        for word, meant in [("binomail", "binomial"), ("multi-leader-chian@8K", "chain"), ("two-tre@8K", "two-tree"),
                            ("jackson/flta", "flat"), ("scater-ring", "scatter-ring")]:
            self.check_refused([*call, word], "is neither an algorithm nor a tree", f"did you mean {meant}?")
        self.check_refused([*call, "fef"], "the tree inside them is missing", "write fef/binomial")
        self.check_refused([*call, "bush"], "laple-plan algorithms lists them all")
        self.check_refused(["explian", "bcast", "8"], 'no command "explian"', "did you mean explain?")
        self.check_refused(["zzz"], 'no command "zzz"', "explain, compare, algorithms, yardstick, simulate")

    def test_algorithms_are_listed_for_a_collective_or_all(self):
        text = self.output("algorithms")
        for name in ("rsag/LEVEL/...[@SEGMENT][xLANES]\n", "    for scan, exscan\n", "    after Patarasuk and Yuan", "ecef-la-max", "native"):
            self.assertIn(name, text)
        of_scans = self.output("algorithms", "exscan")
        self.assertIn("prefix-chain", of_scans)
        self.assertNotIn("rsag", of_scans)
        families = json.loads(self.output("algorithms", "alltoall", "--format", "json"))
        self.assertTrue(all("alltoall" in family["collectives"] for family in families))
        self.assertIn("native", [family["names"] for family in families])
        self.check_refused(["algorithms", "bcats"], "bcats is no collective", "bcast, reduce")

    def test_what_is_forbidden_is_marked_and_does_not_count(self):
        call = ["explain", "bcast", "256K", "--synthetic", "site:3:10ms:100Mbit node:4:50us:1Gbit"]
        best = json.loads(self.output(*call, "--format", "json"))["algorithm"]
        text = self.output(*call, "--algorithm", "^" + best)
        self.assertRegex(text, r"(?m)^ .* " + re.escape(best) + " +forbidden$")
        self.assertRegex(text, "predicted .*the fastest of what is allowed")
        self.assertNotIn(f"{best}, ", text)

    def test_mpis_own_is_left_for_a_reason(self):
        near = ["--synthetic", "site:2:5ms rack:2:200us node:4:20us:10Gbit"]
        text = self.output("explain", "reduce", "8", *near)
        self.assertIn("native, 5.28 ms: nothing is predicted to be 5 % faster", text)
        self.assertIn("earlier, too little to leave MPI's own for", text)

    def test_rows_say_how_much_later(self):
        text = self.output("explain", "allreduce", "1M", *SITES, "--rows", "30")
        rows = text.split("and why not\n")[1].splitlines()
        self.assertGreater(len(rows), 10)
        for row in rows:
            self.assertRegex(row, r"chosen|as fast|[ms] later|[ms] earlier", row)
        self.assertRegex(text, r"direct-exchange/flat@\S+x2 .*later(, \S+ ms of it for its first|: \S+ ms for all but the first) segment")

    def test_a_level_of_single_ranks_changes_nothing(self):
        def predicted(network):
            return json.loads(self.output("explain", "bcast", "1M", "--synthetic", network, "--format", "json"))["predicted"]
        network = "site:2:10ms:100Mbit node:4:1ms:10Mbit"
        self.assertAlmostEqual(predicted(network + " core:1"), predicted(network))

    def test_only_roots_that_exist(self):
        self.check_refused(["compare", *SITES, "--root", "16"], "there is no rank 16", "0 to 15")
        self.check_refused(["explain", "bcast", "8", *SITES, "--root", "-1"], "there is no rank -1")

    def test_a_wish_that_cannot_be_fulfilled_is_said(self):
        result = self.plan("explain", "bcast", "8", *SITES, "--algorithm", "direct-exchange/flat")
        self.assertEqual(result.returncode, 0)
        self.assertIn("cannot be used", result.stderr)

    def test_the_picture_agrees_with_the_prediction(self):
        picture = self.output("explain", "bcast", "1M", *SITES, "--format", "svg")
        predicted, simulated = re.search(r"predicted (\d+)\S* ms, simulated: (\d+)\S* ms", picture).groups()
        self.assertLess(abs(int(predicted) - int(simulated)), 0.1 * int(simulated))

    def test_docs_show_what_is_said(self):
        """When this fails because plans have changed: scripts/update-docs."""
        page = pathlib.Path(__file__).parents[3] / "docs" / "planning.md"
        lines = page.read_text(encoding="utf-8").splitlines()
        commands = [i for i, line in enumerate(lines) if line.startswith("    laple-plan ")]
        self.assertGreaterEqual(len(commands), 3)
        for start in commands:
            with self.subTest(lines[start].strip()):
                end = next(i for i in range(start, len(lines)) if lines[i] and not lines[i].startswith("    "))
                shown = [line[4:] for line in lines[start + 2:end - 1]]
                self.assertGreater(len(shown), 4)
                said = [line.rstrip() for line in self.output(*shlex.split(lines[start])[1:]).splitlines()]
                self.assertEqual(said, shown)

    def test_what_is_left_to_mpi(self):
        for size, why in ("0", "no data"), ("2G", "2 GiB and more"):
            text = self.output("explain", "bcast", size, *SITES)
            self.assertIn(f"native: {why}", text)
            self.assertNotIn("predicted", text)
        text = self.output("explain", "barrier", *SITES, "--rows", "3")
        self.assertEqual(len(text.split("and why not\n")[1].splitlines()), 3)

    def test_textbook_algorithms_in_one_cluster(self):
        four = ["--synthetic", "node:4:50us:1Gbit"]
        expected = {"bcast": {"two-tree@64K", "scatter-ring", "scatter-doubling"}, "reduce": {"halving-gather"},
                    "allreduce": {"halving-doubling", "ring"}}
        for collective, names in expected.items():
            told = json.loads(self.output("explain", collective, "1M", *four, "--format", "json"))
            self.assertLessEqual(names, {candidate["algorithm"] for candidate in told["candidates"]})
        # A barrier has no size; three hosts cannot swap by doubling.
        self.assertIn("dissemination", self.output("explain", "barrier", *four))
        three = self.output("explain", "allreduce", "1M", "--synthetic", "node:3", "--rows", "100")
        self.assertIn("ring", three)
        self.assertNotIn("halving-doubling", three)
        # Four ranks on each of four hosts have a slice each.
        slices = self.output("explain", "allreduce", "64K", "--synthetic", "node:4:50us:1Gbit rank:4", "--rows", "100")
        self.assertIn("multi-leader-halving-doubling", slices)

    def test_a_model_file(self):
        told = json.loads(self.output("explain", "reduce", "64K", "--model", self.file("m.json", MODEL), "--format",
                                      "json"))
        self.assertEqual(told["ranks"], 4)
        # 32 KiB by each of two hosts at 10 MB/s and 20 ms, and some for connections that have rested.
        self.assertGreater(told["predicted"], 0.0260)
        self.assertLess(told["predicted"], 0.0290)

    def test_algorithms_are_forced_and_forbidden(self):
        told = json.loads(self.output("explain", "bcast", "64K", *SITES, "--format", "json", "--algorithm", "ecef/flat"))
        self.assertEqual(told["algorithm"], "ecef/flat")
        usual = json.loads(self.output("explain", "bcast", "64K", *SITES, "--format", "json"))["algorithm"]
        other = json.loads(self.output("explain", "bcast", "64K", *SITES, "--format", "json", "--algorithm",
                                       "^" + usual))["algorithm"]
        self.assertNotEqual(other, usual)

    def test_pictures(self):
        svg = self.output("explain", "allreduce", "64K", *SITES, "--format", "svg")
        self.assertEqual(xml.etree.ElementTree.fromstring(svg).tag, "{http://www.w3.org/2000/svg}svg")
        trace = json.loads(self.output("explain", "bcast", "64K", *SITES, "--format", "trace"))
        slices = [event for event in trace["traceEvents"] if event["ph"] == "X"]
        self.assertEqual({event["pid"] for event in slices}, set(range(16)))
        dot = self.output("explain", "bcast", "64K", *SITES, "--format", "dot")
        self.assertEqual(dot.count("->"), 15)

    def test_models_that_jobs_have_left_are_named(self):
        cache = os.path.join(self.directory, "cache", "laple")
        os.makedirs(cache)
        two = {**MODEL, "ranks": 2, "levels": [[[0], [1]]],
               "hosts": [{"name": "a-1", "ranks": [0]}, {"name": "b-1", "ranks": [1]}]}
        bare = {key: value for key, value in MODEL.items() if key not in ("clusters", "links")}
        names = [f"{digit * 16}.json" for digit in "0123"]
        for age, (name, content) in enumerate(zip(names, (MODEL, two, bare, "{"))):
            file = self.file(os.path.join(cache, name), content)
            os.utime(file, (1e9 - age, 1e9 - age))
        environment = {**os.environ, "XDG_CACHE_HOME": os.path.join(self.directory, "cache")}

        def refused(*arguments):
            done = subprocess.run([LAPLE_PLAN, "explain", "bcast", "8", *arguments], capture_output=True, text=True,
                                  timeout=60, env=environment)
            self.assertEqual((done.returncode, done.stdout), (2, ""))
            return done.stderr.splitlines()

        first, *named = refused()
        self.assertRegex(first, "no network is given; .*; earlier jobs have left:$")
        self.assertEqual([line.split()[:2] for line in named], [["--model", f"{cache}/{name}"] for name in names[:2]])
        self.assertIn("4 ranks in 2 clusters", named[0])
        first, *named = refused("--topology", self.file("map", "cluster 0 process 0\ncluster 1 process 1\n"))
        self.assertIn("a map has no rates", first)
        self.assertEqual([line.split()[1] for line in named], [f"{cache}/{names[1]}"])
        first, *named = refused("--topology", self.file("map", "cluster 0 process 0 1 2\n"))
        self.assertEqual(named, [])
        self.assertIn("laple-discover --model", first)

    def test_what_is_wrong_is_said(self):
        self.check_refused(["explain", "bcast", "8"], "no network is given", "--model FILE")
        self.check_refused(["explain", "alltoallv", "8", *SITES], "alltoallv has a count for each rank", "--counts FILE")
        self.check_refused(["explain", "alltoallx", "8", *SITES], "alltoallx",
                           "use bcast, reduce, allreduce, barrier, allgather, gather, scatter, alltoall, "
                           "reduce_scatter, scan or exscan")
        self.check_refused(["explain", "bcast", "8", "--root", "16", *SITES], "no rank 16", "use 0 to 15")
        self.check_refused(["explain", "bcast", "8x", *SITES], "8x")
        self.check_refused(["explain", "bcast", "8", *SITES, "--algorithm", "foo"], "foo")
        self.check_refused(["explain", "bcast", "8", "--model", "/no/such/file"], "/no/such/file")
        self.check_refused(["explain", "bcast", "8", "--model", self.file("map", "cluster 0 process 0 1")], "holds no rates")
        self.check_refused(["explain", "bcast", "8", *SITES, "--placement", "cyclic"], "no last level gives them any")
        bare = {key: value for key, value in MODEL.items() if key not in ("clusters", "links")}
        self.check_refused(["explain", "bcast", "8", "--model", self.file("bare.json", bare)], "no rates", "--model")
        for text in ("site:4 node:x", "site:4 node:0", "site:4:5 node:2", "site:4:1ms:fast node:2",
                     "site:70000 node:4", "", "site:4 node:4 node:1:2:3:4"):
            self.check_refused(["explain", "bcast", "8", "--synthetic", text], "laple-plan: ")

    def test_counts_are_explained(self):
        """16 ranks at four sites: rank 0 has 1 MiB for each other, the others 8 bytes or nothing."""
        rows = [" ".join(["1M"] * 16)] + [" ".join(["8", "0"] * 8)] * 15
        file = self.file("counts", "# bytes\n" + "\n".join(rows) + "\n")
        together = ["--algorithm", "cluster-aggregation"]
        told = json.loads(self.output("explain", "alltoallv", "--counts", file, *SITES, *together, "--format", "json"))
        self.assertEqual(told["straight"], {"blocks": 15, "bytes": 15 << 20})
        self.assertEqual(told["together"]["blocks"] + told["empty"], 15 * 15)
        self.assertEqual(told["kept"], 16)
        self.assertEqual(told["busiest"], "what host 0 sends")
        self.assertGreater(told["at_least"], 15 * (1 << 20) / 12.5e6)
        text = self.output("explain", "alltoallw", "--counts", file, *SITES, *together)
        self.assertIn("no rank knows the counts of all others", text)
        self.assertIn("straight to their ranks: 15 blocks, 15728640 bytes", text)
        one = self.file("one", " ".join(str(1000 * rank) for rank in range(16)))
        gathered = json.loads(self.output("explain", "gatherv", "--counts", one, "--root", "3", *SITES, "--format", "json"))
        self.assertEqual(gathered["bytes_between_clusters"], 1000 * (sum(range(16)) - 0 - 1 - 2 - 3))
        self.assertIn("allgatherv of blocks of up to", self.output("explain", "allgatherv", "--counts", one, *SITES))
        self.assertIn("reduce_scatter of blocks of up to", self.output("explain", "reduce_scatter", "--counts", one, *SITES))

    def test_wrong_counts_are_refused(self):
        short = self.file("short", "8 8 8\n")
        self.check_refused(["explain", "alltoallv", "--counts", short, *SITES], "short:1", "3 numbers for 16 ranks")
        self.check_refused(["explain", "gatherv", "--counts", short, *SITES], "3 numbers instead of 16")
        self.check_refused(["explain", "gatherv", "--counts", self.file("word", "8\n8 x"), *SITES], "word:2", '"x"')
        self.check_refused(["explain", "bcast", "--counts", short, *SITES], "bcast has no count for each rank")
        self.check_refused(["explain", "gatherv", "8", "--counts", short, *SITES], "both a size and --counts")
        self.check_refused(["explain", "alltoallv", "--counts", "/no/such", *SITES], "/no/such")
        many = self.file("many", "\n".join(" ".join(["4000000000000000000"] * 16) for _ in range(16)))
        self.check_refused(["explain", "alltoallv", "--counts", many, *SITES], "many:1", "more than an exabyte")


class Hosts(PlanTest):
    """Machines whose hosts have several ranks."""

    def told(self, *arguments):
        return json.loads(self.output("explain", *arguments, "--format", "json"))

    def edges(self, *arguments):
        """Of the tree: (from, to) and, by rank, the host and the cluster whose box it is drawn in."""
        dot = self.output("explain", *arguments, "--format", "dot")
        hosts, clusters, cluster = {}, {}, None
        for line in dot.splitlines():
            cluster = (re.findall(r"subgraph cluster_(\d+) ", line) or [cluster])[0]
            for host, ranks in re.findall(r"subgraph cluster_host_(\d+) \{ label=\"host \d+\";([^}]*)\}", line):
                for rank in re.findall(r"\d+", ranks):
                    hosts[int(rank)], clusters[int(rank)] = int(host), int(cluster)
        return [(int(a), int(b)) for a, b in re.findall(r"(\d+) -> (\d+)", dot)], hosts, clusters

    def test_ranks_hosts_and_clusters_are_told(self):
        self.assertIn("bcast of 8 bytes, root 0, 32 ranks on 8 hosts in 4 clusters (2 2 2 2 hosts)\n",
                      self.output("explain", "bcast", "8", *HOSTS))
        told = self.told("bcast", "8", *HOSTS)
        self.assertEqual([told[name] for name in ("ranks", "hosts", "clusters")], [32, 8, 4])
        self.assertIn("in 4 clusters (2 2 2 2 hosts) in 2 groups (4 4 hosts)",
                      self.output("explain", "bcast", "8", "--synthetic", "site:2:10ms hall:2:1ms node:2 rank:2"))

    def test_a_message_comes_to_each_host_once(self):
        for placement in ("block", "cyclic"):
            edges, hosts, clusters = self.edges("bcast", "1M", *HOSTS, "--placement", placement)
            self.assertEqual(len(edges), 31)
            self.assertEqual(hosts[1] == hosts[0], placement == "block")
            self.assertEqual(hosts[8] == hosts[0], placement == "cyclic")
            between_hosts = [(a, b) for a, b in edges if hosts[a] != hosts[b]]
            self.assertEqual(sorted(hosts[b] for _, b in between_hosts), list(range(1, 8)))
            self.assertEqual(len([1 for a, b in edges if clusters[a] != clusters[b]]), 3)

    def test_ranks_of_a_host_share_its_nic(self):
        """So that many ranks on few hosts take hardly longer than one on each."""
        single = self.told("allreduce", "1M", "--synthetic", "site:4:10ms:100Mbit node:2:50us:100Mbit")["predicted"]
        for placement in ("block", "cyclic"):
            found = self.told("allreduce", "1M", *HOSTS, "--placement", placement, "--algorithm", "^native")
            self.assertLess(single, found["predicted"])
            self.assertLess(found["predicted"], 1.1 * single)

    def test_the_memory_of_hosts_takes_time(self):
        slow = ["--synthetic", HOSTS[1] + ":1ms:100Mbit"]
        self.assertRegex(self.output("explain", "bcast", "1M", *HOSTS), r"\n  \S+ us of the time in the memory of hosts")
        self.assertRegex(self.output("explain", "bcast", "1M", *slow), r"\n  \S+ ms of the time in the memory of hosts")
        self.assertRegex(self.output("explain", "bcast", "1M", *slow, "--algorithm", "scatter-allgather/chain@4Kx4"),
                         " apart( on average)?: the memory of the busiest host\n")
        self.assertIn(" apart: the busiest NIC of ", self.output("explain", "reduce", "1M", *HOSTS, "--algorithm", "jackson/chain@8K"))
        self.assertNotIn("memory", self.output("explain", "bcast", "1M", *SITES))

    def test_text_says_where_a_message_comes_to_another_host(self):
        text = self.output("explain", "bcast", "256K", "--root", "5", "--synthetic", "site:2 node:2 rank:4")
        self.assertIn("\n5 on host 1\n", text)
        self.assertEqual(sorted(re.findall("on host ([0-9])", text)), ["0", "1", "2", "3"])

    def test_pictures_show_hosts(self):
        svg = self.output("explain", "bcast", "64K", *HOSTS, "--format", "svg")
        self.assertEqual(xml.etree.ElementTree.fromstring(svg).tag, "{http://www.w3.org/2000/svg}svg")
        self.assertEqual(len(re.findall(r">host \d<", svg)), 8)
        trace = json.loads(self.output("explain", "bcast", "64K", *HOSTS, "--format", "trace"))
        self.assertIn("rank 31 on host 7", [event["args"].get("name") for event in trace["traceEvents"] if "args" in event])
        for form in ("svg", "dot", "trace", "text"):
            self.assertNotIn("host 0", self.output("explain", "bcast", "64K", *SITES, "--format", form))

    def test_predictions_are_those_of_the_simulator(self):
        for placement in ("block", "cyclic"):
            for message in (["bcast", "1M"], ["reduce", "64K"], ["allreduce", "64K"], ["allgather", "8K"]):
                picture = self.output("explain", *message, *HOSTS, "--placement", placement, "--algorithm", "^native",
                                      "--format", "svg")
                predicted, simulated = re.search(r"predicted ([0-9.]+) ms, simulated: ([0-9.]+) ms", picture).groups()
                self.assertLess(abs(float(predicted) - float(simulated)), 0.1 * float(simulated), message)

    def test_hosts_of_a_model_in_any_order(self):
        placements = {"block": [0, 0, 1, 1, 2, 2, 3, 3], "round robin": [0, 1, 2, 3, 0, 1, 2, 3],
                      "any": [3, 0, 3, 1, 2, 0, 0, 3]}
        for name, host_of in placements.items():
            with self.subTest(name):
                model = self.file("m.json", model_with_hosts(host_of))
                self.assertIn("8 ranks on 4 hosts in 2 clusters (2 2 hosts)",
                              self.output("explain", "bcast", "64K", "--model", model))
                edges, hosts, _ = self.edges("bcast", "64K", "--model", model)
                # Numbered by their smallest ranks.
                number = {host: n for n, host in enumerate(dict.fromkeys(host_of))}
                self.assertEqual(hosts, {rank: number[host] for rank, host in enumerate(host_of)})
                self.assertEqual(len([1 for a, b in edges if hosts[a] != hosts[b]]), 3)
                self.output("compare", "--model", model, "--sizes", "8,64K")
                self.assertIn("simulated", self.output("yardstick", "--model", model, "--sizes", "64K"))

    def test_a_model_without_hosts_or_with_one_for_all_has_one_rank_a_host(self):
        expected = self.told("bcast", "64K", "--model", self.file("m.json", MODEL))
        self.assertEqual(expected["hosts"], 4)
        for hosts in ([], [{"name": "laptop", "ranks": [0, 1, 2, 3]}]):
            model = self.file("other.json", {**MODEL, "hosts": hosts})
            self.assertEqual(self.told("bcast", "64K", "--model", model), expected)
        without = {name: value for name, value in MODEL.items() if name != "hosts"}
        self.assertEqual(self.told("bcast", "64K", "--model", self.file("old.json", without)), expected)

    def test_one_rank_a_host_is_the_same_as_no_level_of_ranks(self):
        for order in ("block", "cyclic"):
            self.assertEqual(self.output("compare", "--synthetic", SITES[1] + " rank:1", "--placement", order),
                             self.output("compare", *SITES))

    def test_what_is_wrong_is_said(self):
        call = ["explain", "bcast", "8"]
        for text in ("rank:4", "rank:4 node:2", "site:2 rank:2 node:2"):
            self.check_refused([*call, "--synthetic", text], "is the last level, after one of hosts", "rank:8")
        for text in ("node:4 rank:0", "node:4 rank", "node:4 rank:2:0us", "node:4 rank:2:1us:1Gbit:x", "node:400 rank:400"):
            self.check_refused([*call, "--synthetic", text], "laple-plan: ")
        self.check_refused([*call, *HOSTS, "--placement", "scattered"], "--placement", "cyclic")
        self.check_refused([*call, "--model", self.file("m.json", MODEL), "--placement", "cyclic"],
                           'a model\'s "hosts" say where its ranks are')
        overlapping = model_with_hosts([0, 0, 1, 1, 2, 2, 3, 3])
        overlapping["hosts"][1]["ranks"].append(0)
        self.check_refused([*call, "--model", self.file("o.json", overlapping)], "/hosts/1/ranks/2", "repeats rank 0")


class Compare(PlanTest):
    def test_nothing_takes_no_time(self):
        rows = json.loads(self.output("compare", *SITES, "--sizes", "0", "--format", "json"))["rows"]
        self.assertEqual([row["algorithm"] for row in rows if row["collective"] == "bcast"], ["native"])

    def test_no_choice_is_slower_than_the_native_call_or_two_levels(self):
        told = json.loads(self.output("compare", *SITES, "--format", "json"))
        self.assertEqual(len(told["rows"]), 10 * 7 + 1)
        for row in told["rows"]:
            # Estimates of MPI's own are optimistic where one rank has many long blocks, or all send theirs at once.
            is_optimistic = row["collective"] in ("gather", "scatter", "alltoall") and row["bytes"] >= 16384
            floods = row["collective"] == "alltoall" and row["bytes"] > 256
            most = 1.15 if is_optimistic else 1.3501 if floods else 1.0001
            self.assertLessEqual(row["laple"], row["native"] * most, row)
            # Of nearly equal ones the one with fewer messages is taken. Long blocks that are combined undivided take
            # longer than their loads tell.
            allowed = 1.1 if row["collective"] == "reduce_scatter" else 1.0401
            self.assertLessEqual(row["laple"], row["two_level"] * allowed, row)


class Simulate(PlanTest):
    def simulate(self, *arguments):
        told = json.loads(self.output("simulate", "--format", "json", "--runs", "300", *arguments))
        return {row["clusters"]: {score["name"]: score for score in row["scores"]} for row in told["rows"]}

    def test_nobody_is_better_than_the_best(self):
        rows = self.simulate("--clusters", "4,10", "--best")
        for scores in rows.values():
            self.assertAlmostEqual(scores["best"]["ratio"], 1.0, places=6)
            self.assertEqual(scores["best"]["hit_rate"], 1.0)
            for score in scores.values():
                self.assertGreaterEqual(score["ratio"], 1.0)

    def test_the_same_seed_gives_the_same(self):
        self.assertEqual(self.simulate("--clusters", "6"), self.simulate("--clusters", "6"))
        self.assertNotEqual(self.simulate("--clusters", "6"), self.simulate("--clusters", "6", "--seed", "2"))

    def test_what_is_wrong_is_said(self):
        self.check_refused(["simulate", "--clusters", "1"], "--clusters")
        self.check_refused(["simulate", "--runs", "0"], "--runs")
        self.check_refused([], "laple-plan --help")


if __name__ == "__main__":
    unittest.main(argv=sys.argv[:1], verbosity=0)
