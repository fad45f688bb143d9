// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>
#include <vector>

#include "base/units.hpp"

namespace laple {

/// Whose plans trials may change.
enum class Adapting {
    never,
    exact,  ///< of calls whose results have the same bits by all plans; those of others for the next job only
    always,
};

/// Finds out by trial which of several plans for calls of one kind takes the shortest time: what is measured
/// counts for more than what is predicted (Faraj, Yuan, Lowenthal: STAR-MPI, ICS 2006).
///
/// Now and then there is a round: one call by the best plan and one by each of some others that are still in
/// play, timed by all ranks from a common start, and then the ranks agree on how long each took:
///
///     calls   best ... best | 0 2 | agree | best ...    best | 0 2 3 | agree | ...
///             saving up      round          saving up          round
///
/// What a round is likely to cost (starts, agreement, and what slower plans take longer than the best one) is
/// saved up first, out of kShare of the time of all calls: trials cost less than that, but for a while where
/// a plan takes much longer than predicted, or calls follow each other sooner than they end: a root need not
/// wait for others. Then the first round tells how much sooner. The most promising plan has its turns first,
/// until it is decided whether it is better; others join where savings allow. A plan that is clearly slower
/// is out of play. Once the best one is alone, rounds are rarer, and only look whether it still takes as
/// long; if not, all come into play again.
///
/// A plan that is predicted to take far longer than the first one waits until it is known how long the best
/// one takes. If that is longer than the other is predicted to take, predictions were wrong, and it is tried;
/// if not, it is not, unless the network changes.
///
/// Plans may be for calls of several sizes. A round compares equal calls: others go on as usual meanwhile,
/// and where the one that began it does not come again soon, the round is given up.
///
/// A value without clocks or messages: every rank makes the same turns from the same agreed times.
class Trials {
  public:
    static constexpr double kShare = 0.01;
    static constexpr double kFirstUse = 1.5;
    /// A plan that is predicted to take so many times as long waits. Many messages on few cores took four
    /// times as long as predicted.
    static constexpr double kWorthTrying = 2;

    /// What trials cost, and what their times are worth.
    struct Conditions {
        Seconds start{0};      ///< of a common start of all ranks
        Seconds agreement{0};  ///< of agreeing on the times of a round
        Seconds doubt{0};      ///< smaller differences may come from ranks that wait for processors
        /// All calls keep the first plan, by which their results have their bits. Other plans are run beside
        /// calls, on the same operands, and their results are thrown away. What is found is for later jobs.
        bool is_for_later = false;
        /// What a plan may take longer at its first call: MPI makes connections, and TCP finds its rate. At
        /// most kFirstUse times what it is expected to take.
        Seconds first_use{0};
        /// Ranks that are early wait at a start for what they would not wait for otherwise.
        bool may_run_ahead = false;
    };
    struct Tried {
        Seconds predicted{0};        ///< not 0
        std::vector<Seconds> times;  ///< by earlier jobs
    };
    /// Of these plans; the first one is the planner's choice.
    Trials(const std::vector<Tried>& plans, const Conditions& conditions);

    struct Turn {
        std::size_t plan = 0;  ///< of the call
        bool is_timed = false;
        std::size_t beside = 0;  ///< the plan to be timed beside the call, before it; 0: none
    };
    /// What the next call does, which begins `now` by this rank's clock. Where it must not be repeated,
    /// nothing is run beside it. `call`: equal for calls whose times can be compared, on all ranks.
    Turn next(Seconds now, bool may_be_repeated = true, std::uint64_t call = 0);
    /// This rank's time of a call that next() wants timed, before which it has `waited` for the start.
    void add(Seconds mine, Seconds waited = Seconds(0));
    /// Whether the round is over: then the ranks shall agree on times(), for each the longest of all ranks,
    /// and give them to conclude().
    bool is_round_over() const { return !turns_.empty() && times_.size() == turns_.size(); }
    /// Of this rank, in seconds, of each call of the round; then of all calls since the round before; then
    /// what this rank has waited at the starts.
    std::vector<double> times() const;
    void conclude(std::span<const double> agreed);

    std::size_t best() const { return best_; }
    /// By which calls are done.
    std::size_t plan_of_calls() const { return conditions_.is_for_later ? 0 : best_; }
    /// Tries nothing any more.
    void stop();
    /// Whether no other plan is in play, nor waits.
    bool is_settled() const;
    /// Whether a round of this job has been concluded since: what earlier jobs have found may be old.
    bool is_confirmed() const { return is_settled() && rounds_ > 0; }
    /// The median of the last rounds; 0: it was not tried often enough to decide by.
    Seconds measured(std::size_t plan) const;
    Seconds predicted(std::size_t plan) const { return predicted_[plan]; }
    /// The last ones, those of earlier jobs among them.
    std::vector<Seconds> times_of(std::size_t plan) const;
    /// What all rounds have cost, and all calls have taken, as far as that was measured.
    Seconds cost() const { return cost_; }
    Seconds spent() const { return spent_; }

  private:
    struct Record {
        std::vector<double> times;  // of the last rounds, but the first one of the job
        double first = 0;           // then MPI has made connections; 0: not tried by this job
        double last = 0;            // of this job; 0: not tried by it
        int rounds = 0;             // that it was in, since all were in play
        bool is_in_play = true;
        bool waits = false;  // until the best one's time says whether it shall be in play
    };

    bool is_known(std::size_t plan) const;
    double expected(std::size_t plan) const;
    double usual_time() const;
    void begin_saving();
    void give_up_round();
    void end_round();
    double cost_of_least_round() const;
    void learn();
    void correct_what_is_saved(double elapsed);
    std::vector<std::size_t> rivals() const;
    bool comes_before(std::size_t plan, std::size_t other) const;
    double likely_cost_of_turn(std::size_t plan) const;
    double cost_of_turn(std::size_t plan, double time) const;
    void begin_round();
    void note(std::size_t plan, double time);
    void choose();
    void put_in_play();
    void call_those_that_wait();
    void drop_the_slow();
    void settle();
    void look_for_drift();

    std::vector<Seconds> predicted_;
    Conditions conditions_;
    std::vector<Record> records_;
    std::size_t best_ = 0;
    std::vector<std::size_t> turns_;  // of the round that is under way
    std::vector<double> times_;
    std::uint64_t call_of_round_ = 0;
    int others_in_round_ = 0;  // calls since its last turn
    double usual_time_ = 0;    // usual_time(), which changes with rounds only
    double saved_ = 0;         // for rounds to come
    double due_ = 0;           // what must be saved up for the next one: it changes with rounds only
    double settled_ = 0;       // what the best one took when it was alone; 0: it is not
    int rounds_ = 0;           // since all were in play
    double overlap_ = 1;   // what calls take of the time that one takes alone, as the last round has shown
    double credited_ = 0;  // the time of the calls since then, as it was believed, and
    double alone_ = 0;     // the same if each had waited for the one before
    std::optional<Seconds> since_;  // the first call after it has begun
    double elapsed_ = 0;            // until the round that is under way
    double waited_ = 0;             // in it
    bool is_stopped_ = false;
    Seconds cost_{0};
    Seconds spent_{0};
};

}  // namespace laple
