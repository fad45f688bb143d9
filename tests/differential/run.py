#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-3-Clause
"""Calls collectives at random through LaPle and through MPI alone, under random maps, algorithms and numbers of ranks,
until so many have been compared; in some jobs some of them non-blocking, some persistent. Each job prints its seed; --seed repeats it, with --jobs 1.

    tests/differential/run.py build/dev                    some 2,000 collectives
    tests/differential/run.py build/dev --calls 100000

Exit status: 0 when no bit differs, and LaPle did some calls of each kind itself; 1 otherwise, 2 for a wrong command line.
"""
import argparse
import json
import os
import random
import re
import subprocess
import sys
import tempfile

TREES = ["flat", "binomial", "binary", "chain", "3ary"]
BETWEEN = ["flat", "binomial", "chain", "nearest", "jackson", "ecef", "ecef-la", "ecef-la-max", "fef", "bottom-up", "best"]
OVER_HOSTS = {"bcast": ["two-tree@16", "scatter-ring", "scatter-doubling"], "reduce": ["halving-gather", "multi-leader-halving-gather@16"],
              "allreduce": ["ring", "halving-doubling", "halving-doubling@16", "multi-leader-halving-doubling", "pairwise", "multi-leader-pairwise"], "barrier": ["dissemination"]}
MANY = 50  # calls of a kind, of which LaPle should have done one
SEVERAL = 5  # jobs
PHASES = ["direct-exchange", "recursive-doubling", "rsag", "three-level"]


def draw_levels(draw, ranks):
    """One or two levels of unequal groups; ranks of one may be anywhere."""
    order = list(range(ranks))
    if draw.random() < 0.4:
        draw.shuffle(order)
    clusters = [[] for _ in range(draw.randint(1, max(2, min(5, ranks))))]
    for rank in order:
        clusters[draw.randrange(len(clusters))].append(rank)
    clusters = [sorted(cluster) for cluster in clusters if cluster]
    clusters.sort()
    if len(clusters) < 3 or draw.random() < 0.5:
        return [clusters]
    cut = draw.randint(1, len(clusters) - 1)
    return [sorted([sorted(sum(clusters[:cut], [])), sorted(sum(clusters[cut:], []))]), clusters]


def draw_model(draw, ranks):
    """A model with rates: the planner chooses by costs."""
    levels = draw_levels(draw, ranks)
    count = len(levels[-1])
    rate = 10 ** draw.uniform(6, 9)

    def curve(latency, bytes_a_second):
        return {"latency": latency, "gap": [[size, 1e-6 + size / bytes_a_second] for size in (0, 1024, 65536, 1048576)]}

    links = [{"between": [a, b], "plogp": curve(10 ** draw.uniform(-4, -1.5), rate * draw.uniform(0.1, 1)),
              "there": [[1, rate / 2]], "back": [[1, rate / 3]]} for a in range(count) for b in range(a + 1, count)]
    clusters = [{"inside": curve(5e-5, rate), "nic_out": rate, "nic_in": rate, "uplink_out": 2 * rate,
                 "uplink_in": 2 * rate, "reserve": draw.choice([0, 131072])} for _ in range(count)]
    return {"format": "laple-model-1", "ranks": ranks, "levels": levels, "clusters": clusters, "links": links}


