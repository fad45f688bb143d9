# SPDX-License-Identifier: BSD-3-Clause
"""laple-info as its users meet it: in a shell, and in a job on two emulated sites.

Usage: info_test.py LAPLE_INFO LAPLE_GRID
"""
import json
import os
import subprocess
import sys
import tarfile
import tempfile
import unittest

LAPLE_INFO, LAPLE_GRID = sys.argv[1:3]
NAME = f"info{os.getpid()}"
os.environ["LAPLE_CONFIG"] = "none"  # the settings of whoever runs this do not change it
TWO_SITES = {
    "format": "laple-grid-1",
    "name": NAME,
    "description": "two sites of two hosts",
    "nic": "100Mbit",
    "uplink": "100Mbit",
    "sites": [{"name": "a", "hosts": 2}, {"name": "b", "hosts": 2}],
    "link": {"delay": "5ms"},
}


def run(*command, **options):
    return subprocess.run(command, capture_output=True, text=True, timeout=120, check=False, **options)


class InAShell(unittest.TestCase):
    def test_settings_and_where_they_come_from(self):
        shown = run(LAPLE_INFO, env={**os.environ, "LAPLE_DEBUG": "1"})
        self.assertEqual(shown.returncode, 0, shown.stderr)
        self.assertRegex(shown.stdout, r"(?m)^LAPLE_DEBUG +1 +environment$")
        self.assertRegex(shown.stdout, r"(?m)^LAPLE_TOPOLOGY .* default$")
        self.assertEqual(json.loads(run(LAPLE_INFO, "--json").stdout)["hosts"], 1)

    def test_configuration_files(self):
        with tempfile.TemporaryDirectory() as home:
            os.mkdir(f"{home}/laple")
            file = f"{home}/laple/laple.conf"
            env = {**os.environ, "XDG_CONFIG_HOME": home, "LAPLE_DEBUG": "1"}
            del env["LAPLE_CONFIG"]
            with open(file, "w", encoding="utf-8") as conf:
                conf.write("LAPLE_DEBUG = 2\nLAPLE_STREAMS = 3\nLAPLE_STREMS = 3\n")
            shown = run(LAPLE_INFO, env=env)
            self.assertRegex(shown.stdout, r"(?m)^LAPLE_DEBUG +1 +environment$")
            self.assertRegex(shown.stdout, rf"(?m)^LAPLE_STREAMS +3 +{file}:2$")
            self.assertIn(f"warning: {file}:3: LAPLE_STREMS is no setting of LaPle; did you mean LAPLE_STREAMS?", shown.stdout)
            settings = json.loads(run(LAPLE_INFO, "--json", env=env).stdout)["settings"]
            self.assertIn({"name": "LAPLE_STREAMS", "value": "3", "from": f"{file}:2"}, settings)
            self.assertIn({"name": "LAPLE_ADAPT", "value": "on", "from": "default"}, settings)

    def test_a_configuration_to_edit(self):
        with tempfile.TemporaryDirectory() as home:
            text = run(LAPLE_INFO, "--config", env={**os.environ, "LAPLE_STREAMS": "3"})
            self.assertEqual((text.returncode, text.stderr), (0, ""))
            self.assertIn("# from environment:\nLAPLE_STREAMS = 3\n", text.stdout)
            for setting in json.loads(run(LAPLE_INFO, "--json").stdout)["settings"]:
                self.assertRegex(text.stdout, rf"(?m)^# {setting['name']} =")
            with open(f"{home}/conf", "w", encoding="utf-8") as conf:
                conf.write(text.stdout)
            again = json.loads(run(LAPLE_INFO, "--json", env={**os.environ, "LAPLE_CONFIG": f"{home}/conf"}).stdout)
            self.assertEqual(again["warnings"], [])
            given = {each["name"]: each["value"] for each in again["settings"] if each["from"].startswith(home)}
            self.assertEqual(given, {"LAPLE_STREAMS": "3"})

    def test_report_of_a_bug(self):
        with tempfile.TemporaryDirectory() as folder:
            archive = f"{folder}/report.tar.gz"
            with open(f"{folder}/map", "w", encoding="utf-8") as file:
                file.write("cluster 0 process 0 1\ncluster 1 process 2 3\n")
            env = {**os.environ, "LAPLE_TOPOLOGY": f"{folder}/map", "SECRET": "xyzzy", "TMPDIR": folder}
            written = run(LAPLE_INFO, "--bug-report", archive, env=env)
            self.assertEqual(written.returncode, 0, written.stderr)
            self.assertEqual(sorted(os.listdir(folder)), ["map", "report.tar.gz"])
            self.assertEqual(os.stat(archive).st_mode & 0o777, 0o600)
            with tarfile.open(archive) as tar:
                content = {name: tar.extractfile(name).read().decode() for name in tar.getnames() if "/" in name}
            names = ["cache.txt", "environment.txt", "hosts.txt", "info.json", "info.txt", "laple.conf", "model.json",
                     "topology"]
            self.assertEqual(sorted(content), [f"laple-report/{name}" for name in names])
            for name in names:
                self.assertRegex(written.stdout, rf"(?m)^  {name} ")
            self.assertRegex(written.stdout, r"Send it to \S+.*\.\n$")
            self.assertIn("cluster 1 process 2 3", content["laple-report/topology"])
            self.assertEqual(json.loads(content["laple-report/info.json"])["topology_from"], f"LAPLE_TOPOLOGY={folder}/map")
            self.assertRegex(content["laple-report/hosts.txt"], r"(?s)kernel: Linux .*hwloc: .* PU.*congestion_control.* lo +.* mtu +\d+ +qdisc ")
            self.assertIn(f"LAPLE_TOPOLOGY={folder}/map", content["laple-report/environment.txt"])
            self.assertNotIn("xyzzy", "".join(content.values()))

    def test_a_report_replaces_nothing_unless_told(self):
        with tempfile.TemporaryDirectory() as folder:
            archive = f"{folder}/report.tgz"
            precious = f"{folder}/precious"
            with open(precious, "w", encoding="utf-8") as file:
                file.write("precious")
            os.symlink(precious, archive)
            refused = run(LAPLE_INFO, "--bug-report", archive)
            self.assertEqual((refused.returncode, refused.stdout), (2, ""))
            self.assertIn("is there already", refused.stderr)
            self.assertTrue(os.path.islink(archive))
            self.assertEqual(run(LAPLE_INFO, "--bug-report", archive, "--force").returncode, 0)
            self.assertTrue(tarfile.is_tarfile(archive) and not os.path.islink(archive))
            with open(precious, encoding="utf-8") as file:
                self.assertEqual(file.read(), "precious")
            self.assertEqual(sorted(os.listdir(folder)), ["precious", "report.tgz"])

    def test_a_report_that_cannot_be_written_leaves_nothing(self):
        with tempfile.TemporaryDirectory() as folder:
            for name, env in ((f"{folder}/report.txt", {}), (f"{folder}/no/report.tar.gz", {}),
                              (f"{folder}/report.tar.gz", {"PATH": "/nowhere"})):
                refused = run(LAPLE_INFO, "--bug-report", name, env={**os.environ, **env})
                self.assertEqual((refused.returncode, refused.stdout), (2, ""), name)
                self.assertIn("laple-info: ", refused.stderr)
            self.assertEqual(os.listdir(folder), [])

    def test_a_file(self):
        with tempfile.NamedTemporaryFile("w", suffix=".map") as file:
            file.write("cluster 0 process 0 1\ncluster 1 process 2 3\n")
            file.flush()
            self.assertIn("4 ranks in 2 clusters (2 2)", run(LAPLE_INFO, file.name).stdout)

    def test_hosts_of_a_file(self):
        with tempfile.NamedTemporaryFile("w", suffix=".json") as file:
            json.dump({"format": "laple-model-1", "ranks": 8, "levels": [[[0, 2, 4, 6], [1, 3, 5, 7]]],
                       "hosts": [{"name": "a-1", "ranks": [0, 2, 4]}, {"name": "a-2", "ranks": [6]},
                                 {"name": "b-1", "ranks": [1, 3, 5, 7]}]}, file)
            file.flush()
            shown = run(LAPLE_INFO, file.name).stdout
        self.assertIn("8 ranks on 3 hosts in 2 clusters (2 1 hosts)", shown)
        self.assertIn("ranks on hosts of cluster 0: a-1 (0, 2, 4), a-2 (6)", shown)
        self.assertIn("ranks on hosts of cluster 1: b-1 (1, 3, 5, 7)", shown)

    def test_wrong_command_lines(self):
        for arguments in (["--nework"], ["--network", "file"], ["/no/such/file"], ["--force"], ["--config", "--json"]):
            shown = run(LAPLE_INFO, *arguments)
            self.assertEqual((shown.returncode, shown.stdout), (2, ""), arguments)
            self.assertIn("laple-info: ", shown.stderr)
        self.assertIn("there is no --nework; did you mean --network?", run(LAPLE_INFO, "--nework").stderr)

    def test_no_network_within_one_host(self):
        shown = run(LAPLE_INFO, "--network")
        self.assertEqual(shown.returncode, 0, shown.stderr)
        self.assertIn("one host: no connection to look at", shown.stdout)


