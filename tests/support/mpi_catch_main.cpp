// SPDX-License-Identifier: BSD-3-Clause
// Runs Catch2 cases on every rank. Rank 0 reports as usual; another rank's report is shown only when that
// rank failed. The exit status is the greatest of all ranks, so that one failing rank fails the test.
#define CATCH_CONFIG_RUNNER
#include <cstdio>
#include <string>

#include <catch2/catch.hpp>
#include <mpi.h>
#include <unistd.h>

namespace {

std::string report_file(int rank) {
    return "/tmp/laple-test-" + std::to_string(getpid()) + "." + std::to_string(rank);
}

void show(const std::string& file, int rank) {
    std::FILE* report = std::fopen(file.c_str(), "r");
    if (report == nullptr) return;
    std::string text = "rank " + std::to_string(rank) + " failed:\n";
    for (int c = std::fgetc(report); c != EOF; c = std::fgetc(report)) text += static_cast<char>(c);
    std::fclose(report);
    std::fwrite(text.data(), 1, text.size(), stderr);
}

}  // namespace

int main(int argc, char** argv) {
    MPI_Init(&argc, &argv);
    int rank = 0;
    PMPI_Comm_rank(MPI_COMM_WORLD, &rank);

    Catch::Session session;
    int status = session.applyCommandLine(argc, argv);
    const std::string file = report_file(rank);
    if (rank != 0) session.configData().outputFilename = file;
    // A filter that no case fits is a mistake of the run's.
    session.configData().warnings =
        static_cast<Catch::WarnAbout::What>(session.configData().warnings | Catch::WarnAbout::NoTests);
    if (status == 0) status = session.run();
    if (rank != 0) {
        if (status != 0) show(file, rank);
        std::remove(file.c_str());
    }
    int worst = 0;
    PMPI_Allreduce(&status, &worst, 1, MPI_INT, MPI_MAX, MPI_COMM_WORLD);
    MPI_Finalize();
    return worst > 255 ? 255 : worst;
}
