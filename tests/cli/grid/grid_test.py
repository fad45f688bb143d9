# SPDX-License-Identifier: BSD-3-Clause
"""Grids that are raised: jobs in them, and that nothing is left of them whatever happens."""
import json
import os
import pty
import re
import signal
import subprocess
import sys
import tempfile
import time
import unittest

LAPLE_GRID, JOB = sys.argv[1:3]
SKIPPED = 77

# A name of our own, so that grids of others on this machine do not disturb.
NAME = f"test{os.getpid()}"
TWO_SITES = {
    "format": "laple-grid-1",
    "name": NAME,
    "description": "two sites of two hosts",
    "nic": "100Mbit",
    "uplink": "100Mbit",
    "sites": [{"name": "a", "hosts": 2}, {"name": "b", "hosts": 2}],
    "link": {"delay": "5ms"},
}


def leftovers():
    """Namespaces, mounts, state and processes of grids with our name."""
    found = []
    for directory in ("/run/netns", "/run/laple-grid"):
        if os.path.isdir(directory):
            found += [entry for entry in os.listdir(directory) if NAME in entry]
    with open("/proc/mounts", encoding="utf-8") as mounts:
        found += [line for line in mounts if NAME in line]
    for pid in filter(str.isdigit, os.listdir("/proc")):
        try:
            with open(f"/proc/{pid}/cmdline", "rb") as file:
                command = file.read().replace(b"\0", b" ").decode(errors="replace")
        except OSError:
            continue
        if NAME in command and int(pid) != os.getpid():
            found.append(command)
    return found


class GridTest(unittest.TestCase):
    def setUp(self):
        self.addCleanup(self.assert_nothing_left)  # the first to be added is the last to run
        self.directory = tempfile.TemporaryDirectory(prefix=NAME)
        self.scenario = os.path.join(self.directory.name, "scenario.json")
        with open(self.scenario, "w", encoding="utf-8") as file:
            json.dump(TWO_SITES, file)
        self.addCleanup(self.directory.cleanup)

    def assert_nothing_left(self, seconds=10):
        end = time.monotonic() + seconds
        while leftovers() and time.monotonic() < end:
            time.sleep(0.05)
        self.assertEqual(leftovers(), [])

    def command(self, *arguments):
        return [LAPLE_GRID, *arguments]

    def laple_grid(self, *arguments, **options):
        return subprocess.run(self.command(*arguments), capture_output=True, text=True, timeout=100, **options)

    def run_job(self, *arguments, options=(), **more):
        return self.laple_grid("run", self.scenario, *options, "--", JOB, *arguments, **more)

    def start_sleeping(self, **more):
        """A run whose job sleeps by now."""
        process = subprocess.Popen(self.command("run", self.scenario, "--", JOB, "sleep"), stdout=subprocess.PIPE,
                                   stderr=subprocess.PIPE, text=True, **more)
        self.addCleanup(process.stderr.close)
        self.addCleanup(process.stdout.close)
        self.assertEqual(process.stdout.readline(), "sleeping\n")
        return process


