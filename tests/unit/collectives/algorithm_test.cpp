// SPDX-License-Identifier: BSD-3-Clause
#include "collectives/algorithms/algorithm.hpp"

#include <algorithm>
#include <cstdint>
#include <map>
#include <set>
#include <string>
#include <utility>
#include <vector>

#include <catch2/catch.hpp>

#include "base/error.hpp"
#include "collectives/algorithms/native.hpp"
#include "collectives/algorithms/registry.hpp"
#include "collectives/planner/plan.hpp"
#include "collectives/planner/rules.hpp"
#include "collectives/trees/tree.hpp"
#include "support/algorithms.hpp"

using namespace laple;

namespace {

std::string renamed(const std::string& name, Collective collective) {
    return parse_algorithm(name, collective)->name();
}

std::vector<std::string> wanted(const Rules& rules, Collective collective, Bytes bytes) {
    std::vector<std::string> names;
    for (const AlgorithmPtr& algorithm : rules.wanted(collective, bytes)) names.push_back(algorithm->name());
    return names;
}

}  // namespace

TEST_CASE("names are read and written back") {
    for (const Collective collective : kAllCollectives) {
        std::vector<std::string> names = test::algorithm_names(collective);
        for (std::string& name : test::names_that_need_costs(collective)) names.push_back(std::move(name));
        for (const std::string& name : names) {
            // One level stands for all, where it is a tree.
            const std::string first = name.substr(0, name.find('@'));
            const std::string whole = shape_named(first) ? first + "/" + name : name;
            CHECK(renamed(name, collective) == whole);
            CHECK(renamed(whole, collective) == whole);
        }
    }
    CHECK(renamed("multi-leader-chain/chain@8192", Collective::bcast) == "multi-leader-chain/chain@8K");
    CHECK(renamed("2ary/flat", Collective::bcast) == "binary/flat");
    CHECK(parse_algorithm("direct-exchange/flat@8Kx4", Collective::allreduce)->lanes() == 4);
    const AlgorithmPtr lanes = parse_algorithm("multi-leader-nearest/chain@8Kx4", Collective::bcast);
    CHECK(lanes->lanes() == 4);
    CHECK(lanes->segment_bytes() == 8192);
    CHECK(lanes->takes_turns());
    CHECK(lanes->needs_costs());
    CHECK(parse_algorithm("native", Collective::reduce)->is_native());
    CHECK(parse_algorithm("flat/native", Collective::reduce)->is_native_in_clusters());
    CHECK_FALSE(parse_algorithm("flat/flat", Collective::reduce)->is_native_in_clusters());
}

TEST_CASE("names stay the same when costs have decided something, which people can read") {
    std::mt19937_64 random(1);
    const Machine machine(Topology::from_clusters(6, {{0, 1}, {2, 3}, {4, 5}}));
    for (const Collective collective : kAllCollectives) {
        const Request request = request_for(collective, 400);
        std::vector<std::string> names = test::algorithm_names(collective);
        for (std::string& name : test::names_that_need_costs(collective)) names.push_back(std::move(name));
        for (const std::string& name : names) {
            const AlgorithmPtr plain = parse_algorithm(name, collective);
            const AlgorithmPtr decided = test::draw_what_costs_decide(plain, request, machine, random);
            INFO(name << decided->details());
            CHECK(plain->details().empty());
            CHECK(decided->name() == plain->name());
            CHECK(decided->details().empty() == (decided == plain));
            CHECK_FALSE(decided->needs_costs());
        }
    }
}

TEST_CASE("halving and doubling send the most between neighbours") {
    const Machine machine(Topology::flat(8));
    for (const auto& [name, collective] : {std::pair{"halving-doubling", Collective::allreduce},
                                           std::pair{"halving-gather", Collective::reduce},
                                           std::pair{"scatter-doubling", Collective::bcast}}) {
        INFO(name);
        const Plan plan{.request = request_for(collective, 6400),
                        .algorithm = parse_algorithm(name, collective),
                        .reason = {}};
        for (Rank rank = 0; rank < machine.rank_count(); ++rank) {
            std::map<int, std::uint64_t> largest;  // by distance
            for (const Step& step : expand(plan, machine, rank).steps) {
                if (!step.is_message()) continue;
                std::uint64_t& units = largest[step.peer ^ rank];
                units = std::max(units, step.units);
            }
            if (rank == 0) CHECK(largest.size() == 3);
            for (const auto& [distance, units] : largest)
                CHECK(2 * units * static_cast<unsigned>(distance) == plan.request.units);
        }
    }
}

