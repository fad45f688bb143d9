// SPDX-License-Identifier: BSD-3-Clause
// What a program itself may say about its calls: by MPI_Pcontrol and by info keys.
#include <cstdlib>
#include <string>

#include <catch2/catch.hpp>
#include <mpi.h>

#include "mpi/drop_in.hpp"

using namespace laple::test;

namespace {

/// What MPI_Bcast on `comm` was done by, and that it brought the right bytes.
std::string algorithm_of_bcast(MPI_Comm comm) {
    int value = rank_in(comm) == 0 ? 4711 : 0;
    MPI_Bcast(&value, 1, MPI_INT, 0, comm);
    CHECK(value == 4711);
    return used(comm);
}

/// Whether calls on `comm` come to be done by `algorithm`. The first ones on a new communicator may be MPI's
/// own.
bool comes_to_be(const std::string& algorithm, MPI_Comm comm) {
    constexpr int kMost = 1000;
    std::string last;
    for (int i = 0; i < kMost && last != algorithm; ++i) last = algorithm_of_bcast(comm);
    return last == algorithm;
}

class Info {
  public:
    explicit Info(const char* rules) {
        MPI_Info_create(&info);
        MPI_Info_set(info, "laple_algorithm", rules);
    }
    ~Info() { MPI_Info_free(&info); }
    Info(const Info&) = delete;
    Info& operator=(const Info&) = delete;
    MPI_Info info = MPI_INFO_NULL;
};

}  // namespace

TEST_CASE("an info key chooses algorithms for one communicator") {
    const std::string usual = algorithm_of_bcast(MPI_COMM_WORLD);
    MPI_Comm copy = MPI_COMM_NULL;
    MPI_Comm_dup_with_info(MPI_COMM_WORLD, Info("bcast:chain/flat").info, &copy);
    const std::string chosen = algorithm_of_bcast(copy);
    // Without a map LaPle has work where it could measure.
    const bool is_right = chosen == "chain/flat" || (!expects_clusters() && chosen == "native");
    CHECK(is_right);
    MPI_Comm_set_info(copy, Info("native").info);
    CHECK(algorithm_of_bcast(copy) == "native");
    MPI_Comm_set_info(copy, Info("no/such/tree").info);  // said once, and nothing changed
    CHECK(algorithm_of_bcast(copy) == "native");
    MPI_Comm_set_info(copy, Info("default").info);
    CHECK(comes_to_be(usual, copy));
    CHECK(algorithm_of_bcast(MPI_COMM_WORLD) == usual);
    MPI_Comm_free(&copy);
}

TEST_CASE("MPI_Pcontrol leaves calls to MPI where LAPLE_PCONTROL asks for it") {
    const std::string usual = algorithm_of_bcast(MPI_COMM_WORLD);
    const bool is_heeded = std::getenv("LAPLE_PCONTROL") != nullptr;
    MPI_Pcontrol(0);
    CHECK(algorithm_of_bcast(MPI_COMM_WORLD) == (is_heeded ? "native" : usual));
    MPI_Comm copy = MPI_COMM_NULL;
    MPI_Comm_dup(MPI_COMM_WORLD, &copy);
    CHECK(comes_to_be(is_heeded ? "native" : usual, copy));
    MPI_Pcontrol(1);
    CHECK(algorithm_of_bcast(MPI_COMM_WORLD) == usual);
    CHECK(comes_to_be(usual, copy));
    MPI_Comm_free(&copy);
}
