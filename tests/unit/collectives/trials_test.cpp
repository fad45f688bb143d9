// SPDX-License-Identifier: BSD-3-Clause
#include "collectives/planner/trials.hpp"

#include <algorithm>
#include <cstddef>
#include <functional>
#include <random>
#include <utility>
#include <vector>

#include <catch2/catch.hpp>

using laple::Seconds;
using laple::Trials;

namespace {

/// A clock by which each call ends before the next one begins.
Seconds later() {
    static Seconds clock(0);
    return clock += Seconds(1);
}

constexpr Seconds kStart(0.01);
constexpr Seconds kAgreement(0.02);
const Trials::Conditions kConditions{kStart, kAgreement, Seconds(0)};

/// A program that calls again and again, on a network where plans really take so long.
class Program {
  public:
    Program(const std::vector<Seconds>& predicted, std::vector<double> real)
        : Program(untried(predicted), std::move(real)) {}
    Program(const std::vector<Trials::Tried>& plans, std::vector<double> real)
        : trials(plans, kConditions), real_(std::move(real)), calls_(real_.size()) {}

    void call() {
        const Trials::Turn turn = trials.next(Seconds(total_));
        ++calls_[turn.plan];
        const double time = real_[turn.plan] * noise();
        total_ += time;
        if (!turn.is_timed) return;
        total_ += kStart.count();
        lost_ += kStart.count() + time - real_[trials.best()];
        trials.add(Seconds(time));
        if (!trials.is_round_over()) return;
        total_ += kAgreement.count();
        lost_ += kAgreement.count();
        const std::vector<double> agreed = trials.times();
        trials.conclude(agreed);
    }
    void call(int times) {
        for (int i = 0; i < times; ++i) call();
    }

    void set_real(std::vector<double> real) { real_ = std::move(real); }
    double share_lost() const { return lost_ / total_; }
    std::size_t calls(std::size_t plan) const { return calls_[plan]; }

    std::function<double()> noise = [] { return 1.0; };
    Trials trials;

  private:
    static std::vector<Trials::Tried> untried(const std::vector<Seconds>& predicted) {
        std::vector<Trials::Tried> plans;
        for (const Seconds time : predicted) plans.push_back({time, {}});
        return plans;
    }

    std::vector<double> real_;
    std::vector<std::size_t> calls_;
    double total_ = 0;
    double lost_ = 0;
};

}  // namespace

TEST_CASE("what the first call by a plan takes longer is saved up before it is tried") {
    constexpr double kLonger = 0.15;
    Trials::Conditions conditions = kConditions;
    conditions.first_use = Seconds(kLonger);
    Trials trials({{Seconds(0.10), {}}, {Seconds(0.10), {}}}, conditions);
    double usual = 0;
    while (!trials.is_round_over()) {
        const Trials::Turn turn = trials.next(later());
        if (turn.is_timed) trials.add(Seconds(0.1));
        usual += 0.1;
    }
    CHECK(Trials::kShare * usual > kLonger + 2 * kStart.count() + kAgreement.count());
}

TEST_CASE("what is measured counts for more than what is predicted") {
    Program program({Seconds(0.10), Seconds(0.11), Seconds(0.12)}, {0.14, 0.10, 0.13});
    program.call(2000);
    CHECK(program.trials.best() == 1);
    CHECK(program.trials.is_settled());
    CHECK(program.trials.measured(1).count() == Approx(0.10));
    CHECK(program.trials.measured(0).count() == Approx(0.14));
    CHECK(program.calls(1) > 1000);
}

TEST_CASE("the planner's choice stays where it is right") {
    Program program({Seconds(0.10), Seconds(0.11)}, {0.10, 0.20});
    program.call(2000);
    CHECK(program.trials.best() == 0);
    CHECK(program.trials.is_settled());
    CHECK(program.calls(1) == 3);  // the first one is not counted, and two far slower ones are enough
}

TEST_CASE("what is predicted to be far slower waits until the choice has taken as long") {
    const auto after_many_calls = [](std::vector<double> real) {
        Program program({Seconds(0.10), Seconds(0.25)}, std::move(real));
        program.call(4000);
        CHECK(program.trials.is_settled());
        CHECK(program.share_lost() < Trials::kShare);
        return program;
    };
    CHECK(after_many_calls({0.10, 0.05}).calls(1) == 0);
    const Program slower_than_predicted = after_many_calls({0.40, 0.20});
    CHECK(slower_than_predicted.trials.best() == 1);
    CHECK(slower_than_predicted.calls(1) > 2000);
    const Program both_are = after_many_calls({0.40, 1.00});
    CHECK(both_are.trials.best() == 0);
    CHECK(both_are.calls(1) == 3);
}

