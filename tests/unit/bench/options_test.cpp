// SPDX-License-Identifier: BSD-3-Clause
#include "bench/laple-bench/options.hpp"

#include <sstream>

#include <catch2/catch.hpp>

#include "base/error.hpp"

namespace laple::bench {
namespace {

Options parse(const std::vector<std::string>& arguments) {
    std::ostringstream out;
    return parse_options(arguments, out).value();
}

std::string error_of(const std::vector<std::string>& arguments) {
    try {
        parse(arguments);
    } catch (const Error& error) {
        return error.what();
    }
    return "no error";
}

TEST_CASE("laple-bench measures all collectives from 8 bytes to 1 MiB by default", "[bench]") {
    const Options options = parse({});
    REQUIRE(options.benchmarks.size() == kAllCollectives.size());
    for (std::size_t i = 0; i < kAllCollectives.size(); ++i)
        CHECK(options.benchmarks[i] == Benchmark{kAllCollectives[i], Form::one_count});
    CHECK(options.sizes.size() == 18);
    CHECK(options.sizes.front() == 8);
    CHECK(options.sizes.back() == 1024 * 1024);
    CHECK_FALSE(options.check);
    CHECK(options.cold.count() == 0);
}

TEST_CASE("laple-bench understands OSU's options", "[bench]") {
    const Options options =
        parse({"bcast", "-m", "1K:4K", "-i", "7", "-x", "0", "-f", "-c", "barrier", "bcast", "--root", "3"});
    CHECK(options.benchmarks == std::vector<Benchmark>{{Collective::bcast, Form::one_count},
                                                       {Collective::barrier, Form::one_count}});
    CHECK(options.sizes == std::vector<Bytes>{1024, 2048, 4096});
    CHECK(iterations_for(options, 8) == 7);
    CHECK(warmups_for(options, 8) == 0);
    CHECK(options.full);
    CHECK(options.check);
    CHECK(options.root == 3);
}

TEST_CASE("functions with a count for each rank, and how these differ", "[bench]") {
    const Options options = parse({"alltoallv", "gatherv", "alltoallw", "--counts", "log-normal"});
    CHECK(options.benchmarks == std::vector<Benchmark>{{Collective::alltoall, Form::counts},
                                                       {Collective::gather, Form::counts},
                                                       {Collective::alltoall, Form::counts_and_types}});
    CHECK(to_string(options.benchmarks[2]) == "alltoallw");
    CHECK(options.spread == Spread::log_normal);
    CHECK(parse({}).spread == Spread::equal);
}

TEST_CASE("one library alone, and a network", "[bench]") {
    CHECK(parse({}).measured == Measured::both);
    CHECK(parse({"--only", "laple"}).measured == Measured::laple);
    CHECK(parse({"--only", "stock"}).measured == Measured::stock);
    CHECK(error_of({"--only", "both"}) == "--only both is unknown; use stock or laple");
    CHECK(error_of({"--only", "2"}) != "no error");
    CHECK(error_of({"--only", ""}) != "no error");
    CHECK(parse({"--network", "n.json"}).network_file == "n.json");
}

TEST_CASE("message sizes", "[bench]") {
    CHECK(parse_size_range("32") == std::vector<Bytes>{8, 16, 32});
    CHECK(parse_size_range("4") == std::vector<Bytes>{4});
    CHECK(parse_size_range("256K:") == std::vector<Bytes>{256 * 1024, 512 * 1024, 1024 * 1024});
    CHECK(parse_size_range("3:13") == std::vector<Bytes>{3, 6, 12});
    CHECK_THROWS_AS(parse_size_range("8:4"), Error);
    CHECK_THROWS_AS(parse_size_range("0:4"), Error);
    CHECK_THROWS_AS(parse_size_range("2G"), Error);
    CHECK_THROWS_AS(parse_size_range("1:2:3"), Error);
    CHECK(parse({"--sizes", "1M,8,64K", "reduce"}).sizes == std::vector<Bytes>{1024 * 1024, 8, 64 * 1024});
    CHECK_THROWS_AS(parse({"--sizes", "8,,9"}), Error);
    CHECK_THROWS_AS(parse({"--sizes", "8", "-m", "8"}), Error);
}

TEST_CASE("collectives may be named as in MPI, where they are measured as they are named", "[bench]") {
    CHECK(parse({"MPI_Bcast"}).benchmarks == parse({"bcast"}).benchmarks);
    CHECK(parse({"Alltoallv", "MPI_Alltoallv_c"}).benchmarks == parse({"alltoallv"}).benchmarks);
    CHECK(parse({"MPI_Iallreduce", "--overlap"}).benchmarks == parse({"allreduce"}).benchmarks);
    CHECK(error_of({"MPI_Iallreduce"}) ==
          "MPI_Iallreduce is measured together with work of the program; write laple-bench allreduce "
          "--overlap");
    CHECK(error_of({"MPI_Bcast_init"}).ends_with("write laple-bench bcast --overlap --persistent"));
    CHECK(error_of({"MPI_BARRIER_INIT"}).ends_with("write laple-bench barrier --overlap --persistent"));
    CHECK(error_of({"MPI_Ialltoallv"}) == "MPI_Ialltoallv is not measured; measure alltoallv");
}

TEST_CASE("a mistake is named, and what was probably meant", "[bench]") {
    CHECK(error_of({"--jsno", "x"}) == "unknown option \"--jsno\"; did you mean --json?");
    CHECK(error_of({"--iteratoins=3"}) == "unknown option \"--iteratoins\"; did you mean --iterations?");
    CHECK(error_of({"-q"}) == "unknown option \"-q\"; see laple-bench --help");
    CHECK(error_of({"bcats"}) == "unknown collective \"bcats\"; did you mean bcast?");
    CHECK(
        error_of({"zzzzzzzz"}) ==
        "unknown collective \"zzzzzzzz\"; name one of bcast, reduce, allreduce, barrier, "
        "allgather, gather, scatter, alltoall, reduce_scatter, scan, exscan, allgatherv, gatherv, scatterv, "
        "alltoallv, alltoallw");
    CHECK(error_of({"alltoallv", "--counts", "half-full"}) ==
          "--counts half-full is unknown; use equal, half, empty-rows or log-normal");
    CHECK(error_of({"alltoallv", "--counts", "2"}) != "no error");
    CHECK(error_of({"bcast", "--counts", "half"}) ==
          "--counts is for functions with a count for each rank; name one of them, such as alltoallv");
    CHECK(error_of({"-i", "0"}) != "no error");
    CHECK(error_of({"-i", "many"}) != "no error");
    CHECK(error_of({"-x", "-1"}) != "no error");
    CHECK(error_of({"--root", "-1"}) != "no error");
    CHECK(error_of({"--cold", "-1"}) != "no error");
    CHECK(error_of({"--cold", "nan"}) != "no error");
    CHECK(error_of({"--budget", "0"}) != "no error");
    CHECK(error_of({"--clock", "sundial"}) == "--clock sundial is unknown; use auto, shared or measured");
    CHECK(error_of({"--clock", "1"}) != "no error");
}

TEST_CASE("how calls overlap is said beside --overlap only, and without what it does not measure",
          "[bench]") {
    const Options options =
        parse({"allreduce", "--overlap", "--persistent", "--idle", "--test-every", "0.001"});
    CHECK(options.overlap);
    CHECK(options.persistent);
    CHECK(options.idle_work);
    CHECK(options.test_every.count() == Approx(0.001));
    CHECK(error_of({"--persistent"}) ==
          "--persistent, --idle and --test-every say how calls overlap; add --overlap");
    CHECK(error_of({"--idle"}) != "no error");
    CHECK(error_of({"--test-every", "1"}) != "no error");
    CHECK(error_of({"--overlap", "--test-every", "-1"}) != "no error");
    CHECK(error_of({"--overlap", "-c"}) != "no error");
    CHECK(error_of({"alltoallv", "--overlap"}) != "no error");
}

TEST_CASE("large messages and idle pauses get fewer iterations", "[bench]") {
    Options options = parse({});
    CHECK(iterations_for(options, 8) > iterations_for(options, 64 * 1024));
    CHECK(iterations_for(options, 64 * 1024) > iterations_for(options, 8 * 1024 * 1024));
    options.cold = Seconds(1);
    CHECK(iterations_for(options, 8) == 10);
}

TEST_CASE("help begins with examples, and nothing is to be run", "[bench]") {
    std::ostringstream out;
    CHECK_FALSE(parse_options({"--help"}, out).has_value());
    CHECK(out.str().find("Examples:") < out.str().find("Usage:"));
    CHECK(parse({"--clock", "measured"}).clock == ClockChoice::measured);
}

}  // namespace
}  // namespace laple::bench
