# SPDX-License-Identifier: BSD-3-Clause
"""Tables and pictures of what bench/peers/run has measured."""
import math
import sys

COLLECTIVES = ["bcast", "reduce", "allreduce", "barrier", "allgather", "gather", "scatter", "alltoall", "reduce_scatter", "scan",
               "exscan"]
ONE_SITE = ["single8"]
MOST_COLUMNS = 4


def size_text(count):
    for unit in ("", "K", "M"):
        if count < 1024:
            return f"{count}{unit}"
        count //= 1024
    return f"{count}G"


def time_text(us):
    return f"{us:.0f} us" if us < 1000 else f"{us / 1000:.1f} ms" if us < 1e5 else f"{us / 1000:.0f} ms"


def geometric_mean(values):
    return math.exp(sum(math.log(v) for v in values) / len(values)) if values else float("nan")


class Cells:
    """The times of one scenario and placement of ranks: by (collective, bytes), of every column."""

    def __init__(self, document, titles):
        self.scenario = document["scenario"]
        self.layout = "one rank a host"
        self.file = self.scenario
        if document["ranks_per_host"] > 1:
            placement = {"block": "in blocks", "cyclic": "dealt round"}[document["placement"]]
            self.layout = f"{document['ranks_per_host']} ranks a host, {placement}"
            self.file += f"-{document['ranks_per_host']}-{document['placement']}"
        self.name = self.scenario if self.layout == "one rank a host" else f"{self.scenario}, {self.layout}"
        self.times = {}
        self.bounds = {}
        self.algorithms = {}
        self.columns = []
        for name, title in titles.items():
            run = document["runs"].get(name)
            if run is None:
                continue
            stock, laple = title, f"LaPle on {title}"
            self.columns.append(stock)
            if any("laple_us" in row for row in run["rows"]):
                self.columns.append(laple)
            for row in run["rows"]:
                cell = (row["collective"], row["bytes"])
                self.times.setdefault(cell, {})[stock] = row["stock_us"]
                self.bounds[cell] = (row["bound_us"], row["binds"])
                if "laple_us" in row:
                    self.times[cell][laple] = row["laple_us"]
                    self.algorithms[(cell, laple)] = row["algorithm"]
        self.stocks = [c for c in self.columns if not c.startswith("LaPle")]
        self.laples = [c for c in self.columns if c.startswith("LaPle")]

    def cells(self):
        return sorted(self.times, key=lambda cell: (COLLECTIVES.index(cell[0]), cell[1]))

    def best_peer(self, cell):
        return min((self.times[cell][c], c) for c in self.stocks if c in self.times[cell])

    def speedup(self, cell, laple, stock=None):
        """Over the best of the peers, or over one of them; nothing where one of both is missing."""
        times = self.times[cell]
        if laple not in times or (stock and stock not in times):
            return None
        return (times[stock] if stock else self.best_peer(cell)[0]) / times[laple]

    def efficiency(self, cell, column):
        return self.bounds[cell][0] / self.times[cell][column] if column in self.times[cell] else None


def table(cells):
    last = cells.laples[-1] if cells.laples else "LaPle"
    lines = ["| | | " + " | ".join(cells.columns) + f" | best peer / {last} | bound | of it | algorithm |",
             "|---|---:|" + "---:|" * (len(cells.columns) + 3) + "---|"]
    laple = cells.laples[-1] if cells.laples else None
    for cell in cells.cells():
        collective, count = cell
        row = [collective, size_text(count) if collective != "barrier" else ""]
        row += [time_text(cells.times[cell][c]) if c in cells.times[cell] else "-" for c in cells.columns]
        if laple and laple in cells.times[cell]:
            row += [f"{cells.speedup(cell, laple):.2f}", time_text(cells.bounds[cell][0]),
                    f"{cells.efficiency(cell, laple):.2f}", f"`{cells.algorithms[(cell, laple)]}`"]
        else:
            row += ["-", time_text(cells.bounds[cell][0]), "-", ""]
        lines.append("| " + " | ".join(row) + " |")
    return lines


def summary(all_cells, titles):
    """Geometric means over the scenarios with several sites, for each placement of ranks."""
    several = [cells for cells in all_cells if cells.scenario not in ONE_SITE]
    lines = ["| geometric mean over the cells of grids with several sites | | best peer of each | " + " | ".join(titles.values()) + " | worst cell |",
             "|---|---|---:|" + "---:|" * len(titles) + "---|"]
    for layout in sorted({cells.layout for cells in several}, key=lambda layout: (layout != "one rank a host", layout)):
        chosen = [cells for cells in several if cells.layout == layout]
        for laple in dict.fromkeys(c for cells in chosen for c in cells.laples):
            lines.append(summary_row(chosen, layout, laple, titles))
    return lines


