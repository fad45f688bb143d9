// SPDX-License-Identifier: BSD-3-Clause
#include "mpi/comm/consensus.hpp"

#include <algorithm>
#include <array>
#include <cstddef>
#include <cstdint>
#include <tuple>

#include <fmt/format.h>

#include "base/hash.hpp"
#include "base/version.hpp"
#include "mpi/comm/gpu.hpp"
#include "mpi/comm/log.hpp"
#include "mpi/comm/progress_engine.hpp"
#include "mpi/exec/communicator.hpp"
#include "mpi/probe/waiting.hpp"

namespace laple::mpi {
namespace {

constexpr Seconds kPatience(60);
/// Messages that fill it have counts that MPI can say.
constexpr Bytes kMostBlockMemory = Bytes{1} << 30U;

/// What each rank brings, by place. All but the last two come to the maximum of all ranks; so what all ranks
/// must want for it to hold is 0 where it is wanted, and what the least decides is negative.
enum Place : std::size_t {
    kBuild,  ///< it comes first, twice, so that builds of all times can tell that they differ
    kNegativeBuild,
    kProposal,  ///< and the rank: the lowest of equals wins
    kMayRace,
    kNotStrict,
    kNotVerified,
    kNotHeedingPcontrol,
    kNotAdapting,
    kNotFast,
    kNegativeBlockMemory,
    kNoProgress,
    kNegativeStreams,
    kIsProfiled,
    kNotTraced,
    kPartsMeasured,
    kGpuBuffers,
    kPlacesUnknown,
    kMaxima = 22,  ///< of so many numbers; what is not used is 0, for builds of all times bring as many
    kPlaceSums = kMaxima,  ///< the last two: modulo 2^64, the sums of all ranks
    kCount = 24
};
static_assert(kCount == kPlaceSums + std::tuple_size_v<PlaceSums>);
using Numbers = std::array<std::int64_t, kCount>;

/// A type and an operation for all of them at once: MPI may do parts of a vector apart.
class Combining {
  public:
    Combining() {
        PMPI_Type_contiguous(int{kCount}, MPI_INT64_T, &type_);
        PMPI_Type_commit(&type_);
        PMPI_Op_create(&combine, 1, &op_);
    }
    ~Combining() {
        PMPI_Op_free(&op_);
        PMPI_Type_free(&type_);
    }
    Combining(const Combining&) = delete;
    Combining& operator=(const Combining&) = delete;

    MPI_Datatype type() const { return type_; }
    MPI_Op op() const { return op_; }

  private:
    static void combine(void* from, void* to, int* count, MPI_Datatype*) {
        for (int i = 0; i < *count; ++i) {
            const Numbers& other = static_cast<const Numbers*>(from)[i];
            Numbers& numbers = static_cast<Numbers*>(to)[i];
            for (std::size_t k = 0; k < kMaxima; ++k) numbers[k] = std::max(numbers[k], other[k]);
            for (std::size_t k = kMaxima; k < numbers.size(); ++k) {
                numbers[k] = static_cast<std::int64_t>(static_cast<std::uint64_t>(numbers[k]) +
                                                       static_cast<std::uint64_t>(other[k]));
            }
        }
    }