TEST_CASE("when the network has changed, what is predicted to be far slower waits again") {
    Program program({Seconds(0.10), Seconds(0.25)}, {0.10, 0.25});
    program.call(3000);
    program.set_real({0.20, 0.25});
    program.call(4000);
    CHECK(program.calls(1) == 0);
    program.set_real({0.50, 0.25});
    program.call(4000);
    CHECK(program.trials.best() == 1);
}

TEST_CASE("the best plan does not wait when the network has changed") {
    std::mt19937 random(11);
    for (int program_number = 0; program_number < 20; ++program_number) {
        Program program({Seconds(0.10), Seconds(0.25)}, {0.50, 0.30});
        program.call(4000);
        REQUIRE(program.trials.best() == 1);
        for (int call = 0; call < 8000; ++call) {
            program.set_real({random() % 2 == 0 ? 0.10 : 0.14, 0.18});
            program.call();
        }
        CHECK(program.trials.best() == 0);
    }
}

TEST_CASE("what runs beside calls for later jobs waits, too, where it is predicted to be far slower") {
    Trials::Conditions conditions = kConditions;
    conditions.is_for_later = true;
    const auto turns_beside = [&](double real) {
        Trials trials({{Seconds(0.10), {}}, {Seconds(0.25), {}}}, conditions);
        int beside = 0;
        for (int call = 0; call < 3000; ++call) {
            const Trials::Turn turn = trials.next(later());
            beside += turn.beside > 0 ? 1 : 0;
            if (turn.beside > 0) trials.add(Seconds(0.2));
            if (turn.is_timed) trials.add(Seconds(real));
            if (trials.is_round_over()) trials.conclude(trials.times());
        }
        CHECK(trials.plan_of_calls() == 0);
        return beside;
    };
    CHECK(turns_beside(0.12) == 0);
    CHECK(turns_beside(0.40) > 2);
}

TEST_CASE("trials cost one per cent of the time at most, from the first round on") {
    std::mt19937 random(7);
    std::uniform_real_distribution<double> factor(0.4, 2.5);
    for (int program_number = 0; program_number < 200; ++program_number) {
        std::vector<double> real;
        std::vector<Seconds> predicted;
        for (int plan = 0; plan < 4; ++plan) {
            predicted.emplace_back(0.1 * (1 + 0.1 * plan));
            real.push_back(predicted.back().count() * factor(random));
        }
        Program program(predicted, real);
        for (int call = 0; call < 3000; ++call) {
            program.call();
            // What the first times of plans turn out to cost is not known before.
            if (call > 1000 && program.share_lost() > 1.5 * Trials::kShare) FAIL("lost too much for a while");
        }
        CHECK(program.share_lost() < Trials::kShare);
        const double best = *std::min_element(real.begin(), real.end());
        CHECK(real[program.trials.best()] <= 1.06 * best);
    }
}

TEST_CASE("nothing is tried before a round can be paid") {
    // A round: two starts, an agreement, and what the second plan is predicted to take longer.
    const double cost = 2 * 0.01 + 0.02 + 0.02;
    const int calls = static_cast<int>(cost / (Trials::kShare * 0.1));
    Trials trials({{Seconds(0.10), {}}, {Seconds(0.12), {}}}, kConditions);
    for (int call = 1; call < calls; ++call) CHECK_FALSE(trials.next(later()).is_timed);
    bool is_timed = false;
    for (int call = 0; call < calls / 2; ++call) is_timed = is_timed || trials.next(later()).is_timed;
    CHECK(is_timed);
}

TEST_CASE(
    "what takes longer than predicted does not make trials dear, and the most promising plan comes first") {
    // Links carry less than was measured: all plans take longer, and the third one least so.
    const std::vector<Trials::Tried> plans{
        {Seconds(0.346), {}}, {Seconds(0.351), {}}, {Seconds(0.373), {}}, {Seconds(0.375), {}}};
    const std::vector<double> real{0.493, 0.500, 0.335, 0.368};
    Trials trials(plans, {Seconds(0.002), Seconds(0.003), Seconds(0)});
    int calls = 0;
    for (; calls < 200 && trials.best() != 2; ++calls) {
        const Trials::Turn turn = trials.next(later());
        if (turn.is_timed) trials.add(Seconds(real[turn.plan]));
        if (trials.is_round_over()) trials.conclude(trials.times());
    }
    CHECK(calls < 60);
}