def draw_algorithm(draw, collective):
    segment = draw.choice(["", "@16", "@100", "@1K", "@8K"])
    lanes = f"x{draw.randint(2, 6)}" if segment and draw.random() < 0.5 else ""
    within = draw.choice(TREES)
    if collective == "allgather":
        return draw.choice(["ring", "bruck", f"multi-leader-exchange{segment}", f"leader-exchange/{within}{segment}",
                            f"leader-ring/{within}{segment}"])
    if collective in ("gather", "scatter", "alltoall"):
        return draw.choice(["direct", "host-aggregation", "cluster-aggregation"]) + segment
    if collective == "reduce_scatter":
        return draw.choice([f"direct{segment}", f"host-combining{segment}", f"cluster-combining{segment}",
                            f"cluster-ring{segment or '@1K'}"])
    if collective in ("scan", "exscan"):
        return draw.choice(["prefix-chain" + segment, "prefix-exchange" + draw.choice(["", "/binary", "/3ary"]) + segment,
                            "prefix-owners" + segment, "prefix-gather"])
    if draw.random() < 0.2:
        return draw.choice(OVER_HOSTS[collective])
    if collective in ("allreduce", "barrier") and draw.random() < 0.7:
        phase = draw.choice(PHASES)
        return f"{phase}/{'flat' if lanes else within}{segment}{lanes}"
    if collective == "reduce" and draw.random() < 0.2:
        return f"rsag/{'flat' if lanes else within}{segment}{lanes}"
    if collective == "bcast" and draw.random() < 0.2:
        return f"scatter-allgather/chain{segment or '@1K'}{lanes or 'x4'}"
    leaders = "multi-leader-" if lanes or draw.random() < 0.3 else ""
    return f"{leaders}{draw.choice(BETWEEN)}/{within}{segment}{lanes}"


def draw_algorithms(draw):
    kind = draw.random()
    if kind < 0.25:
        return ""
    if kind < 0.45:
        return "^native"
    if kind < 0.55:
        return draw.choice(["flat/native", "chain/native", "direct-exchange/native"])
    return ";".join(f"{c}:{draw_algorithm(draw, c)}" for c in ("bcast", "reduce", "allreduce", "barrier", "allgather",
                                                                  "gather", "scatter", "alltoall", "reduce_scatter",
                                                                  "scan", "exscan"))


def run_job(options, seed):
    draw = random.Random(seed)
    ranks = draw.randint(1, 10)
    algorithm = draw_algorithms(draw)
    most = draw.choice([200, 3000, 20000, 200000])
    for segment, elements in (("@16", 200), ("@100", 3000)):  # thousands of segments take their time
        if segment in algorithm:
            most = min(most, elements)
    threads = 2 if ranks <= 4 and draw.random() < 0.3 else 1  # threads that wait keep their cores busy
    with tempfile.TemporaryDirectory(prefix="laple-differential-") as directory:
        topology = os.path.join(directory, "map")
        with open(topology, "w", encoding="utf-8") as file:
            if draw.random() < 0.5:
                json.dump(draw_model(draw, ranks), file)
            else:
                file.write("".join(f"cluster {i} process {' '.join(map(str, cluster))}\n"
                                   for i, cluster in enumerate(draw_levels(draw, ranks)[-1])))
        settings = {"LAPLE_TOPOLOGY": topology, "LAPLE_ALGORITHM": algorithm, "LAPLE_DEBUG": "1"}
        if draw.random() < 0.1:
            settings["LAPLE_VERIFY"] = "1"
        if draw.random() < 0.15:
            settings["LAPLE_REPRODUCIBLE"] = "strict"
        preloads = [f"{options.build}/lib/liblaple_yield.so"] if threads == 1 else []
        started = f"{options.build}/lib/liblaple_test_started.so"
        if os.path.exists(started) and draw.random() < 0.4:
            preloads.append(started)
            if threads == 1 and draw.random() < 0.2:
                settings["LAPLE_PROGRESS"] = "thread"
        settings["LD_PRELOAD"] = ":".join(preloads)
        if draw.random() < options.streams:
            faults = f"{options.build}/lib/liblaple_test_cut_streams.so"
            if options.faults > 0:
                settings |= {"TEST_FAULTS_PAUSE": str(options.faults), "LD_PRELOAD": ":".join(preloads + [faults])}
            settings |= {"LAPLE_STREAMS": str(draw.choice([1, 2, 4])), "LAPLE_STREAM_INTERFACE": "lo"}
        command = [options.mpiexec]
        for name, value in settings.items():
            command += ["-genv", name, value]
        command += ["-n", str(ranks), f"{options.build}/bin/differential", "--seed", str(seed), "--calls",
                    str(options.calls_of_job), "--most", str(most), "--threads", str(threads)]
        what = f"seed {seed}: {ranks} ranks, {algorithm or 'planned'}, messages up to {most}, threads {threads}" + \
            "".join(f", {name}" for name in ("LAPLE_VERIFY", "LAPLE_REPRODUCIBLE", "LAPLE_PROGRESS", "LAPLE_STREAMS") if name in settings) + \
            (", started" if started in preloads else "")
        try:
            done = subprocess.run(command, capture_output=True, text=True, timeout=options.timeout, check=False)
        except subprocess.TimeoutExpired as late:
            return what, 0, f"no end after {options.timeout} s\n{late.stdout or ''}{late.stderr or ''}"
        made = re.search(r"no difference in (\d+) collectives", done.stdout)
        for ours, every, kind in re.findall(r"by LaPle: (\d+) of (\d+) (.*)", done.stdout):
            options.paths.setdefault(kind, [0, 0])
            options.paths[kind][0] += int(ours)
            options.paths[kind][1] += int(every)
        if done.returncode != 0 or not made:
            return what, 0, f"exit status {done.returncode}\n{done.stdout}{done.stderr}"
        counts = re.findall(r"(\d+) connections were cut, (\d+) held up", done.stderr)
        cut, held = (sum(int(count[kind]) for count in counts) for kind in (0, 1))
        what += f", {cut} connections cut, {held} held up" if counts else ""
        ignored = re.search(r"LAPLE_\w+.* is ignored.*|streams: .*|cannot.*MPI's own.*|LAPLE_VERIFY: (?!\d|nothing).*", done.stderr)
        return what, int(made.group(1)), ignored.group(0) if ignored else ""