class Jobs(GridTest):
    def places(self, ranks, *options):
        result = self.run_job("where", options=["-n", str(ranks), *options])
        self.assertEqual(result.returncode, 0, result.stderr)
        found = dict(line.split(" ") for line in result.stdout.splitlines() if re.match(r"\d+ \S+$", line))
        return [found[str(rank)] for rank in range(ranks)]

    def test_ranks_fill_hosts_in_blocks(self):
        self.assertEqual(self.places(4), ["a-1", "a-2", "b-1", "b-2"])
        self.assertEqual(self.places(3), ["a-1", "a-2", "b-1"])
        self.assertEqual(self.places(7), ["a-1", "a-1", "a-2", "a-2", "b-1", "b-1", "b-2"])

    def test_ranks_are_dealt_round_hosts(self):
        self.assertEqual(self.places(6, "--placement", "cyclic"), ["a-1", "a-2", "b-1", "b-2", "a-1", "a-2"])

    def test_a_file_places_each_rank(self):
        file = os.path.join(self.directory.name, "placement")
        with open(file, "w") as out:
            out.write("a-2  # rank 0\na-2\nb-1\na-2\n")
        self.assertEqual(self.places(4, "--placement", file), ["a-2", "a-2", "b-1", "a-2"])

    def test_hosts_may_share_a_name(self):
        self.assertEqual(self.places(4, "--one-name", "node"), ["node"] * 4)

    def test_chosen_hosts_get_ranks_in_their_order(self):
        self.assertEqual(self.places(2, "--hosts", "b-2,a-1"), ["b-2", "a-1"])
        self.assertEqual(self.places(4, "--hosts", "a-1,b-1"), ["a-1", "a-1", "b-1", "b-1"])

    def test_arguments_directory_and_environment_arrive_unharmed(self):
        words = ["two words", "quote's", 'double"', "$HOME", "*", "", "--", "-n", "back\\slash", "semi;colon"]
        options = ["-n", "1", "--env", "WORD=a b'c=d", "--env", "LD_PRELOAD=libm.so.6"]
        result = self.run_job("where", *words, options=options, cwd=self.directory.name)
        self.assertEqual(result.returncode, 0, result.stderr)
        lines = result.stdout.splitlines()
        self.assertEqual([line[9:] for line in lines if line.startswith("argument=")], words)
        self.assertIn("directory=" + os.path.realpath(self.directory.name), lines)
        self.assertIn("word=a b'c=d", lines)
        self.assertRegex(result.stdout, r"preload=libm.so.6:\S*liblaple_yield.so\n")

    def test_standard_input_passes(self):
        self.assertIn("bytes=20000\n", self.run_job("stdin", options=["-n", "2"], input="x" * 20000).stdout)

    def test_exit_status_passes(self):
        self.assertEqual(self.run_job("exit", "7").returncode, 7)
        self.assertNotEqual(self.run_job("crash").returncode, 0)

    def test_quiet(self):
        self.assertEqual(self.run_job("exit", "0").stderr, "")

    def test_timeout(self):
        result = self.run_job("sleep", options=["--timeout", "3"])
        self.assertEqual(result.returncode, 124)
        self.assertIn("not ended within 3 s", result.stderr)

    def test_a_barrier_takes_what_the_network_imposes(self):
        result = self.run_job("barrier")
        time_ms = float(re.search(r"barrier_ms=(\S+)", result.stdout).group(1))
        self.assertGreaterEqual(time_ms, 5)

    def test_check(self):
        result = self.laple_grid("check", self.scenario)
        self.assertIn("10.00", result.stdout, result.stderr)
        self.assertEqual(result.returncode, 0, result.stdout)