TEST_CASE("calls that follow each other before they end pay for a share of what they last together") {
    // Short messages of a root that does not wait: each arrives after 100 ms, and there is one every 100 us.
    constexpr double kApart = 1e-4;
    constexpr int kCalls = 1000000;
    Trials trials({{Seconds(0.10), {}}, {Seconds(0.11), {}}}, kConditions);
    double clock = 0;
    double lost = 0;
    double first = 0;  // what the first round takes, before which nothing is known
    for (int call = 0; call < kCalls; ++call) {
        const Trials::Turn turn = trials.next(Seconds(clock));
        const double time = !turn.is_timed ? kApart : kStart.count() + (turn.plan == 0 ? 0.10 : 0.11);
        clock += time;
        if (!turn.is_timed) continue;
        lost += time;
        trials.add(Seconds(time) - kStart);
        if (!trials.is_round_over()) continue;
        lost += kAgreement.count();
        clock += kAgreement.count();
        if (first == 0) first = lost;
        trials.conclude(trials.times());
    }
    CHECK(lost > first);
    CHECK(lost - first < Trials::kShare * kCalls * kApart);
    CHECK(trials.spent().count() < 2 * kCalls * kApart);

    SECTION("and for all of it once they wait") {
        int calls = 0;
        while (!trials.next(Seconds(clock)).is_timed) {
            clock += 0.10;
            ++calls;
        }
        CHECK(calls > 0);
    }
}

TEST_CASE("a single plan is never timed") {
    Program program({Seconds(0.1)}, {0.1});
    program.call(10000);
    CHECK(program.share_lost() == 0);
    CHECK(program.trials.is_settled());
}

TEST_CASE("plans that make connections in their first call are not judged by it") {
    Trials trials({{Seconds(0.10), {}}, {Seconds(0.11), {}}}, kConditions);
    std::vector<int> calls(2);
    for (int call = 0; call < 3000; ++call) {
        const Trials::Turn turn = trials.next(later());
        if (!turn.is_timed) continue;
        const bool is_first = calls[turn.plan]++ == 0;
        trials.add(Seconds((turn.plan == 0 ? 0.10 : 0.08) + (is_first ? 1 : 0)));
        if (trials.is_round_over()) trials.conclude(trials.times());
    }
    CHECK(trials.best() == 1);
}

TEST_CASE("noise does not make plans change places that take nearly as long") {
    std::mt19937 random(11);
    std::uniform_real_distribution<double> noise(0.98, 1.02);
    Program program({Seconds(0.10), Seconds(0.10)}, {0.10, 0.099});
    program.noise = [&] { return noise(random); };
    program.call(5000);
    CHECK(program.trials.best() == 0);
    CHECK(program.trials.is_settled());  // at last
}

TEST_CASE("differences that may come from waiting for processors count for nothing") {
    for (const double doubt : {0.0, 0.03}) {
        Trials trials({{Seconds(0.10), {}}, {Seconds(0.10), {}}}, {kStart, kAgreement, Seconds(doubt)});
        for (int call = 0; call < 3000; ++call) {
            const Trials::Turn turn = trials.next(later());
            if (turn.is_timed) trials.add(Seconds(turn.plan == 0 ? 0.10 : 0.08));
            if (trials.is_round_over()) trials.conclude(trials.times());
        }
        CHECK(trials.best() == (doubt > 0 ? 0U : 1U));
    }
}

TEST_CASE("when the network has changed, all plans come into play again") {
    Program program({Seconds(0.10), Seconds(0.11)}, {0.10, 0.13});
    program.call(2000);
    REQUIRE(program.trials.best() == 0);
    REQUIRE(program.trials.is_settled());
    program.set_real({0.40, 0.13});
    program.call(3000);
    CHECK(program.trials.best() == 1);
    program.set_real({0.06, 0.13});
    program.call(1000);
    CHECK(program.trials.best() == 1);  // which takes as long as before: nothing tells
    CHECK(program.share_lost() < Trials::kShare);
}