TEST_CASE("what makes no sense is refused, with the names that do") {
    for (const char* name :
         {"", "bush", "flat/", "flat//chain", "flat/chain@", "flat/chain@8Q", "1ary", "03ary", "65ary",
          "xary", "flat/multi-leader-chain", "direct-exchange/flat", "recursive-doubling/flat", "flat/flatx2",
          "flat/native@8K", "native/flat", "flat/chain@8Kx", "Flat", "flat/chain@8Kx0", "flat/chain@8Kx2",
          "multi-leader-flat/chainx2", "multi-leader-flat/multi-leader-flat/chain@8Kx2", "nearest/flat/chain",
          "rsag/flat", "three-level/flat",
          // Of an earlier release: rules take them, nothing else.
          "spread-flat/chain@8K"}) {
        INFO(name);
        CHECK_THROWS_WITH(parse_algorithm(name, Collective::bcast), Catch::Contains("; "));
    }
    CHECK_THROWS_WITH(parse_algorithm("bush/flat", Collective::bcast),
                      Catch::Contains("laple-plan algorithms"));
    for (const char* name : {"direct-exchange", "flat/flatx2", "three-level/native", "three-level/flat/flat",
                             "exchange/flat", "scatter/flat@8Kx4", "regional/flat@8Kx4"}) {
        INFO(name);
        CHECK_THROWS_AS(parse_algorithm(name, Collective::allreduce), Error);
    }
}

TEST_CASE("every family that proposes has a name, and says where it comes from") {
    std::set<std::string_view> names;
    for (const Family& family : families()) {
        INFO(family.name);
        CHECK(names.insert(family.name).second);
        CHECK_FALSE(family.summary.empty());
        CHECK_FALSE(family.source.empty());
        CHECK(std::any_of(kAllCollectives.begin(), kAllCollectives.end(), family.is_for));
    }
}

TEST_CASE("rules: collective, range, forbidding") {
    const Rules rules =
        parse_rules("bcast:0-64K:flat/binomial; bcast:64K-inf:chain/chain@8K ;^native;reduce:^flat/flat");
    CHECK(wanted(rules, Collective::bcast, 10) == std::vector<std::string>{"flat/binomial"});
    CHECK(wanted(rules, Collective::bcast, 65536).size() == 2);
    CHECK(wanted(rules, Collective::bcast, 65537) == std::vector<std::string>{"chain/chain@8K"});
    CHECK(wanted(rules, Collective::reduce, 10).empty());
    for (const Collective collective : kAllCollectives) CHECK(rules.forbids(*native(), collective, 1));
    const AlgorithmPtr flat = parse_algorithm("flat/flat", Collective::reduce);
    CHECK(rules.forbids(*flat, Collective::reduce, 1));
    CHECK_FALSE(rules.forbids(*flat, Collective::bcast, 1));
    CHECK(rules.renamed.empty());
}

TEST_CASE("what is forbidden is so whatever costs decide") {
    std::mt19937_64 random(2);
    const Machine machine(Topology::from_clusters(6, {{0, 1}, {2, 3}, {4, 5}}));
    const Request request = request_for(Collective::allreduce, 4096);
    const Rules rules = parse_rules("^rsag/flat@8Kx4;^nearest/chain");
    for (const char* name : {"rsag/flat@8Kx4", "nearest/chain"}) {
        const AlgorithmPtr algorithm = parse_algorithm(name, Collective::allreduce);
        CHECK(rules.forbids(*test::draw_what_costs_decide(algorithm, request, machine, random),
                            Collective::allreduce, 4096));
    }
}

