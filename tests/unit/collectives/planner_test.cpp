// SPDX-License-Identifier: BSD-3-Clause
#include "collectives/planner.hpp"

#include <catch2/catch.hpp>

#include "collectives/simulator.hpp"
#include "collectives/verifier.hpp"

using namespace laple;

namespace {

const Topology kSites =
    Topology::from_clusters(16, {{0, 1, 2, 3}, {4, 5, 6, 7}, {8, 9, 10, 11}, {12, 13, 14, 15}});

Request request_of(Collective collective, Bytes bytes) {
    const bool has_elements = collective == Collective::reduce || collective == Collective::allreduce;
    return {collective, has_elements ? bytes / 8 : bytes, has_elements ? Bytes{8} : Bytes{1}, 0, true};
}

std::string choice(Collective collective, Bytes bytes, const Topology& topology,
                   const std::string& rules = "") {
    return name_of(choose_plan(request_of(collective, bytes), topology, parse_rules(rules)).algorithm);
}

/// Four sites 10 ms apart, hosts of 100 Mbit/s, as the emulated grid's wan4x4 without shared uplinks.
SimulatedNetwork wan() {
    SimulatedNetwork network;
    network.gap = [](Rank, Rank, Bytes bytes) {
        return Seconds(20e-6 + static_cast<double>(bytes) * 8 / 100e6);
    };
    network.latency = [](Rank from, Rank to) {
        return Seconds(kSites.group_of(0, from) == kSites.group_of(0, to) ? 50e-6 : 10e-3);
    };
    return network;
}

double simulated_ms(const std::string& algorithm, Collective collective, Bytes bytes) {
    const Plan plan{request_of(collective, bytes), parse_algorithm(algorithm, collective), ""};
    const auto schedules = expand_all(plan, kSites);
    NoMemory memory;
    SimulationOptions options;
    options.network = wan();
    const SimulationResult result = Simulator<NoMemory>(schedules, kSites, memory, options).run();
    REQUIRE(result.ok());
    return result.makespan.count() * 1e3;
}

}  // namespace

TEST_CASE("one cluster, and no data, are left to MPI") {
    CHECK(choice(Collective::bcast, 8, Topology::flat(16)) == "native");
    CHECK(choice(Collective::barrier, 0, Topology::flat(16), "^native") == "native");
    CHECK(choice(Collective::bcast, 0, kSites) == "native");
    CHECK(choice(Collective::barrier, 0, kSites) == "exchange/binomial");
}

TEST_CASE("in large clusters pipelines branch") {
    std::vector<std::vector<Rank>> clusters(2);
    for (Rank rank = 0; rank < 40; ++rank) clusters[rank < 31 ? 0 : 1].push_back(rank);
    const Topology topology = Topology::from_clusters(40, clusters);
    CHECK(choice(Collective::bcast, 8, topology) == "flat/binomial");
    CHECK(choice(Collective::bcast, 65536, topology) == "flat/binary@4K");
    CHECK(choice(Collective::reduce, 1 << 20, topology) == "spread-flat/binary@8K");
    CHECK(choice(Collective::allreduce, 65536, topology) == "exchange/binary@4K");
    CHECK(choice(Collective::allreduce, 1 << 20, topology) == "spread-flat/binary@8K");
    CHECK(choice(Collective::bcast, 16 << 20, topology) == "spread-chain/chain@8K");
}

TEST_CASE("what is forbidden is not called impossible") {
    const Plan plan = choose_plan(request_of(Collective::bcast, 8), kSites, parse_rules("^flat/binomial"));
    CHECK(plan.algorithm.is_native);
    CHECK_THAT(plan.reason, Catch::Matchers::Contains("forbidden"));
}

TEST_CASE("sizes of one class are at most a quarter apart, and stand for themselves where they are few") {
    for (Bytes bytes = 0; bytes < 8; ++bytes)
        CHECK(size_class_of(request_of(Collective::bcast, bytes)).units == bytes);
    for (const Bytes bytes : {Bytes{9}, Bytes{1000}, Bytes{65535}, Bytes{123456789}}) {
        const Request representative = size_class_of(request_of(Collective::bcast, bytes));
        CHECK(representative.bytes() <= bytes);
        CHECK(5 * representative.bytes() > 4 * bytes - 5);
        CHECK(size_class_of(representative) == representative);
    }
    CHECK(size_class_of(request_of(Collective::bcast, 1 << 20)).bytes() == 1 << 20);
}

TEST_CASE("wishes come first, as far as they can be done") {
    CHECK(choice(Collective::bcast, 8, kSites, "chain/chain") == "chain/chain");
    CHECK(choice(Collective::bcast, 8, kSites, "bcast:9-inf:chain/chain") == "flat/binomial");
    CHECK(choice(Collective::bcast, 8, kSites, "native") == "native");
    CHECK(choice(Collective::bcast, 8, kSites, "^flat/binomial") == "native");
    Request in_order = request_of(Collective::allreduce, 64);
    in_order.commutative = false;
    const Topology interleaved = Topology::from_clusters(4, {{0, 2}, {1, 3}});
    CHECK(choose_plan(in_order, interleaved, parse_rules("exchange/binomial")).algorithm.is_native);
    CHECK_FALSE(choose_plan(in_order, kSites, {}).algorithm.is_native);
}

TEST_CASE("small messages cross the WAN once") {
    for (const Collective collective : kAllCollectives) {
        const double ms = simulated_ms(choice(collective, 8, kSites), collective, 8);
        INFO(name_of(collective) << " " << ms << " ms");
        CHECK(ms < 11);
    }
}

TEST_CASE("of the algorithms at hand, the chosen one is near the best in simulation") {
    const std::vector<std::string> rooted{"flat/binomial",        "binomial/binomial",     "flat/chain@8K",
                                          "spread-flat/chain@8K", "spread-chain/chain@8K", "chain/chain@8K"};
    for (const Collective collective : {Collective::bcast, Collective::reduce, Collective::allreduce}) {
        for (const Bytes bytes : {Bytes{8}, Bytes{1024}, Bytes{65536}, Bytes{1} << 20, Bytes{8} << 20}) {
            std::vector<std::string> names = rooted;
            if (!is_rooted(collective)) {
                names.insert(names.end(), {"exchange/binomial", "exchange/flat@8Kx4", "exchange/chain@8K",
                                           "doubling/binomial"});
            }
            const double chosen = simulated_ms(choice(collective, bytes, kSites), collective, bytes);
            for (const std::string& name : names) {
                const double other = simulated_ms(name, collective, bytes);
                INFO(name_of(collective) << " " << bytes << ": " << choice(collective, bytes, kSites)
                                         << " takes " << chosen << " ms, " << name << " " << other << " ms");
                CHECK(chosen < 1.35 * other);
            }
        }
    }
}
