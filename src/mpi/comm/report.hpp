// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <atomic>
#include <cstdint>
#include <map>
#include <mutex>
#include <string>
#include <string_view>
#include <tuple>
#include <vector>

#include "base/json.hpp"
#include "base/units.hpp"
#include "collectives/collective/collective.hpp"

namespace laple::mpi {

/// The name in reports of a call that MPI does itself.
extern const std::string kNativeCall;

/// What was known of a call before it was made.
struct Expectation {
    Seconds predicted{0};  ///< 0: not known
    Seconds native{0};     ///< of MPI's own call; 0: not known
    bool is_native_measured = false;
    std::string reason{};  ///< why this algorithm, for people
    /// `native` is by a rate that connections were still growing beyond, `predicted` is not.
    bool is_native_at_most = false;
    Seconds tried{0};  ///< what trials of this algorithm have shown; 0: nothing yet

    Seconds likely() const { return tried > Seconds(0) ? tried : predicted; }
};

/// What this process called: function × size class × algorithm × calls × time. Thread safe.
class Report {
  public:
    /// Who has done a call: in a profile MPI, in place of LaPle.
    enum class DoneBy { laple, mpi };
    /// `function` is MPI's name, without "MPI_", and has to outlive the report. `time`: 0 where it is not
    /// known. `is_of_all_ranks`: of the job; only such calls are compared with those of other ranks.
    void add(Collective collective, std::string_view function, Bytes bytes, const std::string& algorithm,
             Seconds time, const Expectation& expected = {}, DoneBy done_by = DoneBy::laple,
             bool is_of_all_ranks = false);

    /// How long a job has lasted.
    struct Duration {
        Seconds wall{0};    ///< since MPI_Init
        Seconds set_up{0};  ///< of that, in which LaPle has measured the network and set up communicators
        /// Of that, in the first calls on communicators until all ranks had come; not in `set_up`, nor in the
        /// time of any call that was added.
        Seconds waited{0};

        /// How long the job would have lasted if LaPle had known everything.
        Seconds of_program() const { return wall - set_up; }
    };

    /// What the job was, for people: a line each, without its end.
    struct Job {
        int ranks = 0;           ///< of MPI_COMM_WORLD
        std::string network;     ///< which ranks, where; empty: nothing is known
        std::string source;      ///< of what is known of the network; empty: nothing is
        std::string model_file;  ///< by which plans were made; empty: none is known
        Duration duration;
        std::string trials;        ///< lines on plans that were tried
        std::string streams;       ///< lines on connections
        std::string shared_cores;  ///< who shares cores, where ranks do, for people
        bool is_profile = false;   ///< MPI did all calls; algorithms are those that LaPle would have taken
        std::string messages;      ///< of a profile: lines on point-to-point calls
        std::string remainder;     ///< of a profile: lines on what LaPle does not change
    };
    /// For people, as this rank saw it:
    ///
    ///     LaPle 0.1.0 (1a2b3c4), MPICH Version: 4.0.2
    ///     16 ranks in 4 clusters (4 4 4 4), topology from /home/me/.cache/laple/1234.json
    ///     a table: calls, times, predictions
    ///     what was left to MPI, and why
    ///     what it has brought, in one line
    ///     what to type to learn why
    std::string text(const std::string& versions, const Job& job) const;

    /// The same for programs, of a profile or of a job with LaPle: docs/reference/formats.md.
    Json json(const std::string& versions, const Job& job) const;

    /// What blocking collectives took in such a job; of that, what they took beyond what MPI's own take when
    /// all ranks come at once, or took on the rank that waited least, as far as that is known.
    struct Times {
        Seconds total{0};
        Seconds late{0};
    };
    Times times(const Duration& job) const;

