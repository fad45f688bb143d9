# SPDX-License-Identifier: BSD-3-Clause
from pathlib import Path

from spack_repo.builtin.build_systems.cmake import CMakePackage

from spack.package import *


class Laple(CMakePackage):
    """MPI collectives that know the network: for jobs of MPICH whose ranks are at several sites, racks or hosts,
    LaPle replaces collectives by ones that are planned for the network between them. Programs preload it."""

    # The clone that this file is in.
    git = str(Path(__file__).resolve().parents[6])

    license("BSD-3-Clause")

    version("main", branch="main")

    variant("tools", default=True, description="laple-run, laple-discover, laple-info, laple-plan and laple-grid")
    variant("bench", default=True, when="+tools", description="laple-bench, and scenarios for laple-grid")
    variant("abi", default=False, description="For programs linked with libmpi_abi, the ABI of MPI 5")

    depends_on("c", type="build")
    depends_on("cxx", type="build")
    depends_on("cmake@3.25:", type="build")
    depends_on("pkgconfig", type="build")
    depends_on("fmt@9:", type="build")
    depends_on("nlohmann-json@3.9:", type="build")
    depends_on("libsodium@1.0.18:")
    depends_on("mpi")
    requires("^[virtuals=mpi] mpich@4:", "^[virtuals=mpi] intel-oneapi-mpi", msg="LaPle needs MPICH's ABI")
    requires("^[virtuals=mpi] mpich@5:", when="+abi", msg="mpicc_abi is MPICH 5's")
    with when("+tools"):
        depends_on("cli11@2.1:", type="build")
        depends_on("hwloc@2:")
        depends_on("python@3.8:", type=("build", "run"))

    generator("ninja")
    sanity_check_is_file = ["lib/liblaple.so", "lib/cmake/laple/lapleConfig.cmake"]

    def cmake_args(self):
        mpi = self.spec["mpi"]
        return [
            self.define("MPI_C_COMPILER", mpi.prefix.bin.mpicc_abi if self.spec.satisfies("+abi") else mpi.mpicc),
            self.define("CMAKE_INSTALL_LIBDIR", "lib"),
            self.define("LAPLE_BUILD_TESTS", False),
            self.define("LAPLE_BUILD_SMPI", False),
            self.define_from_variant("LAPLE_BUILD_TOOLS", "tools"),
            self.define("LAPLE_BUILD_BENCH", self.spec.satisfies("+bench")),
        ]

    def test_run(self):
        """laple-run preloads the library that is installed with it"""
        if not self.spec.satisfies("+tools"):
            raise SkipTest("there is no laple-run")
        laple_run = Executable(self.prefix.bin.join("laple-run"))
        output = laple_run("sh", "-c", "echo $LD_PRELOAD", output=str)
        assert output.strip().endswith(self.prefix.lib.join("liblaple.so")), output
