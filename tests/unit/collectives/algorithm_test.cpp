// SPDX-License-Identifier: BSD-3-Clause
#include "collectives/algorithm.hpp"

#include <catch2/catch.hpp>

#include "base/error.hpp"
#include "collectives/rules.hpp"
#include "support/algorithms.hpp"

using namespace laple;

TEST_CASE("names are read and written back") {
    for (const Collective collective : kAllCollectives) {
        for (const std::string& name : test::algorithm_names(collective)) {
            const Algorithm algorithm = parse_algorithm(name, collective);
            INFO(name << " → " << name_of(algorithm));
            CHECK(parse_algorithm(name_of(algorithm), collective) == algorithm);
        }
    }
    CHECK(name_of(parse_algorithm("spread-chain/chain@8192", Collective::bcast)) == "spread-chain/chain@8K");
    CHECK(name_of(parse_algorithm("2ary/flat", Collective::bcast)) == "binary/flat");
    CHECK(parse_algorithm("exchange/flat@8Kx4", Collective::allreduce).lanes == 4);
    CHECK(parse_algorithm("spread-nearest/chain@8Kx4", Collective::bcast).lanes == 4);
    CHECK(parse_algorithm("native", Collective::reduce).is_native);
}

TEST_CASE("what makes no sense is refused, with the names that do") {
    for (const char* name : {"",
                             "bush",
                             "flat/",
                             "flat//chain",
                             "flat/chain@",
                             "flat/chain@8Q",
                             "1ary",
                             "65ary",
                             "xary",
                             "flat/spread-chain",
                             "exchange/flat",
                             "doubling/flat",
                             "flat/flatx2",
                             "flat/native@8K",
                             "native/flat",
                             "flat/chain@8Kx",
                             "Flat",
                             "flat/chain@8Kx0",
                             "flat/chain@8Kx2",
                             "spread-flat/chainx2",
                             "spread-flat/spread-flat/chain@8Kx2",
                             "scatter/flat",
                             "regional/flat"}) {
        INFO(name);
        CHECK_THROWS_WITH(parse_algorithm(name, Collective::bcast), Catch::Contains("; "));
    }
    CHECK_THROWS_WITH(parse_algorithm("bush/flat", Collective::bcast),
                      Catch::Contains("flat, binomial, binary"));
    CHECK_THROWS_AS(parse_algorithm("exchange", Collective::allreduce), Error);
    CHECK_THROWS_AS(parse_algorithm("flat/flatx2", Collective::allreduce), Error);
    CHECK_THROWS_AS(parse_algorithm("regional/native", Collective::allreduce), Error);
    CHECK_THROWS_AS(parse_algorithm("regional/flat/flat", Collective::allreduce), Error);
}

TEST_CASE("rules: collective, range, forbidding") {
    const Rules rules =
        parse_rules("bcast:0-64K:flat/binomial; bcast:64K-inf:chain/chain@8K ;^native;reduce:^flat/flat");
    CHECK(rules.wanted(Collective::bcast, 10) ==
          std::vector{parse_algorithm("flat/binomial", Collective::bcast)});
    CHECK(rules.wanted(Collective::bcast, 65536).size() == 2);
    CHECK(rules.wanted(Collective::bcast, 65537) ==
          std::vector{parse_algorithm("chain/chain@8K", Collective::bcast)});
    CHECK(rules.wanted(Collective::reduce, 10).empty());
    for (const Collective collective : kAllCollectives)
        CHECK(rules.forbids(Algorithm::native(), collective, 1));
    CHECK(rules.forbids(parse_algorithm("flat/flat", Collective::reduce), Collective::reduce, 1));
    CHECK_FALSE(rules.forbids(parse_algorithm("flat/flat", Collective::bcast), Collective::bcast, 1));
}

TEST_CASE("a rule for all collectives holds for those that have the algorithm") {
    const Rules rules = parse_rules("exchange/binomial");
    CHECK(rules.wanted(Collective::bcast, 1).empty());
    CHECK(rules.wanted(Collective::allreduce, 1).size() == 1);
    CHECK(rules.wanted(Collective::barrier, 0).size() == 1);
    CHECK(parse_rules("").rules.empty());
    CHECK(parse_rules(" ; ").rules.empty());
}

TEST_CASE("broken rules are refused") {
    for (const char* text : {"bush/flat", "bcats:flat/flat", "bcast:64K:flat/flat", "bcast:64K-1K:flat/flat",
                             "bcast:exchange/flat", "^", "bcast:", "bcast:0-1:"}) {
        INFO(text);
        CHECK_THROWS_AS(parse_rules(text), Error);
    }
}
