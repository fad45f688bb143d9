# SPDX-License-Identifier: BSD-3-Clause
"""What laple-plot draws, and what it answers to wrong files and command lines."""
import importlib.util
import json
import os
import subprocess
import sys
import tempfile
import unittest

LAPLE_PLOT = sys.argv[1]
PLOGP = {"latency": 1e-5, "gap": [[0, 1e-6], [1024, 1e-4], [4096, 4e-4]], "flood_gap": [[0, 1e-6], [1024, 9e-5]],
         "cold_gap": [[0, 1e-6], [4096, 9e-4]]}
MODEL = {
    "format": "laple-model-1",
    "ranks": 4,
    "levels": [[[0, 2], [1, 3]]],
    "hosts": [{"name": "a-1", "ranks": [0]}, {"name": "b-1", "ranks": [1]},
              {"name": "a-2", "ranks": [2]}, {"name": "b-2", "ranks": [3]}],
    "matrix": [[0, 1e-2, 1e-5, 1e-2], [1e-2, 0, 1e-2, 1e-5], [1e-5, 1e-2, 0, 1e-2], [1e-2, 1e-5, 1e-2, 0]],
    "inside": [1e-5, 1e-5],
    "between": [[0, 1e-2], [1e-2, 0]],
    "clusters": [{"inside": PLOGP}, {}],
    "links": [{"between": [0, 1], "plogp": PLOGP}],
}
SCORES = {"format": "laple-monte-carlo-1", "rows": [
    {"clusters": clusters, "scores": [{"name": "ecef", "mean": 2.0, "ratio": 1.1, "hit_rate": 0.4},
                                      {"name": "portfolio", "mean": 1.9, "ratio": 1.0, "hit_rate": 1.0}]}
    for clusters in (4, 8)]}
PROFILE = {"format": "laple-profile-1", "parts": {"kind": "cluster", "ranks": [[0, 1, 2], [3, 5]]},
           "messages": [[0, 10], [3, 1]], "bytes": [[0, 2500000], [0, 700]]}
NP_OUT = "       1 0.790123   0.00000966\n    1024 901.871560   0.00000866\n"


class PlotTest(unittest.TestCase):
    def setUp(self):
        directory = tempfile.TemporaryDirectory()
        self.addCleanup(directory.cleanup)
        self.directory = directory.name

    def file(self, name, content):
        path = os.path.join(self.directory, name)
        with open(path, "w", encoding="utf-8") as file:
            file.write(content if isinstance(content, str) else json.dumps(content))
        return path

    def plot(self, *arguments):
        return subprocess.run([sys.executable, LAPLE_PLOT, *arguments], capture_output=True, text=True, timeout=60,
                              cwd=self.directory)

    def check(self, arguments, *parts):
        result = self.plot(*arguments)
        self.assertEqual(result.returncode, 2, result.stderr)
        self.assertNotIn("Traceback", result.stderr)
        for part in parts:
            self.assertIn(part, result.stderr)

    def check_model(self, what, change, *parts):
        model = json.loads(json.dumps(MODEL))
        change(model)
        self.file("m.json", model)
        self.check([what, "m.json", "-o", "x.png"], *parts)


class CommandLine(PlotTest):
    def test_help_begins_with_examples(self):
        result = self.plot("--help")
        self.assertEqual(result.returncode, 0)
        self.assertTrue(result.stdout.startswith("Examples:"))

    def test_version(self):
        self.assertRegex(self.plot("--version").stdout, r"^laple-plot \d")

    def test_wrong_options(self):
        model = self.file("m.json", MODEL)
        self.check([], "required")
        self.check(["heatmap", model, "-o", "x.png"], "matrix")
        self.check(["matrix", model], "-o")
        self.check(["matrix", model, "-o", "x.gif"], "name a .png, .svg or .pdf file")
        self.check(["matrix", model, "-o", "nowhere/x.png"], "in a directory that exists")
        self.check(["matrix", model, "-o", "x.png", "--only", "0"], "are for curves")
        self.check(["matrix", "nosuch.json", "-o", "x.png"], "nosuch.json: cannot be read (No such file")


@unittest.skipUnless(importlib.util.find_spec("matplotlib"), "needs matplotlib")
class Timelines(PlotTest):
    def test_a_call_whose_messages_were_recorded_at_one_end_only(self):
        def event(rank, start, length, **args):
            return {"ph": "X", "name": "MPI_Bcast", "pid": rank, "tid": 0, "ts": start, "dur": length, "args": args}
        call = [event(rank, 0, 100, call="1", algorithm="chain@8K") for rank in (0, 1)]
        predicted = event(2, 0, 10, call="1", **{"from": 0, "to": 1}, arrived_us=60)
        self.file("t.json", {"otherData": {"format": "laple-trace-1", "ranks": 2, "cluster_of": [0, 0], "host_of": [0, 1]},
                             "traceEvents": [*call, predicted]})
        result = self.plot("timeline", "t.json", "-o", "t.svg")
        self.assertEqual((result.returncode, result.stderr), (0, ""))
        with open(os.path.join(self.directory, "t.svg"), encoding="utf-8") as picture:
            self.assertIn("<svg", picture.read())