class Endings(GridTest):
    def test_signals_while_running(self):
        for number in (signal.SIGINT, signal.SIGTERM, signal.SIGHUP):
            with self.subTest(number):
                process = self.start_sleeping()
                process.send_signal(number)
                self.assertEqual(process.wait(20), 128 + number)
                self.assertEqual(leftovers(), [])

    def test_killed_while_running(self):
        process = self.start_sleeping()
        process.kill()
        process.wait()
        self.assert_nothing_left()

    def test_ended_while_raising(self):
        for number in (signal.SIGINT, signal.SIGTERM, signal.SIGKILL):
            for delay in (0.02, 0.06, 0.1, 0.2):
                with self.subTest((number, delay)):
                    process = subprocess.Popen(self.command("run", self.scenario, "--", JOB, "sleep"),
                                               stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
                    time.sleep(delay)
                    process.send_signal(number)
                    process.wait(20)
                    self.assert_nothing_left()

    def test_killed_keeper_is_cleared_by_its_owner(self):
        process = self.start_sleeping()
        os.kill(self.state()["keeper"]["pid"], signal.SIGKILL)
        self.assertEqual(process.wait(20), 3)
        self.assertEqual(leftovers(), [])

    def test_both_killed_are_cleared_by_the_next(self):
        process = self.start_sleeping()
        state = self.state()
        os.kill(state["keeper"]["pid"], signal.SIGSTOP)  # so that it cannot clean up when it sees its owner die
        process.kill()
        process.wait()
        os.kill(state["keeper"]["pid"], signal.SIGKILL)
        self.assertNotEqual(leftovers(), [])
        end = time.monotonic() + 10
        while leftovers() and time.monotonic() < end:
            self.laple_grid("list")
        self.assertEqual(leftovers(), [])

    def test_ctrl_c_at_the_terminal(self):
        pid, terminal = pty.fork()
        if pid == 0:
            os.execv(LAPLE_GRID, self.command("run", self.scenario, "--", JOB, "sleep"))
        seen = b""
        while b"sleeping" not in seen:
            seen += os.read(terminal, 1000)
        os.write(terminal, b"\x03")
        status = os.waitstatus_to_exitcode(os.waitpid(pid, 0)[1])
        os.close(terminal)
        self.assertEqual(status, 128 + signal.SIGINT)
        self.assertEqual(leftovers(), [])

    def state(self):
        grids = json.loads(self.laple_grid("list", "--json").stdout)
        return next(grid for grid in grids if grid["scenario"] == NAME)


class Standing(GridTest):
    def test_two_at_once(self):
        first = self.laple_grid("up", self.scenario).stdout.strip()
        second = self.laple_grid("up", self.scenario).stdout.strip()
        self.addCleanup(self.laple_grid, "down", first)
        self.addCleanup(self.laple_grid, "down", second)
        self.assertEqual([first, second], [NAME + "-1", NAME + "-2"])
        listed = self.laple_grid("list").stdout
        self.assertIn(first, listed)
        self.assertIn(second, listed)
        for grid in (first, second):
            result = self.laple_grid("exec", grid, "--", JOB, "where")
            self.assertEqual(result.returncode, 0, result.stderr)
            self.assertEqual(len(re.findall(r"^\d [ab]-[12]$", result.stdout, re.M)), 4)
        self.assertEqual(self.laple_grid("exec", first, "--", JOB, "exit", "7").returncode, 7)
        result = self.laple_grid("-v", "down", first)
        self.assertEqual(result.returncode, 0, result.stderr)
        self.assertIn("packets", result.stderr)
        self.assertNotIn(first, self.laple_grid("list").stdout)
        self.assertEqual(self.laple_grid("exec", second, "--", JOB, "exit", "0").returncode, 0)
        self.assertEqual(self.laple_grid("down", second).returncode, 0)

    def test_all_users_see_it_whatever_the_umask(self):
        grid = self.laple_grid("up", self.scenario, umask=0o077).stdout.strip()
        self.addCleanup(self.laple_grid, "down", grid)
        for file in (f"/run/laple-grid/{grid}", f"/run/laple-grid/{grid}/state.json", f"/run/laple-grid/{grid}/hosts"):
            self.assertEqual(os.stat(file).st_mode & 0o044, 0o044, file)
        self.assertEqual(self.laple_grid("down", grid).returncode, 0)

    def test_shell(self):
        grid = self.laple_grid("up", self.scenario).stdout.strip()
        self.addCleanup(self.laple_grid, "down", grid)
        self.assertEqual(self.laple_grid("shell", grid, "b-2", "--", "hostname").stdout, "b-2\n")
        self.assertEqual(self.laple_grid("shell", grid, "b-2", "--", "sh", "-c", "exit 5").returncode, 5)
        result = self.laple_grid("shell", grid, "b-3", "--", "true")
        self.assertEqual(result.returncode, 2)
        self.assertIn('no host "b-3"; did you mean b-', result.stderr)
        self.assertEqual(self.laple_grid("down", grid).returncode, 0)


if __name__ == "__main__":
    if subprocess.run([LAPLE_GRID, "doctor"], stdout=subprocess.DEVNULL, check=False).returncode == 3:
        sys.exit(SKIPPED)
    unittest.main(argv=sys.argv[:1])