    /// Of a profile: where no rank can leave a call of all ranks before all have come, what such calls took
    /// on the rank that waited least is MPI's own time, about, and all else is waiting for late ranks:
    ///
    ///     rank 0   ├─ waits ──── MPI ──┤          40 ms
    ///     rank 1             ├── MPI ──┤          20 ms: came last, the least
    ///
    /// Where each time another rank is late, that holds some waiting, too; where the last one is so late that
    /// all that it needs has come already, it is less than MPI's own.
    ///
    /// The kinds of such calls: "Allreduce 1024", of a size class, and "Allreduce", of all, as ranks may have
    /// blocks of different sizes. All ranks are to compare those of rank 0.
    std::vector<std::string> kinds_to_compare() const;
    /// Of each kind: how many calls this rank made, the negative of that, and what they took, in seconds.
    std::vector<double> times_to_compare(const std::vector<std::string>& kinds) const;
    /// Of all ranks' times_to_compare() the least, and the mean, one by one. Kinds of which ranks made
    /// different numbers of calls tell nothing; nor do MPI_Alltoallv and MPI_Alltoallw where one rank took
    /// much less than others: it may have had no blocks to wait for.
    void learn_least(const std::vector<std::string>& kinds, const std::vector<double>& least,
                     const std::vector<double>& mean);

  private:
    struct Line {
        std::uint64_t calls = 0;
        Seconds total{0};
        Seconds longest{0};
        Expectation expected;  // of the last call of which something was expected
        // Of all calls of which something was: the means are for people.
        Seconds predicted_sum{0};
        Seconds likely_sum{0};
        Seconds native_sum{0};
        std::uint64_t predicted_calls = 0;
        std::uint64_t native_calls = 0;  // of which it is known what MPI's own take
        std::uint64_t native_measured_calls = 0;
        std::uint64_t native_at_most_calls = 0;
        Seconds saved{0};  // of what is expected of MPI's own
        // Calls of which it is known what they and MPI's own take: what they were expected to take, and took.
        Seconds priced{0};
        Seconds priced_total{0};
        // Likewise, of calls by MPI: what those take when all ranks come at once, and took.
        Seconds native{0};
        Seconds native_total{0};
        std::uint64_t calls_of_all = 0;  // of all ranks
        Seconds undelayed{0};  // of `total`, without waiting for late ranks; 0: not known (learn_least)

        Seconds mean_predicted() const;  // 0: not known
        Seconds mean_native() const;     // likewise
        bool is_compared(Collective collective, std::string_view function) const;
        bool is_saved_by_time() const;
        bool is_native_measured() const;  // of all calls
        bool is_native_at_most() const;   // of some
        Seconds own_sum() const;
        Seconds known_saved() const;
        Seconds late() const;
    };
    /// Of all lines.
    struct Sum {
        std::uint64_t calls = 0;
        std::uint64_t native_calls = 0;
        std::uint64_t started_calls = 0;         // of all
        std::uint64_t started_native_calls = 0;  // of those by MPI
        Seconds total{0};
        Seconds saved{0};
        bool is_known = false;    // something of what saved is the difference to
        bool is_measured = true;  // all of it
        bool is_at_most = false;  // some of it: MPI's own may take less than is expected of them
        bool is_by_time = false;  // some of it: Line::is_saved_by_time()
        double share = 1;         // of what lines have saved as expected, that is in it
        double of_wall = 1;       // of what any line has

        Seconds gain(const Line& line) const;
    };
    /// Of the calls of a kind (kinds_to_compare).
    struct Compared {
        std::uint64_t calls = 0;
        Seconds total{0};
    };
    std::map<std::string, Compared> compared() const;
    /// Sizes are told apart by the power of two at or above them; the class is that power, 0 for 0 bytes.
    static Bytes class_of(Bytes bytes);
    Sum sum(const Duration& job) const;
    std::string table(const Job& job) const;
    std::string reasons() const;
    std::string verdict(const Job& job) const;
    std::string how_to_learn_why(const Job& job) const;
    static std::string outlook(const Job& job, const Sum& all);
    static bool is_set_up_long(const Duration& job);
    static std::string gain(const Job& job, const Sum& all);
    static std::string set_up(const Job& job);

    mutable std::mutex mutex_;
    std::map<std::tuple<Collective, std::string_view, Bytes, std::string>, Line> lines_;
};

/// What this process has compared so far with MPI's own results (LAPLE_VERIFY), and how often they were not
/// the same.
struct VerificationCount {
    std::atomic<int> compared{0};
    std::atomic<int> different{0};
};
inline VerificationCount verification_count;

}  // namespace laple::mpi