class Models(PlotTest):
    def test_what_is_no_model(self):
        for text, expected in [("{", "m.json:1: not valid JSON"), ("[]", "m.json: is not of format"),
                               ('{"format": "laple-model-2"}', "m.json: is not of format"),
                               ("[" * 100000, "m.json: is nested too deeply"),
                               ('{"x": NaN}', "m.json: holds NaN"), ("", "m.json:1: not valid JSON")]:
            with self.subTest(text[:20]):
                self.file("m.json", text)
                self.check(["tree", "m.json", "-o", "x.png"], expected)

    def test_place_and_cure(self):
        for what, member, value, expected in [
            ("tree", ["ranks"], 0, "m.json: /ranks: is no whole number from 1"),
            ("tree", ["levels", 0, 0], [0], "m.json: /levels/0: does not put each of the 4 ranks into one group"),
            ("tree", ["levels", 0, 0, 1], "x", "m.json: /levels/0/0/1: is no whole number from 0 to 3"),
            ("tree", ["levels"], [[[0, 2], [1, 3]], [[0, 1], [2, 3]]], "m.json: /levels/1/0: is in several groups"),
            ("tree", ["hosts", 1, "ranks"], [0], "m.json: /hosts: do not have each of the 4 ranks once"),
            ("tree", ["hosts", 1], {"ranks": [0]}, 'm.json: /hosts/1: has no "name"; add "name"'),
            ("matrix", ["matrix", 2], [0], "m.json: /matrix/2: holds 1 values instead of 4"),
            ("matrix", ["matrix", 2, 1], -1, "m.json: /matrix/2/1: is no number from 0 to 1e16; let LaPle"),
            ("curves", ["clusters"], [{}], "m.json: /clusters: holds 1 clusters instead of 2"),
            ("curves", ["links", 0, "between", 1], 2, "m.json: /links/0/between/1: is no whole number from 0 to 1"),
            ("curves", ["links", 0, "plogp", "gap", 1, 0], 0, "/links/0/plogp/gap/1/0: is not larger than"),
            ("curves", ["links", 0, "plogp", "gap"], [], "m.json: /links/0/plogp/gap: holds no point"),
        ]:
            def change(model):
                place = model
                for key in member[:-1]:
                    place = place[key]
                place[member[-1]] = value

            with self.subTest(expected):
                self.check_model(what, change, expected)

    def test_what_was_not_measured(self):
        def by_hand(model):
            for name in ("hosts", "matrix", "inside", "between", "clusters", "links"):
                del model[name]

        self.check_model("matrix", by_hand, 'neither "matrix" nor "between"', "laple-discover --json")
        self.check_model("curves", by_hand, "holds no curves", "laple-discover --model")


class Heuristics(PlotTest):
    def test_what_are_no_scores(self):
        self.file("m.json", MODEL)
        self.check(["heuristics", "m.json", "-o", "x.png"], "m.json: /format: is not laple-monte-carlo-1", "laple-plan")
        for change, expected in [({"rows": []}, "/rows: holds nothing to draw"),
                                 ({"rows": [{"clusters": 0, "scores": []}]}, "/rows/0/clusters: is no whole number"),
                                 ({"rows": 3}, "/rows: is not a list")]:
            self.file("m.json", {**SCORES, **change})
            self.check(["heuristics", "m.json", "-o", "x.png"], expected)


class Traffic(PlotTest):
    def test_what_is_no_profile(self):
        self.file("m.json", MODEL)
        self.check(["traffic", "m.json", "-o", "x.png"], 'm.json: is not of format "laple-profile-1"', "laple-run --profile")
        for change, expected in [({"messages": [[0, 0], [0, 0]]}, "m.json: holds no point-to-point message"),
                                 ({"bytes": [[1, 2]]}, "/bytes: holds 1 rows instead of 2"),
                                 ({"bytes": [[1, 2], [1, -2]]}, "/bytes/1/1: is no number from 0"),
                                 ({"parts": {"kind": "cluster", "ranks": [[0], [-1]]}}, "/parts/ranks/1/0: is no whole number")]:
            with self.subTest(expected):
                self.file("m.json", {**PROFILE, **change})
                self.check(["traffic", "m.json", "-o", "x.png"], expected)
        self.file("m.json", {name: value for name, value in PROFILE.items() if name != "parts"})
        self.check(["traffic", "m.json", "-o", "x.png"], "m.json: knows no clusters and hosts")


