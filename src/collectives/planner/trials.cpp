// SPDX-License-Identifier: BSD-3-Clause
#include "collectives/planner/trials.hpp"

#include <algorithm>
#include <tuple>
#include <utility>

#include "base/median.hpp"

namespace laple {
namespace {

/// The rest is for plans that take longer than predicted.
constexpr double kSaved = 0.8 * Trials::kShare;
constexpr std::size_t kKept = 9;           // times of a plan
constexpr std::size_t kEnough = 3;         // times to decide by
constexpr std::size_t kEnoughOfNoisy = 7;  // the same, where they differ by more than
constexpr double kNoisy = 1.25;
constexpr double kClearlyFaster = 0.95;
constexpr double kClearlySlower = 1.15;
constexpr double kFarSlower = 1.5;  // then one time less is enough
/// Plans whose times are nearly equal after so many rounds may as well be left alone.
constexpr int kMostRounds = 12;
/// Rounds that only look at the best plan are so much rarer.
constexpr double kRarely = 4;
constexpr double kDrift = 1.5;
/// Calls of other sizes that a round waits for its own.
constexpr int kMostOthers = 32;

/// Of a copy, as the order of `times` tells their age.
double typical(std::vector<double> times) {
    return median(times);
}

double least(const std::vector<double>& times) {
    return *std::min_element(times.begin(), times.end());
}

}  // namespace

Trials::Trials(const std::vector<Tried>& plans, const Conditions& conditions) : conditions_(conditions) {
    for (const Tried& plan : plans) {
        predicted_.push_back(plan.predicted);
        Record& record = records_.emplace_back();
        for (const Seconds time : plan.times) record.times.push_back(time.count());
    }
    put_in_play();
    call_those_that_wait();
    drop_the_slow();
    settle();
    begin_saving();
}

/// For the next round.
void Trials::begin_saving() {
    usual_time_ = usual_time();
    due_ = cost_of_least_round() * (is_settled() ? kRarely : 1);
    if (is_settled()) saved_ = std::min(saved_, 0.0);
}

Trials::Turn Trials::next(Seconds now, bool may_be_repeated, std::uint64_t call) {
    const Turn usual{plan_of_calls(), false, 0};
    const double alone = usual_time_;
    const double time = overlap_ * alone;
    spent_ += Seconds(time);
    if (records_.size() < 2 || is_stopped_) return usual;
    if (!turns_.empty() && call != call_of_round_) {
        if (++others_in_round_ > kMostOthers) give_up_round();
        return usual;
    }
    others_in_round_ = 0;
    if (!since_) since_ = now;
    saved_ += kSaved * time;
    const bool may_begin = !conditions_.is_for_later || may_be_repeated;
    if (may_begin && turns_.empty() && saved_ >= due_) {
        begin_round();
        call_of_round_ = call;
        elapsed_ = (now - *since_).count();
    }
    if (turns_.empty()) {
        alone_ += alone;
        credited_ += time;
        return usual;
    }
    if (!may_begin || is_round_over()) return usual;
    const std::size_t plan = turns_[times_.size()];
    const bool is_beside = conditions_.is_for_later && plan != usual.plan;
    return is_beside ? Turn{usual.plan, false, plan} : Turn{plan, true, 0};
}

void Trials::stop() {
    for (std::size_t plan = 0; plan < records_.size(); ++plan) {
        records_[plan].is_in_play = plan == plan_of_calls();
        records_[plan].waits = false;
    }
    best_ = plan_of_calls();
    usual_time_ = usual_time();
    is_stopped_ = true;
    end_round();
}

/// What its turns have found is not kept, nor is it known what they have cost, on all ranks: each time twice
/// as much is saved up for the next round, until one is concluded.
void Trials::give_up_round() {
    double cost = 0;
    for (std::size_t i = 0; i < times_.size(); ++i) cost += likely_cost_of_turn(turns_[i]);
    saved_ -= cost;
    cost_ += Seconds(cost);
    due_ *= 2;
    alone_ = 0;
    credited_ = 0;
    since_.reset();
    end_round();
}

void Trials::end_round() {
    turns_.clear();
    times_.clear();
    waited_ = 0;
}

void Trials::add(Seconds mine, Seconds waited) {
    times_.push_back(mine.count());
    waited_ += waited.count();
}

std::vector<double> Trials::times() const {
    std::vector<double> all = times_;
    all.push_back(elapsed_);
    all.push_back(waited_);
    return all;
}

void Trials::conclude(std::span<const double> agreed) {
    const bool is_first = records_[plan_of_calls()].last <= 0;
    const double believed = usual_time_;
    for (std::size_t i = 0; i < turns_.size(); ++i) note(turns_[i], agreed[i]);
    if (is_first && usual_time() < believed) {
        // What was saved up is a share of the time that calls took, not of what they were believed to take.
        const double share = usual_time() / believed;
        for (double* const sum : {&saved_, &credited_, &alone_}) *sum *= share;
        spent_ *= share;
    }
    correct_what_is_saved(agreed[turns_.size()]);
    // Only now it is known what the calls take otherwise.
    double cost = conditions_.agreement.count();
    for (std::size_t i = 0; i < turns_.size(); ++i) cost += cost_of_turn(turns_[i], agreed[i]);
    if (conditions_.may_run_ahead)
        cost += std::max(
            0.0, agreed[turns_.size() + 1] - conditions_.start.count() * static_cast<double>(turns_.size()));
    saved_ -= cost;
    cost_ += Seconds(cost);
    end_round();
    ++rounds_;
    learn();
    begin_saving();
}

/// Calls have taken no longer than they lasted together: a root of short messages may be far ahead.
void Trials::correct_what_is_saved(double elapsed) {
    const double real = std::min(elapsed, alone_);
    saved_ += kSaved * (real - credited_);
    spent_ += Seconds(real - credited_);
    if (alone_ > 0) overlap_ = real / alone_;
    alone_ = 0;
    credited_ = 0;
    since_.reset();
}

/// From a round.
void Trials::learn() {
    if (settled_ > 0) return look_for_drift();
    call_those_that_wait();
    choose();
    drop_the_slow();
    settle();
}

/// All; but those wait that are predicted to take far longer than the first one, and have no times.
void Trials::put_in_play() {
    for (std::size_t plan = 0; plan < records_.size(); ++plan) {
        Record& record = records_[plan];
        const bool is_far = predicted_[plan] > kWorthTrying * predicted_.front();
        record.waits = is_far && record.times.empty() && plan != best_;
        record.is_in_play = !record.waits;
    }
}

void Trials::call_those_that_wait() {
    if (!is_known(best_)) return;
    for (std::size_t plan = 0; plan < records_.size(); ++plan) {
        Record& record = records_[plan];
        if (record.waits) record.is_in_play = predicted_[plan].count() < expected(best_);
        record.waits = false;
    }
}

void Trials::settle() {
    if (is_settled()) settled_ = measured(best_).count();
}

bool Trials::is_settled() const {
    const auto counts = [](const Record& record) { return record.is_in_play || record.waits; };
    return std::count_if(records_.begin(), records_.end(), counts) < 2;
}

Seconds Trials::measured(std::size_t plan) const {
    const Record& record = records_[plan];
    const bool is_decided = is_known(plan) || (!record.is_in_play && !record.times.empty());
    return is_decided ? Seconds(typical(record.times)) : Seconds(0);
}

std::vector<Seconds> Trials::times_of(std::size_t plan) const {
    std::vector<Seconds> times;
    for (const double time : records_[plan].times) times.emplace_back(time);
    return times;
}

bool Trials::is_known(std::size_t plan) const {
    const auto& times = records_[plan].times;
    return times.size() >= kEnough &&
           (times.size() >= kEnoughOfNoisy || typical(times) <= kNoisy * least(times));
}

/// What was measured, else what is predicted; and where predictions are as wrong as that of the best plan,
/// in its proportion.
double Trials::expected(std::size_t plan) const {
    const auto& times = records_[plan].times;
    if (!times.empty()) return typical(times);
    if (records_[plan].first > 0) return records_[plan].first;
    const auto& of_best = records_[best_].times;
    const double scale = of_best.empty() ? 1 : typical(of_best) / predicted_[best_].count();
    return scale * predicted_[plan].count();
}

/// Of a call, carefully: times of earlier jobs may be from a network that was slower.
double Trials::usual_time() const {
    const std::size_t usual = plan_of_calls();
    const double time = expected(usual);
    return records_[usual].last > 0 ? std::min(records_[usual].last, time) : time;
}

/// Those in play beside the best one.
std::vector<std::size_t> Trials::rivals() const {
    std::vector<std::size_t> found;
    for (std::size_t plan = 0; plan < records_.size(); ++plan) {
        if (records_[plan].is_in_play && plan != best_) found.push_back(plan);
    }
    return found;
}

/// In the next round: those that were never tried, the fastest first; then those that are not decided yet;
/// then those that were seldom tried.
bool Trials::comes_before(std::size_t plan, std::size_t other) const {
    const auto turn = [this](std::size_t i) {
        const int rounds = records_[i].rounds;
        return std::tuple(rounds > 0 && !is_known(i) ? 1 : rounds, expected(i), i);
    };
    return turn(plan) < turn(other);
}

/// Of the best plan with one other, if there is one.
double Trials::cost_of_least_round() const {
    double cost = conditions_.agreement.count() + likely_cost_of_turn(best_);
    const std::vector<std::size_t> others = rivals();
    const auto first = std::min_element(others.begin(), others.end(),
                                        [this](std::size_t a, std::size_t b) { return comes_before(a, b); });
    if (first != others.end()) cost += likely_cost_of_turn(*first);
    return cost;
}

double Trials::likely_cost_of_turn(std::size_t plan) const {
    const bool is_first_use = plan != plan_of_calls() && records_[plan].first <= 0 && plan != 0;
    const double time = expected(plan);
    const double more = std::min(conditions_.first_use.count(), kFirstUse * time);
    return cost_of_turn(plan, time) + (is_first_use ? more : 0);
}

/// Of a call that takes the place of a usual one, or is made beside it.
double Trials::cost_of_turn(std::size_t plan, double time) const {
    const std::size_t usual = plan_of_calls();
    const bool is_beside = conditions_.is_for_later && plan != usual;
    const Seconds start = is_beside ? conditions_.agreement : conditions_.start;
    return start.count() + std::max(0.0, time - (is_beside ? 0 : overlap_ * expected(usual)));
}

void Trials::begin_round() {
    turns_ = {best_};
    double cost = cost_of_least_round();
    std::vector<std::size_t> others = rivals();
    std::sort(others.begin(), others.end(),
              [this](std::size_t a, std::size_t b) { return comes_before(a, b); });
    for (const std::size_t plan : others) {
        const bool is_first = turns_.size() == 1;  // it is in the cost already
        const double more = is_first ? 0 : likely_cost_of_turn(plan);
        if (!is_first && cost + more > saved_) continue;
        turns_.push_back(plan);
        cost += more;
    }
    std::sort(turns_.begin(), turns_.end());
}

/// The first time tells what the next one may cost, and no more; but for the planner's choice, which the
/// calls before have used.
void Trials::note(std::size_t plan, double time) {
    Record& record = records_[plan];
    ++record.rounds;
    record.last = time;
    if (record.first == 0 && plan != 0) {
        record.first = time;
        return;
    }
    if (record.times.size() == kKept) record.times.erase(record.times.begin());
    record.times.push_back(time);
}

/// Where ranks wait for processors, few times make a large difference: then the least ones must tell the
/// same.
void Trials::choose() {
    if (!is_known(best_)) return;
    const std::size_t before = best_;
    const double most = kClearlyFaster * expected(before) - conditions_.doubt.count();
    for (std::size_t plan = 0; plan < records_.size(); ++plan) {
        const bool is_faster = records_[plan].is_in_play && is_known(plan) && expected(plan) < most &&
                               least(records_[plan].times) < least(records_[before].times);
        if (is_faster && expected(plan) < expected(best_)) best_ = plan;
    }
}

void Trials::drop_the_slow() {
    const double best = expected(best_);
    for (std::size_t plan = 0; plan < records_.size(); ++plan) {
        Record& record = records_[plan];
        if (plan == best_ || record.times.empty()) continue;
        const bool is_slow =
            is_known(plan) && expected(plan) > kClearlySlower * best &&
            (records_[best_].times.empty() || least(record.times) > least(records_[best_].times));
        // Not by what earlier jobs have kept: two bad moments would count for ever. The first time is not
        // kept.
        const bool is_far_slower = record.rounds > 1 && record.times.size() + 1 >= kEnough &&
                                   least(record.times) > kFarSlower * best;
        if (is_slow || is_far_slower || record.rounds >= kMostRounds) record.is_in_play = false;
    }
}

/// The network has changed where the best plan's last times are others than when it was chosen.
void Trials::look_for_drift() {
    const auto& times = records_[best_].times;
    const std::vector<double> last(times.end() - static_cast<std::ptrdiff_t>(kEnough), times.end());
    if (least(last) < kDrift * settled_ && typical(last) * kDrift > settled_) return;
    settled_ = 0;
    rounds_ = 0;
    for (Record& record : records_) {
        record.times.clear();
        record.rounds = 0;
    }
    put_in_play();
}

}  // namespace laple