TEST_CASE("names of an earlier release are taken for today's in rules, and noted") {
    const std::vector<std::pair<std::string, std::string>> names{
        {"exchange/flat@8Kx4", "direct-exchange/flat@8Kx4"},
        {"doubling/binomial", "recursive-doubling/binomial"},
        {"scatter/flat@8Kx4", "rsag/flat@8Kx4"},
        {"regional/flat@8Kx8", "three-level/flat@8Kx8"},
        {"spread-chain/chain@8K", "multi-leader-chain/chain@8K"},
        {"exchange/spread-flat/chain@8K", "direct-exchange/multi-leader-flat/chain@8K"},
        {"spread-slow-last/chain@8K", "multi-leader-slow-last/chain@8K"},
    };
    for (const auto& [former, current] : names) {
        INFO(former);
        const Rules rules = parse_rules("allreduce:8K-inf:" + former);
        CHECK(wanted(rules, Collective::allreduce, 8192) == std::vector{current});
        CHECK(rules.renamed == std::vector{former + " is called " + current + " now"});
    }
    const Rules relayed = parse_rules("bcast:spread-relayed/chain@8Kx12");
    CHECK(wanted(relayed, Collective::bcast, 8) == std::vector<std::string>{"scatter-allgather/chain@8Kx12"});
    CHECK(relayed.renamed.size() == 1);

    // Each is noted once, also where it is forbidden; today's names are not.
    const Rules rules =
        parse_rules("exchange/flat; bcast:flat/flat; allreduce:0-8K:^exchange/flat;rsag/flat");
    CHECK(rules.renamed == std::vector<std::string>{"exchange/flat is called direct-exchange/flat now"});
    CHECK(rules.forbids(*parse_algorithm("direct-exchange/flat", Collective::allreduce),
                        Collective::allreduce, 8));
    CHECK_THROWS_AS(parse_rules("bcast:exchange/flat"), Error);
    CHECK_THROWS_AS(parse_rules("spread-bush/flat"), Error);
}

TEST_CASE("a rule for all collectives holds for those that have the algorithm") {
    const Rules rules = parse_rules("direct-exchange/binomial");
    CHECK(rules.wanted(Collective::bcast, 1).empty());
    CHECK(rules.wanted(Collective::allreduce, 1).size() == 1);
    CHECK(rules.wanted(Collective::barrier, 0).size() == 1);
    CHECK(parse_rules("").rules.empty());
    CHECK(parse_rules(" ; ").rules.empty());
}

TEST_CASE("collectives may be named as MPI names its functions") {
    CHECK(plain_name("MPI_Allreduce") == "allreduce");
    CHECK(plain_name("MPI_Ibcast_c") == "bcast");
    CHECK(plain_name("Reduce_scatter_block_init") == "reduce_scatter");
    CHECK(plain_name("ialltoallv") == "alltoallv");
    for (const char* other : {"bcats", "MPI_", "i", "Info", "bcast_block", "MPI_Send"})
        CHECK(plain_name(other) == other);
    for (const Collective collective : kAllCollectives)
        CHECK(plain_name(name_of(collective)) == name_of(collective));
    for (const char* function : {"MPI_Ibcast", "Iallreduce_c", "MPI_Barrier_init", "Reduce_init_c", "iscan"})
        CHECK(is_started(function));
    for (const char* function : {"MPI_Bcast", "Allreduce_c", "scan"}) CHECK_FALSE(is_started(function));
    const Rules rules = parse_rules("MPI_Bcast:0-64K:flat/flat");
    REQUIRE(rules.rules.size() == 1);
    CHECK(rules.rules[0].applies_to(Collective::bcast, 8));
}

TEST_CASE("broken rules are refused") {
    for (const char* text : {"bush/flat", "bcats:flat/flat", "bcast:64K:flat/flat", "bcast:64K-1K:flat/flat",
                             "bcast:direct-exchange/flat", "^", "bcast:", "bcast:0-1:"}) {
        INFO(text);
        CHECK_THROWS_AS(parse_rules(text), Error);
    }
}
