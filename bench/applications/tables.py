# SPDX-License-Identifier: BSD-3-Clause
"""Tables of what bench/applications/run has measured, and their place in docs/performance.md."""
import json
import statistics
import sys
from pathlib import Path

ROOT = Path(__file__).resolve().parents[2]
RESULTS = ROOT / "bench" / "results"
PAGE = ROOT / "docs" / "performance.md"
BEGIN = "<!-- applications: begin -->"
END = "<!-- applications: end -->"


def result_file(scenario, ranks_per_host):
    many = "" if ranks_per_host == 1 else f"-{ranks_per_host}"
    return RESULTS / f"applications-{scenario}{many}.json"


def load_all():
    documents = [json.loads(file.read_text()) for file in sorted(RESULTS.glob("applications-*.json"))]
    return sorted(documents, key=lambda d: (d["scenario"] != "wan4x4", d["scenario"], d["ranks_per_host"]))


def seconds(result, who, key="seconds"):
    values = [run[key] for run in result["runs"] if run["who"] == who and run[key] is not None]
    return statistics.median(values) if values else None


def row(result):
    if "failure" in result:
        return f"| {result['title']} | failed: {result['failure']} | | | | | | |"
    stock, laple = seconds(result, "stock"), seconds(result, "laple")
    predicted = result["predicted_seconds"]  # None: the report cannot tell
    own = [seconds(result, who, "own_seconds") for who in ("stock", "laple")]
    return (f"| {result['title']} | {result['ranks']} | {stock:.1f} s | {laple:.1f} s | {stock / laple:.2f} | "
            f"{f'{own[0] / own[1]:.2f}' if all(own) else '-'} | {result['share_percent']:.0f} % | "
            f"{round(stock - laple, 1) + 0.0:.1f} s | {'-' if predicted is None else f'{predicted:.1f} s'} |")


def by_gain(document):
    """What has gained most is first, what has failed last."""
    return sorted(document["applications"].values(),
                  key=lambda r: 1 if "failure" in r else -seconds(r, "stock") / seconds(r, "laple"))


def table(document):
    """Medians."""
    return ["| program | ranks | MPICH 4.0.2 | with LaPle | times as fast | by its own clock | collectives | gained | predicted |",
            "|---|---:|---:|---:|---:|---:|---:|---:|---:|", *(row(result) for result in by_gain(document))]


def origin(document):
    """When, with which LaPle, and how often."""
    results = [r for r in document["applications"].values() if "failure" not in r]
    runs = sorted({len(r["runs"]) // 2 for r in results})
    when = sorted({f"{r['date']}, LaPle at {r['commit']}" for r in results})
    jobs = "one job each" if runs == [1] else f"medians of {', '.join(str(count) for count in runs)} jobs"
    return f"{'; '.join(when)}; {jobs}."


def picture(document, file):
    """Times of jobs over those of stock MPICH. Whether there is a picture; without matplotlib an old one stays."""
    try:
        import matplotlib
        matplotlib.use("Agg")
        from matplotlib import pyplot
    except ImportError:
        print(f"bench/applications/run: {file.name} is not drawn: matplotlib is missing (pip install matplotlib)", file=sys.stderr)
        return file.exists()
    results = [result for result in by_gain(document) if "failure" not in result]
    rows = range(len(results))
    figure, axes = pyplot.subplots(figsize=(8, 0.55 * len(results) + 1.2))
    axes.barh([row - 0.2 for row in rows], [1] * len(results), 0.38, color="lightgrey", label="stock MPICH: all else")
    axes.barh([row - 0.2 for row in rows], [result["share_percent"] / 100 for result in results], 0.38, color="grey",
              label="stock MPICH: collectives")
    axes.barh([row + 0.2 for row in rows], [seconds(result, "laple") / seconds(result, "stock") for result in results], 0.38,
              color="tab:blue", label="with LaPle")
    axes.set_yticks(list(rows), [result["title"].split(",")[0] for result in results])
    axes.invert_yaxis()
    axes.set_xlabel("time of the job / with stock MPICH")
    axes.legend(fontsize=7, loc="lower center", bbox_to_anchor=(0.5, 1), ncols=3)
    figure.tight_layout()
    figure.savefig(file, dpi=110)
    pyplot.close(figure)
    return True


def section(documents):
    lines = ["## Applications", "",
             "Whole programs (`bench/applications/run`), stock MPICH 4.0.2 and LaPle in turn: the time of a job from its launcher's",
             "start to its end, LaPle as its user gets it in the third job on these hosts. All results are right by the program's",
             "own measure, with both. \"Collectives\" is their part of the job with stock MPICH, \"predicted\" what `laple-run --profile` says",
             "beforehand that LaPle would gain.", ""]
    for document in documents:
        many = document["ranks_per_host"]
        name = document["scenario"] + ("" if many == 1 else f", {many} ranks a host")
        lines += [f"### Applications on {name}", "", *table(document), "", origin(document), ""]
        file = PAGE.parent / f"performance-{result_file(document['scenario'], many).stem}.png"
        if picture(document, file):
            lines += [f"![Applications on {name}: their times with LaPle and without]({file.name})", ""]
    return lines


def update_page(documents):
    """Puts the section between its marks."""
    before, rest = PAGE.read_text().split(BEGIN)
    _, after = rest.split(END)
    PAGE.write_text("\n".join([before + BEGIN, *section(documents), END]) + after)