    MPI_Datatype type_ = MPI_DATATYPE_NULL;
    MPI_Op op_ = MPI_OP_NULL;
};

/// Two builds of LaPle may choose two plans for the same call, also where two compilers have made them: these
/// may round differently, and sort what is equal differently.
std::int64_t number_of_build() {
    return static_cast<std::int64_t>(fnv1a(__VERSION__, fnv1a(version_text())) >> 2U);
}

/// Of several ranks' LAPLE_STREAMS the least counts, of which one that leaves it to others is none.
constexpr std::int64_t kAnyStreams = 1000;
std::int64_t streams_in_order(int streams) {
    return streams == Settings::kAutomatic ? kAnyStreams : streams;
}
int streams_of(std::int64_t in_order) {
    return in_order == kAnyStreams ? Settings::kAutomatic : static_cast<int>(in_order);
}

/// Not MPI_Allreduce: the own collective of a rank without LaPle could be taken for an answer, and nothing
/// could be reported while waiting. A rank that never arrives cannot be told from one that computes for
/// long.
int combine(Process& process, MPI_Comm comm, int rank, int size, const Numbers& mine, Numbers& all) {
    const Seconds start = now();
    const Combining combining;
    const int code = allreduce_quietly(&mine, &all, combining.type(), combining.op(), comm, kPatience, [&] {
        // Usually all ranks of a host lack LaPle: the first host has it, or the last one has.
        if ((rank != 0 && rank != size - 1) || !process.may_warn_of(Warning::absent_rank)) return;
        say(fmt::format(
            "has waited for {:.0f} s in the first collective of a communicator of {} ranks, which LaPle "
            "begins when all ranks are there. If one never comes, it may be without LaPle: see that "
            "liblaple.so is on every host, and preloaded or linked on every rank",
            kPatience.count(), size));
    });
    process.note_waited(now() - start);
    return code;
}

Numbers numbers_of(Process& process, int rank, int size, Proposal proposal) {
    const Settings& settings = process.settings();
    const auto places = size == size_of(MPI_COMM_WORLD) ? place_sums(rank) : std::nullopt;
    Numbers mine{};
    mine[kBuild] = number_of_build();
    mine[kNegativeBuild] = -mine[kBuild];
    mine[kProposal] = static_cast<std::int64_t>(proposal) * size + size - 1 - rank;
    mine[kMayRace] = may_threads_race() ? 1 : 0;
    mine[kNotStrict] = settings.reproducible == Reproducible::strict ? 0 : 1;
    mine[kNotVerified] = settings.verify ? 0 : 1;
    mine[kNotHeedingPcontrol] = settings.heeds_pcontrol ? 0 : 1;
    mine[kNotAdapting] = settings.adapts ? 0 : 1;
    mine[kNotFast] = settings.reproducible == Reproducible::fast ? 0 : 1;
    mine[kNegativeBlockMemory] =
        -static_cast<std::int64_t>(std::min(settings.block_memory, kMostBlockMemory));
    mine[kNoProgress] = ProgressEngine::is_there() ? 0 : 1;
    mine[kNegativeStreams] = -streams_in_order(settings.streams);
    mine[kIsProfiled] = settings.is_profile ? 1 : 0;
    mine[kNotTraced] = settings.trace.empty() ? 1 : 0;
    mine[kPartsMeasured] = process.have_parts_measured() ? 1 : 0;
    mine[kGpuBuffers] = may_have_gpu_buffers() ? 1 : 0;
    mine[kPlacesUnknown] = places ? 0 : 1;
    for (std::size_t i = 0; places && i < places->size(); ++i)
        mine[kPlaceSums + i] = static_cast<std::int64_t>((*places)[i]);
    return mine;
}

Consensus consensus_of(const Numbers& all, int size) {
    Consensus consensus;
    consensus.is_one_build = all[kBuild] == -all[kNegativeBuild];
    if (!consensus.is_one_build) return consensus;
    consensus.best = static_cast<Proposal>(all[kProposal] / size);
    consensus.source = static_cast<int>(size - 1 - all[kProposal] % size);
    consensus.may_race = all[kMayRace] != 0;
    consensus.is_strict = all[kNotStrict] == 0;
    consensus.is_verified = all[kNotVerified] == 0;
    // It says nothing of which calls of other threads come before it.
    consensus.heeds_pcontrol = all[kNotHeedingPcontrol] == 0 && !consensus.may_race;
    consensus.block_memory = static_cast<Bytes>(-all[kNegativeBlockMemory]);
    consensus.has_progress = all[kNoProgress] == 0;
    consensus.streams = streams_of(-all[kNegativeStreams]);
    consensus.is_profiled = all[kIsProfiled] != 0;
    consensus.is_traced = all[kNotTraced] == 0;
    consensus.have_parts_measured = all[kPartsMeasured] != 0;
    consensus.may_have_gpu_buffers = all[kGpuBuffers] != 0;
    if (all[kPlacesUnknown] == 0)
        consensus.places = PlaceSums{static_cast<std::uint64_t>(all[kPlaceSums]),
                                     static_cast<std::uint64_t>(all[kPlaceSums + 1])};
    // What is compared with MPI's own takes longer.
    if (all[kNotAdapting] == 0 && !consensus.is_verified)
        consensus.adapting = all[kNotFast] == 0 ? Adapting::always : Adapting::exact;
    return consensus;
}

}  // namespace

std::optional<Consensus> find_consensus(Process& process, MPI_Comm comm, int rank, int size,
                                        Proposal proposal) {
    const Numbers mine = numbers_of(process, rank, size, proposal);
    Numbers all{};
    if (combine(process, comm, rank, size, mine, all) != MPI_SUCCESS) return std::nullopt;
    return consensus_of(all, size);
}

}  // namespace laple::mpi