TEST_CASE("ranks that agree on times take the same turns") {
    std::mt19937 random(3);
    std::uniform_real_distribution<double> time(0.05, 0.2);
    const std::vector<Trials::Tried> plans{{Seconds(0.1), {}}, {Seconds(0.1), {}}, {Seconds(0.12), {}}};
    Trials one(plans, kConditions);
    Trials other(plans, kConditions);
    for (int call = 0; call < 5000; ++call) {
        const Trials::Turn turn = one.next(later());
        const Trials::Turn same = other.next(later());
        REQUIRE(turn.plan == same.plan);
        REQUIRE(turn.is_timed == same.is_timed);
        if (!turn.is_timed) continue;
        one.add(Seconds(time(random)));
        other.add(Seconds(time(random)));
        REQUIRE(one.is_round_over() == other.is_round_over());
        if (!one.is_round_over()) continue;
        std::vector<double> longest = one.times();
        const std::vector<double> others = other.times();
        for (std::size_t i = 0; i < longest.size(); ++i) longest[i] = std::max(longest[i], others[i]);
        one.conclude(longest);
        other.conclude(longest);
    }
}

TEST_CASE("what earlier jobs have found is not tried again") {
    const std::vector<Seconds> slow(3, Seconds(0.14));
    const std::vector<Seconds> fast(3, Seconds(0.10));
    Program program(std::vector<Trials::Tried>{{Seconds(0.10), fast}, {Seconds(0.14), slow}}, {0.10, 0.14});
    CHECK(program.trials.is_settled());
    CHECK(!program.trials.is_confirmed());  // the network may have changed since
    program.call(3000);
    CHECK(program.trials.is_confirmed());
    CHECK(program.calls(1) == 0);
    CHECK(program.trials.times_of(1) == slow);
    CHECK(program.trials.times_of(0).size() > fast.size());

    SECTION("unless the network has changed") {
        program.set_real({0.20, 0.14});
        program.call(6000);
        CHECK(program.trials.best() == 1);
    }
}

TEST_CASE("two bad moments of an earlier job do not rule a plan out") {
    const std::vector<Seconds> usual(3, Seconds(0.14));
    const std::vector<Seconds> bad(2, Seconds(0.9));
    Program program(std::vector<Trials::Tried>{{Seconds(0.14), usual}, {Seconds(0.10), bad}}, {0.14, 0.10});
    CHECK(!program.trials.is_settled());
    program.call(6000);
    CHECK(program.trials.best() == 1);
}

TEST_CASE("once it is settled, what rounds cost is a quarter of what trials may") {
    const std::vector<Seconds> slow(3, Seconds(0.14));
    const std::vector<Seconds> fast(3, Seconds(0.10));
    Program program(std::vector<Trials::Tried>{{Seconds(0.10), fast}, {Seconds(0.14), slow}}, {0.10, 0.14});
    program.call(20000);
    CHECK(program.share_lost() > 0.0005);
    CHECK(program.share_lost() < 0.0025);
}

TEST_CASE("rounds compare equal calls") {
    // Each other call takes as long again, by either plan.
    Trials trials({{Seconds(0.10), {}}, {Seconds(0.11), {}}}, kConditions);
    int timed = 0;
    for (int i = 0; i < 3000; ++i) {
        const bool is_long = i % 2 == 0;
        const Trials::Turn turn = trials.next(later(), true, is_long ? 1 : 2);
        if (turn.is_timed) trials.add(Seconds((turn.plan == 0 ? 0.100 : 0.104) * (is_long ? 1.25 : 1)));
        timed += turn.is_timed ? 1 : 0;
        if (!trials.is_round_over()) continue;
        const std::vector<double> times = trials.times();
        if (times.size() > 3) CHECK(times[1] / times[0] == Approx(1.04));
        trials.conclude(times);
    }
    CHECK(timed > 20);
    CHECK(trials.best() == 0);
}

TEST_CASE("a round whose call does not come again is given up, and has its price") {
    Trials trials({{Seconds(0.10), {}}, {Seconds(0.11), {}}}, kConditions);
    int timed = 0;
    double lost = 0;
    for (std::uint64_t call = 0; call < 5000; ++call) {
        const Trials::Turn turn = trials.next(later(), true, call);
        CHECK(turn.plan == 0);
        if (!turn.is_timed) continue;
        ++timed;
        lost += kStart.count();
        trials.add(Seconds(0.10));
        REQUIRE(!trials.is_round_over());
    }
    CHECK(timed > 2);
    CHECK(trials.cost().count() == Approx(lost).margin(kStart.count()));
    CHECK(lost < Trials::kShare * trials.spent().count());
}

TEST_CASE("rounds that are given up again and again become rare") {
    // A root that is far ahead of its calls, as those before; each start makes it wait for the others.
    Trials trials({{Seconds(0.10), {}}, {Seconds(0.11), {}}}, kConditions);
    int timed = 0;
    for (std::uint64_t call = 0; call < 200'000; ++call) {
        const Trials::Turn turn = trials.next(Seconds(5e-5 * static_cast<double>(call)), true, call);
        if (!turn.is_timed) continue;
        ++timed;
        trials.add(Seconds(0.10), Seconds(0.10));
    }
    CHECK(timed > 2);
    CHECK(timed < 20);
}

