# SPDX-License-Identifier: BSD-3-Clause
"""Levels inside a host, as laple-discover finds them for ranks that are bound to processors.

Usage: discover_test.py MPIEXEC LAPLE_DISCOVER LAPLE_YIELD
"""
import json
import os
import subprocess
import sys
import unittest

MPIEXEC, DISCOVER, YIELD = sys.argv[1:4]
PROCESSORS = sorted(os.sched_getaffinity(0))
COUNT = PROCESSORS[-1] + 1  # a machine that has them all


def named(host):
    """A command before the program's, which then believes that this is the name of its host."""
    if host is None:
        return []
    as_root = [] if os.geteuid() == 0 else ["--map-root-user"]
    return ["unshare", *as_root, "--uts", "sh", "-c", f'hostname {host}; exec "$@"', "sh"]


def discover(bindings, settings, *options, hosts=None):
    """Runs a rank on each of `bindings`, lists of processors; `settings` stand in the environment."""
    command = [MPIEXEC, "-genv", "LD_PRELOAD", YIELD]
    for name, value in settings.items():
        command += ["-genv", name, value]
    for i, processors in enumerate(bindings):
        command += [":"] if i else []
        command += ["-n", "1", *named(hosts[i] if hosts else None)]
        command += ["taskset", "-c", ",".join(map(str, processors)), DISCOVER, *options]
    return subprocess.run(command, capture_output=True, text=True, timeout=60, check=False,
                          env={**os.environ, "MPIEXEC_TIMEOUT": "50"})


def node_levels(bindings, description):
    run = discover(bindings, {"HWLOC_SYNTHETIC": description}, "--json", "--quiet")
    assert run.returncode == 0 and run.stderr == "", run.stderr
    return json.loads(run.stdout)["node_levels"]


class Levels(unittest.TestCase):
    first, last = [PROCESSORS[0]], [PROCESSORS[-1]]

    def test_packages(self):
        self.assertEqual(node_levels([self.first, self.last, self.first], f"package:{COUNT} core:1 pu:1"),
                         [{"kind": "package", "groups": [[0, 2], [1]]}])

    def test_numa_nodes_of_one_package(self):
        self.assertEqual(node_levels([self.last, self.first, self.first], f"package:1 numa:{COUNT} core:1 pu:1"),
                         [{"kind": "numa", "groups": [[0], [1, 2]]}])

    def test_caches_of_one_package(self):
        self.assertEqual(node_levels([self.first, self.last], f"package:1 l3:{COUNT} core:1 pu:1"),
                         [{"kind": "l3", "groups": [[0], [1]]}])

    def test_a_rank_that_may_run_anywhere_leaves_its_host_whole(self):
        self.assertEqual(node_levels([self.first, PROCESSORS], f"package:{COUNT} core:1 pu:1"), [])

    def test_people_are_told(self):
        run = discover([self.first, self.last], {"HWLOC_SYNTHETIC": f"package:{COUNT} core:1 pu:1"})
        self.assertEqual(run.returncode, 0)
        self.assertIn("1 level inside hosts: package (2 groups)", run.stderr)

    def test_several_nodes(self):
        # MPICH then takes ranks of odd and of even number to be on different nodes, and hosts have names.
        run = discover([self.first, self.first, self.first, self.last, self.last],
                       {"HWLOC_SYNTHETIC": f"package:{COUNT} core:1 pu:1", "MPIR_CVAR_ODD_EVEN_CLIQUES": "1"},
                       "--json", "--quiet", "--settle", "0", hosts=["even", "odd", "even", "odd", "even"])
        self.assertEqual(run.returncode, 0, run.stderr)
        self.assertEqual(json.loads(run.stdout)["node_levels"],
                         [{"kind": "node", "groups": [[0, 2, 4], [1, 3]]},
                          {"kind": "package", "groups": [[0, 2], [1], [3], [4]]}])

    def test_one_kernel_is_one_host(self):
        # Whatever MPI says: launchers that start several times on a host make several nodes of it.
        run = discover([self.first, self.last], {"MPIR_CVAR_ODD_EVEN_CLIQUES": "1"}, "--json", "--quiet")
        self.assertEqual(run.returncode, 0, run.stderr)
        self.assertEqual([host["ranks"] for host in json.loads(run.stdout)["hosts"]], [[0, 1]])

    def test_a_host_that_cannot_be_read_is_left_whole(self):
        run = discover([self.first, self.last], {"HWLOC_COMPONENTS": "stop"}, "--json", "--quiet")
        self.assertEqual(run.returncode, 0)
        self.assertRegex(run.stderr, "laple-discover: levels inside .* are left out: hwloc cannot read this host .*; ")
        self.assertEqual(json.loads(run.stdout)["node_levels"], [])


if __name__ == "__main__":
    if len(PROCESSORS) < 2:
        print("skipped: this machine has one processor")
        sys.exit(77)
    unittest.main(argv=sys.argv[:1])