def bench_rows(scale):
    """Of laple-bench: LaPle's calls take 10 ms times `scale` and a tenth more or less, MPI's own 20 ms."""
    rows = []
    for collective, size in (("bcast", 8), ("bcast", 1 << 20), ("barrier", 0)):
        row = {"collective": collective, "bytes": size}
        for library, time in (("library", 2e4), ("laple", 1e4 * scale)):
            row |= {f"{library}_us": time, f"{library}_min_us": 0.9 * time, f"{library}_p95_us": 1.1 * time}
        rows.append(row)
    return {"format": "laple-bench-1", "context": {"laple_version": "0.1.0"}, "results": rows}


class Benchmarks(PlotTest):
    def compare(self, before, after):
        self.file("before.json", before)
        self.file("after.json", after)
        result = self.plot("bench", "before.json", "after.json")
        self.assertEqual((result.returncode, result.stderr), (0, ""))
        return [line.split() for line in result.stdout.splitlines()[2:]]

    def test_two_runs_in_a_table(self):
        lines = self.compare(bench_rows(1), bench_rows(0.8))
        self.assertIn(["bcast", "1M", "LaPle", "10", "ms", "8", "ms", "0.80", "faster"], lines)
        self.assertIn(["barrier", "0", "MPI's", "own", "20", "ms", "20", "ms", "1.00", "="], lines)
        self.assertEqual(len(lines), 6)
        self.assertEqual([line[-1] for line in self.compare(bench_rows(1), bench_rows(1.05)) if "LaPle" in line], ["="] * 3)
        self.assertEqual([line[-1] for line in self.compare(bench_rows(1), bench_rows(1.3)) if "LaPle" in line], ["slower"] * 3)
        steady = bench_rows(1.05)
        for row in steady["results"]:
            row["laple_min_us"] = row["laple_us"]  # 10.5 ms and no less: the other run's 10 ms are not among them
        self.assertEqual([line[-1] for line in self.compare(bench_rows(1), steady) if "LaPle" in line], ["slower"] * 3)

    def test_without_laple_both_columns_are_mpis(self):
        alone = {**bench_rows(1), "context": {"laple_version": None}}
        self.assertEqual([line for line in self.compare(alone, bench_rows(1)) if "LaPle" in line], [])

    def test_what_cannot_be_compared_or_drawn(self):
        self.file("m.json", MODEL)
        self.file("a.json", bench_rows(1))
        self.file("none.json", {**bench_rows(1), "results": []})
        self.file("other.json", {**bench_rows(1), "results": [{**bench_rows(1)["results"][0], "bytes": 9}]})
        self.check(["bench", "m.json", "a.json"], 'm.json: is not of format "laple-bench-1"', "laple-bench --json")
        self.check(["bench", "a.json", "none.json"], "none.json: holds no times")
        self.check(["bench", "a.json", "other.json"], "other.json: has no collective and size of a.json")
        self.check(["bench", "a.json"], "-o/--output")
        self.check(["bench", "a.json", "a.json", "--call", "3"], "--call is for timeline")
        self.check(["bench", "a.json", "-o", "x.gif", "a.json"], "name a .png, .svg or .pdf file")
        self.check(["bench", "a.json", "a.json", "a.json"], "one file or two, not 3")
        self.check(["matrix", "m.json", "m.json", "-o", "x.png"], "matrix takes one file, not 2")


class Netpipe(PlotTest):
    def test_wrong_overlays(self):
        self.file("m.json", MODEL)
        self.file("np.out", NP_OUT)
        for text, given, expected in [
            (NP_OUT, "np.out", "np.out: where was it measured?; add :0"), (NP_OUT, "np.out:7", "7 is not drawn"),
            (NP_OUT, "nosuch:0", "nosuch: is no file"), ("", "np.out:0", "np.out: holds no measurement"),
            ("1 2\n", "np.out:0", "np.out:1: is not made of a size, a throughput and a time"),
            ("1 nan 1\n", "np.out:0", "np.out:1: is not made of"),
            ("\n1 1 1\n", "np.out:0", "np.out:2: throughput and time contradict"),
            (NP_OUT + NP_OUT, "np.out:0", "np.out:3: 1 bytes stand there already"),
        ]:
            with self.subTest(expected):
                self.file("np.out", text)
                self.check(["curves", "m.json", "--netpipe", given, "-o", "x.png"], expected)
        self.check(["curves", "m.json", "--only", "1", "-o", "x.png"], "no curves of 1; choose from 0, 0-1")