TEST_CASE("what early ranks wait at a start is a price where they would run ahead") {
    for (const bool may_run_ahead : {false, true}) {
        Trials trials({{Seconds(0.10), {}}, {Seconds(0.11), {}}},
                      {kStart, kAgreement, Seconds(0), false, Seconds(0), may_run_ahead});
        constexpr Seconds kLate(0.5);
        double waited = 0;
        for (int call = 0; call < 20000; ++call) {
            const Trials::Turn turn = trials.next(later());
            if (!turn.is_timed) continue;
            trials.add(Seconds(turn.plan == 0 ? 0.10 : 0.11), kStart + kLate);
            waited += kLate.count();
            if (trials.is_round_over()) trials.conclude(trials.times());
        }
        CHECK(waited > 1);
        const double share = waited / trials.spent().count();
        CHECK(share < (may_run_ahead ? Trials::kShare : 1));
        CHECK((trials.cost().count() > waited) == may_run_ahead);
    }
}

TEST_CASE("rounds of several jobs add up") {
    std::vector<Trials::Tried> plans{{Seconds(0.10), {}}, {Seconds(0.11), {}}};
    const std::vector<double> real{0.14, 0.10};
    int jobs = 0;
    for (; jobs < 20; ++jobs) {
        Program program(plans, real);
        program.call(150);  // a first round, and another one that counts
        for (std::size_t i = 0; i < plans.size(); ++i) plans[i].times = program.trials.times_of(i);
        if (program.trials.best() == 1) break;
    }
    CHECK(jobs > 0);
    CHECK(jobs < 20);
}

TEST_CASE("for later jobs other plans run beside calls that keep the first one") {
    Trials trials({{Seconds(0.10), {}}, {Seconds(0.11), {}}}, {kStart, kAgreement, Seconds(0), true});
    const std::vector<double> real{0.14, 0.10};
    double lost = 0;
    double total = 0;
    int beside = 0;
    for (int call = 0; call < 10000; ++call) {
        const bool may_be_repeated = call % 3 != 0;
        const Trials::Turn turn = trials.next(later(), may_be_repeated);
        REQUIRE(turn.plan == 0);
        total += real[0];
        if (!may_be_repeated) CHECK((turn.beside == 0 && !turn.is_timed));
        if (turn.beside > 0) {
            ++beside;
            CHECK(!turn.is_timed);
            trials.add(Seconds(real[turn.beside]));
            lost += kAgreement.count() + real[turn.beside];
        } else if (turn.is_timed) {
            trials.add(Seconds(real[0]));
            lost += kStart.count();
        }
        if (!trials.is_round_over()) continue;
        lost += kAgreement.count();
        trials.conclude(trials.times());
    }
    CHECK(beside > 5);
    CHECK(lost / total < Trials::kShare);
    CHECK(trials.best() == 1);  // and so it will be for the next job
    CHECK(trials.plan_of_calls() == 0);
    CHECK(trials.cost().count() == Approx(lost).margin(0.05));  // the first time was not predicted
    trials.stop();
    CHECK(trials.is_settled());
    CHECK(trials.best() == 0);
    for (int call = 0; call < 5000; ++call) {
        const Trials::Turn turn = trials.next(later());
        CHECK((turn.plan == 0 && turn.beside == 0 && !turn.is_timed));
    }
}

TEST_CASE("few long waits for a processor do not decide") {
    int wrong = 0;
    for (unsigned seed = 0; seed < 200; ++seed) {
        std::mt19937 random(seed);
        std::uniform_real_distribution<double> chance(0, 1);
        Program program(std::vector<Seconds>{Seconds(0.10), Seconds(0.10)}, {0.10, 0.13});
        program.noise = [&] { return chance(random) < 0.4 ? 1 + 40 * chance(random) : 1.0; };
        program.call(3000);
        wrong += program.trials.best() == 1 ? 1 : 0;
    }
    CHECK(wrong <= 2);
}

TEST_CASE("times of a slower network do not make trials cost more than once") {
    const std::vector<Seconds> slow(9, Seconds(10));
    Program program(std::vector<Trials::Tried>{{Seconds(10), slow}, {Seconds(11), {}}}, {0.10, 0.11});
    program.call(100);
    CHECK(program.share_lost() < 2 * Trials::kShare);
}