def summary_row(chosen, layout, laple, titles):
    def speedups(stock):
        return [s for cells in chosen for cell in cells.cells() if (s := cells.speedup(cell, laple, stock))]
    worst = min((s, cells.scenario, cell) for cells in chosen for cell in cells.cells() if (s := cells.speedup(cell, laple)))
    means = [geometric_mean(speedups(stock)) for stock in [None, *titles.values()]]
    return (f"| {laple} | {layout} | " + " | ".join("-" if math.isnan(mean) else f"{mean:.2f}" for mean in means)
            + f" | {worst[0]:.2f}: {worst[1]}, {worst[2][0]} {size_text(worst[2][1])} |")


def picture(cells, file):
    """Times over the bound, one panel a collective. Whether there is a picture; without matplotlib an old one stays."""
    try:
        import matplotlib
        matplotlib.use("Agg")
        from matplotlib import pyplot
        from matplotlib.ticker import LogLocator
    except ImportError:
        print(f"scripts/bench: {file.name} is not drawn: matplotlib is missing (pip install matplotlib)", file=sys.stderr)
        return file.exists()
    collectives = [c for c in COLLECTIVES if c != "barrier" and any(cell[0] == c for cell in cells.times)]
    columns = min(len(collectives), MOST_COLUMNS)
    rows = -(-len(collectives) // columns)
    figure, grid = pyplot.subplots(rows, columns, figsize=(4.2 * columns, 3.3 * rows + 0.3), sharey=True, squeeze=False)
    panels = list(grid.flat)
    for panel in panels[len(collectives):]:
        panel.set_axis_off()
    for panel, collective in zip(panels, collectives):
        mine = [cell for cell in cells.cells() if cell[0] == collective]
        for column in cells.columns:
            known = [cell for cell in mine if column in cells.times[cell]]
            is_laple = column in cells.laples
            panel.plot([mine.index(cell) for cell in known],
                       [cells.times[cell][column] / cells.bounds[cell][0] for cell in known],
                       marker="o", linewidth=2.2 if is_laple else 1.1, linestyle="-" if is_laple else "--", label=column)
        panel.axhline(1, color="grey", linewidth=0.8)
        panel.set_yscale("log")
        panel.yaxis.set_major_formatter("{x:g}")
        panel.yaxis.set_minor_locator(LogLocator(subs=(2, 5)))
        panel.yaxis.set_minor_formatter("{x:g}")
        panel.set_xticks(range(len(mine)), [size_text(cell[1]) for cell in mine])
        panel.set_title(collective)
    for row in grid:
        row[0].set_ylabel("time / what the network allows")
    panels[len(collectives) - 1].legend(fontsize=7)
    figure.suptitle(cells.name)
    figure.tight_layout()
    figure.savefig(file, dpi=110)
    pyplot.close(figure)
    return True


def origins(rows):
    """Which collectives were measured when, how often, and with which LaPle."""
    found = {}
    for row in rows:
        found.setdefault((row["date"], row["commit"], row["iterations"]), []).append(row["collective"])
    return "; ".join(f"{', '.join(dict.fromkeys(names))}: {date}, LaPle at {commit}, medians of {iterations}"
                     for (date, commit, iterations), names in sorted(found.items()))


def write_report(documents, titles, root):
    """docs/performance.md, and docs/performance-SCENARIO.png."""
    all_cells = [Cells(document, titles) for document in documents]
    if not all_cells:
        raise SystemExit("scripts/bench: nothing has been measured")
    lines = ["# How fast is it?", "",
             "LaPle beside other MPIs on emulated grids: real MPI libraries over real TCP, in network namespaces of one",
             "machine (two cores); medians from one agreed start to the last rank's end. Written by `scripts/bench`, from",
             "`bench/results`. \"Bound\" is a time that no algorithm can beat at the rates of NICs and uplinks, \"of it\" what part",
             "of LaPle's time that is: above 1 where the bytes that a rested NIC's rate limiter lets pass at once (`nic_burst` of",
             "the scenario) are much of the message. Means are over the cells that were measured with both. They leave out",
             "`single8`, one site. Ranks that are dealt round go to host after host: neighbours share none.", ""]
    if any(cells.laples and cells.scenario not in ONE_SITE for cells in all_cells):
        lines += [*summary(all_cells, titles), ""]
    lines += ["<!-- applications: begin -->", "<!-- applications: end -->", ""]  # bench/applications/tables.py fills it
    for document, cells in zip(documents, all_cells):
        lines += [f"## {cells.name}", ""]
        if picture(cells, root / "docs" / f"performance-{cells.file}.png"):
            lines += [f"![{cells.name}: times over the bound](performance-{cells.file}.png)", ""]
        lines += [*table(cells), ""]
        lines += [f"- {titles[name]}: {run['mpi']}; {origins(run['rows'])}." for name, run in document["runs"].items()]
        lines += [f"- {titles[name]} could not be measured: {reason}" for name, reason in document["failures"].items()]
        lines.append("")
    (root / "docs" / "performance.md").write_text("\n".join(lines).rstrip() + "\n")