@unittest.skipUnless(importlib.util.find_spec("matplotlib"), "needs matplotlib")
class Pictures(PlotTest):
    def check_picture(self, what, *options, model=MODEL):
        self.file("m.json", model)
        result = self.plot(what, "m.json", "-o", "x.svg", *options)
        self.assertEqual((result.returncode, result.stderr, result.stdout), (0, "", ""))
        with open(os.path.join(self.directory, "x.svg"), encoding="utf-8") as file:
            return file.read()

    def test_benchmarks(self):
        self.file("a.json", bench_rows(1))
        self.file("b.json", bench_rows(0.8))
        for files, labels in ((["a.json"], ["MPI's own", "LaPle"]), (["a.json", "b.json"], ["LaPle, a.json", "MPI's own, b.json"])):
            result = self.plot("bench", *files, "-o", "x.svg")
            self.assertEqual((result.returncode, result.stderr), (0, ""))
            with open(os.path.join(self.directory, "x.svg"), encoding="utf-8") as file:
                picture = file.read()
            for text in [*labels, "bcast"]:
                self.assertIn(text, picture)
            self.assertNotIn("barrier", picture)

    def test_matrix_is_ordered_by_cluster(self):
        names = [line for line in self.check_picture("matrix").splitlines() if "<!-- " in line]
        hosts = [line.strip(" <!->") for line in names if line.strip(" <!->")[:2] in ("a-", "b-")]
        self.assertEqual(hosts, ["a-1", "a-2", "b-1", "b-2"] * 2)

    def test_clusters_stand_in_for_a_missing_matrix(self):
        model = {name: value for name, value in MODEL.items() if name != "matrix"}
        self.assertIn("<!-- 1 b -->", self.check_picture("matrix", model=model))

    def test_tree_ends_at_hosts(self):
        picture = self.check_picture("tree")
        for label in ("4 ranks", "cluster 1 b", "a-2: rank 2"):
            self.assertIn(f"<!-- {label} -->", picture)

    def test_hosts_of_several_ranks_are_counted(self):
        model = {"format": "laple-model-1", "ranks": 6, "levels": [[[0, 1, 2, 4], [3, 5]]],
                 "hosts": [{"name": "a-1", "ranks": [0, 1, 2]}, {"name": "a-2", "ranks": [4]},
                           {"name": "b-1", "ranks": [3, 5]}], "between": [[0, 1e-2], [1e-2, 0]]}
        picture = self.check_picture("tree", model=model)
        for label in ("6 ranks on 3 hosts", "a-1: ranks 0-2", "b-1: 2 ranks"):
            self.assertIn(f"<!-- {label} -->", picture)
        self.assertIn("6 ranks on 3 hosts, clusters: 2", self.check_picture("matrix", model=model))

    def test_a_model_made_by_hand_has_a_tree(self):
        levels = [[[0, 1, 2, 3], [4, 5]], [[0, 1], [2, 3], [4, 5]]]
        picture = self.check_picture("tree", model={"format": "laple-model-1", "ranks": 6, "levels": levels})
        self.assertIn("<!-- group 0: 4 ranks -->", picture)
        self.assertIn("<!-- rank 5 -->", picture)

    def test_heuristics(self):
        picture = self.check_picture("heuristics", model=SCORES)
        for label in ("ecef", "portfolio"):
            self.assertIn(f"<!-- {label} -->", picture)

    def test_traffic(self):
        picture = self.check_picture("traffic", model=PROFILE)
        for label in ("cluster 0: ranks 0-2", "cluster 1: 2 ranks", "2.5 MB", "700 B", "0 B", "point-to-point: 2.5 MB in 14 messages"):
            self.assertIn(f"<!-- {label} -->", picture)
        cells = [picture.index(f"<!-- {cell} -->") for cell in ("2.5 MB", "0 B", "700 B")]  # row by row
        self.assertEqual(cells, sorted(cells))

    def test_curves(self):
        self.file("np.out", NP_OUT)
        picture = self.check_picture("curves", "--netpipe", "np.out:0-1")
        for label in ("in 0 a", "0 a to 1 b", "NetPIPE np.out"):
            self.assertIn(f"<!-- {label} -->", picture)
        self.assertNotIn("0 a to 1 b", self.check_picture("curves", "--only", "0"))

    def test_png_and_pdf(self):
        model = self.file("m.json", MODEL)
        for suffix, begin in (("png", b"\x89PNG"), ("pdf", b"%PDF")):
            self.assertEqual(self.plot("tree", model, "-o", f"x.{suffix}").returncode, 0)
            with open(os.path.join(self.directory, f"x.{suffix}"), "rb") as file:
                self.assertEqual(file.read(4), begin)


if __name__ == "__main__":
    result = unittest.main(argv=sys.argv[:1], exit=False).result
    sys.exit(1 if not result.wasSuccessful() else 77 if result.skipped else 0)  # 77: something was skipped