class OnTwoSites(unittest.TestCase):
    @classmethod
    def setUpClass(cls):
        if run(LAPLE_GRID, "doctor").returncode != 0:
            raise unittest.SkipTest("no grid can be raised here")
        with tempfile.NamedTemporaryFile("w", suffix=".json") as scenario:
            json.dump(TWO_SITES, scenario)
            scenario.flush()
            up = run(LAPLE_GRID, "up", scenario.name)
        if up.returncode != 0:
            raise RuntimeError(up.stderr)
        cls.grid = up.stdout.strip()

    @classmethod
    def tearDownClass(cls):
        run(LAPLE_GRID, "down", cls.grid)

    def type_line(self, host, line):
        shown = run(LAPLE_GRID, "shell", self.grid, host, "--", "sh", "-c", line)
        self.assertEqual(shown.returncode, 0, shown.stderr)

    def network(self):
        shown = run(LAPLE_GRID, "exec", self.grid, "-n", "8", "--", LAPLE_INFO, "--network", "--json")
        self.assertEqual(shown.returncode, 0, shown.stderr)
        return json.loads(shown.stdout)

    def lines(self, host):
        """What is to be typed because of that host."""
        return [each["line"] for each in self.network()["advice"] if each["problem"].startswith(host)]

    def test_connections_of_all_hosts(self):
        state = self.network()
        self.assertEqual([host["name"] for host in state["hosts"]], ["a-1", "a-2", "b-1", "b-2"])
        ends = {host["own_addresses"][0]: number for number, host in enumerate(state["hosts"])}
        seen = {(flow["host"], ends[flow["peer_address"]]) for flow in state["connections"]}
        self.assertEqual(seen, {(a, b) for a in range(4) for b in range(4) if a != b})
        for flow in state["connections"]:
            is_far = flow["host"] // 2 != ends[flow["peer_address"]] // 2
            self.assertEqual(flow["least_round_trip"] > 9e-3, is_far, flow)
        # 1 MiB each way between every two hosts.
        self.assertGreaterEqual(sum(flow["sent"] for flow in state["connections"]), 12 << 20)

    def test_the_line_to_type_helps(self):
        self.type_line("a-1", 'sysctl -w net.ipv4.tcp_wmem="4096 16384 65536"')
        lines = [line for line in self.lines("a-1") if "tcp_wmem" in line]
        self.assertEqual(len(lines), 1)
        self.type_line("a-1", lines[0])
        self.assertEqual([line for line in self.lines("a-1") if "tcp_wmem" in line], [])

    def test_a_map_of_a_job_is_shown_with_its_hosts(self):
        with tempfile.NamedTemporaryFile("w", suffix=".map") as file:
            file.write("cluster 0 process 0 1 4 5\ncluster 1 process 2 3 6 7\n")
            file.flush()
            shown = run(LAPLE_GRID, "exec", self.grid, "-n", "8", "--", LAPLE_INFO,
                        env={**os.environ, "LAPLE_TOPOLOGY": file.name})
        self.assertEqual(shown.returncode, 0, shown.stderr)
        self.assertIn("8 ranks on 4 hosts in 2 clusters (2 2 hosts)", shown.stdout)
        self.assertIn("ranks on hosts of cluster 1: a-2 (2, 3), b-2 (6, 7)", shown.stdout)

    def test_for_people(self):
        shown = run(LAPLE_GRID, "exec", self.grid, "--", LAPLE_INFO, "--network")
        self.assertEqual(shown.returncode, 0, shown.stderr)
        self.assertRegex(shown.stdout, r"(?m)^a-1 +b-[12] +\d+\.\d ms +1\d\.\d ms ")


if __name__ == "__main__":
    result = unittest.main(argv=sys.argv[:1], exit=False).result
    sys.exit(1 if not result.wasSuccessful() else 77 if result.skipped else 0)  # 77: something was skipped
