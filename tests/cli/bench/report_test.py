#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-3-Clause
"""scripts/bench: what it makes of results that stand here, and of wrong words. Needs neither grids nor MPI."""
import subprocess
import sys
import tempfile
import unittest
from pathlib import Path

ROOT = Path(__file__).resolve().parents[3]
sys.path.insert(0, str(ROOT / "bench" / "peers"))
import report  # noqa: E402

TITLES = {"mpich-4": "MPICH 4", "intel": "Intel MPI"}


def row(collective, count, stock, laple=None):
    known = {"collective": collective, "bytes": count, "bound_us": 1000.0, "binds": "latency", "stock_us": stock,
             "date": "today", "commit": "abc", "iterations": 15}
    return known | ({"laple_us": laple, "algorithm": "flat/binomial"} if laple else {})


DOCUMENT = {
    "format": "laple-peers-2", "scenario": "wan4x4", "ranks_per_host": 1, "placement": "block", "failures": {"openmpi": "does not start"},
    "runs": {
        "mpich-4": {"mpi": "MPICH 4.0.2",
                    "rows": [row("bcast", 8, 4000.0, 2000.0), row("barrier", 0, 3000.0, 1500.0)]},
        "intel": {"mpi": "Intel", "rows": [row("bcast", 8, 3000.0)]},
    },
}


class Report(unittest.TestCase):
    def cells(self):
        return report.Cells(DOCUMENT, TITLES)

    def test_the_best_peer_of_a_cell_counts(self):
        cells = self.cells()
        laple = "LaPle on MPICH 4"
        self.assertEqual(cells.best_peer(("bcast", 8)), (3000.0, "Intel MPI"))
        self.assertEqual(cells.speedup(("bcast", 8), laple), 1.5)
        self.assertEqual(cells.speedup(("bcast", 8), laple, "MPICH 4"), 2.0)
        self.assertEqual(cells.speedup(("barrier", 0), laple), 2.0)
        self.assertIsNone(cells.speedup(("barrier", 0), laple, "Intel MPI"))
        self.assertEqual(cells.efficiency(("bcast", 8), laple), 0.5)

    def test_means_are_geometric_and_the_worst_is_named(self):
        lines = report.summary([self.cells()], TITLES)
        self.assertIn("| LaPle on MPICH 4 | one rank a host | 1.73 | 2.00 | 1.50 | 1.50: wan4x4, bcast 8 |", lines)

    def test_placements_have_tables_and_means_of_their_own(self):
        cyclic = report.Cells(DOCUMENT | {"ranks_per_host": 2, "placement": "cyclic"}, TITLES)
        self.assertEqual((cyclic.name, cyclic.file), ("wan4x4, 2 ranks a host, dealt round", "wan4x4-2-cyclic"))
        lines = report.summary([cyclic, self.cells()], TITLES)
        self.assertEqual([line.split(" | ")[1] for line in lines[2:]], ["one rank a host", "2 ranks a host, dealt round"])

    def test_a_collective_that_not_all_have_is_in_the_table(self):
        run = DOCUMENT["runs"]["mpich-4"]
        gathered = DOCUMENT | {"runs": {"mpich-4": run | {"rows": [row("allgather", 8, 3000.0, 1500.0), *run["rows"]]}}}
        lines = report.table(report.Cells(gathered, TITLES))
        self.assertTrue(lines[-1].startswith("| allgather | 8 |"))

    def test_what_is_missing_is_shown(self):
        lines = report.table(self.cells())
        self.assertIn("| bcast | 8 | 4.0 ms | 2.0 ms | 3.0 ms | 1.50 | 1.0 ms | 0.50 | `flat/binomial` |", lines)
        self.assertIn("| barrier |  | 3.0 ms | 1.5 ms | - | 2.00 | 1.0 ms | 0.67 | `flat/binomial` |", lines)

    def test_a_peer_that_does_not_start_is_reported(self):
        with tempfile.TemporaryDirectory() as name:
            (Path(name) / "docs").mkdir()
            report.write_report([DOCUMENT], TITLES | {"openmpi": "Open MPI"}, Path(name))
            text = (Path(name) / "docs" / "performance.md").read_text()
        self.assertIn("- Open MPI could not be measured: does not start", text)
        self.assertIn("- Intel MPI: Intel; bcast: today, LaPle at abc, medians of 15.", text)


class CommandLine(unittest.TestCase):
    def test_unknown_words_are_refused(self):
        for words, said in ((["moon"], "\"moon\" is none of single8"), (["--who", "lam"], "\"lam\" is none of mpich-4")):
            done = subprocess.run([ROOT / "scripts" / "bench", *words], capture_output=True, text=True, check=False)
            self.assertEqual(done.returncode, 2)
            self.assertIn(said, done.stderr)

    def test_rows_say_where_they_are_from(self):
        later = row("gather", 8, 10.0) | {"commit": "def", "iterations": 5}
        text = report.origins([row("bcast", 8, 1.0), row("bcast", 64, 1.0), row("reduce", 8, 1.0), later])
        self.assertEqual(text, "bcast, reduce: today, LaPle at abc, medians of 15; gather: today, LaPle at def, medians of 5")


if __name__ == "__main__":
    unittest.main()