def parse_arguments():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("build", help="build directory, with bin/differential")
    parser.add_argument("--calls", type=int, default=2000, help="compare so many collectives")
    parser.add_argument("--calls-of-job", type=int, default=500)
    parser.add_argument("--jobs", type=int, help="end after so many jobs")
    parser.add_argument("--streams", type=float, default=0.3, help="share of jobs whose messages between clusters go by them")
    parser.add_argument("--faults", type=int, default=0, help="milliseconds between two of their connections that are cut, or held up")
    parser.add_argument("--seed", type=int, default=1, help="of the first job; the next ones count on")
    parser.add_argument("--timeout", type=float, default=180, help="seconds for a job")
    parser.add_argument("--mpiexec", default="mpiexec")
    return parser.parse_args()


def tell_paths(paths):
    ours = {kind: f"{100 * count / every:.0f} %" for kind, (count, every) in sorted(paths.items()) if "," not in kind}
    print("LaPle did, as rank 0 saw it: " + ", ".join(f"{kind.removeprefix('MPI_')} {share}" for kind, share in ours.items()))


def main():
    options = parse_arguments()
    options.build = os.path.abspath(options.build)
    options.paths = {}  # by kind of call: how many LaPle did itself, and how many there were
    compared = 0
    job = 0
    failed = []
    while compared < options.calls and (options.jobs is None or job < options.jobs):
        seed = options.seed + job
        job += 1
        what, made, problem = run_job(options, seed)
        compared += made
        print(f"{what}: {made} alike" + (f"; {problem}" if problem else ""), flush=True)
        if problem:
            failed.append(seed)
            if len(failed) == 5:
                break
    print(f"{compared} collectives compared in {job} jobs; " +
          (f"trouble with seeds {failed}" if failed else "no difference"))
    tell_paths(options.paths)
    # One job may have a map of one cluster, or a rule that leaves a collective to MPI.
    never = [kind for kind, (ours, every) in options.paths.items() if ours == 0 and every >= MANY and job >= SEVERAL]
    if never:
        print("MPI's own call was compared with itself, as LaPle did none of: " + "; ".join(never))
    return 1 if failed or never else 0


if __name__ == "__main__":
    sys.exit(main())
