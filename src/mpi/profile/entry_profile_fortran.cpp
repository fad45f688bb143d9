// SPDX-License-Identifier: BSD-3-Clause
// Calls of `use mpi_f08` that wait: they have no buffer, and reach PMPI_X directly. They are timed here, and
// left to the Fortran binding of MPI. A TYPE(MPI_Request) holds nothing but the handle.
#include <atomic>
#include <vector>

#include <mpi.h>

#include "mpi/comm/messages.hpp"
#include "mpi/comm/next_definition.hpp"
#include "mpi/profile/counting.hpp"

#ifndef MPI_ABI

#define LAPLE_EXPORT extern "C" __attribute__((visibility("default")))

namespace laple::mpi {
namespace {

/// The requests of a Fortran call.
class FortranWaiting : public Waiting {
  public:
    FortranWaiting(Messages::Line& line, int count, const MPI_Fint* requests)
        : Waiting(line, count, [requests](std::size_t i) { return MPI_Request_f2c(requests[i]); }) {}

    /// Positions begin at 1.
    void end_at(bool is_complete, int count, const MPI_Fint* positions) {
        std::vector<int> completed;
        for (int i = 0; is_complete && i < count; ++i) completed.push_back(positions[i] - 1);
        end(completed);
    }
};

/// `ierror` is optional.
bool is_good(const MPI_Fint* ierror) {
    return ierror == nullptr || *ierror == MPI_SUCCESS;
}

/// A probe; of MPI_ANY_SOURCE it is not known who sent.
template <typename Call>
void look(Messages::Line& line, int from, MPI_Fint comm, const MPI_Fint* ierror, Call call) {
    const Seconds start = clock_time();
    call();
    const Seconds time = clock_time() - start;
    if (is_good(ierror)) Messages::get().received(line, time, peer_in_world(MPI_Comm_f2c(comm), from));
}

}  // namespace
}  // namespace laple::mpi

using namespace laple::mpi;

// In a function of the binding: `next` is MPI's own, `line` where it is listed. Where nobody wants a profile,
// that is all.
#define LAPLE_FORTRAN(name, symbol, ...)                                               \
    using Function = decltype(&symbol);                                                \
    static std::atomic<Function> kept{nullptr};                                        \
    const Function next = next_definition(kept, #symbol, __builtin_return_address(0)); \
    if (!is_counting()) return next(__VA_ARGS__);                                      \
    static Messages::Line& line = Messages::get().line(#name)

LAPLE_EXPORT void mpi_probe_f08_(const MPI_Fint* from, const MPI_Fint* tag, const MPI_Fint* comm,
                                 void* status, MPI_Fint* ierror) {
    LAPLE_FORTRAN(Probe, mpi_probe_f08_, from, tag, comm, status, ierror);
    look(line, *from, *comm, ierror, [=] { next(from, tag, comm, status, ierror); });
}

LAPLE_EXPORT void mpi_iprobe_f08_(const MPI_Fint* from, const MPI_Fint* tag, const MPI_Fint* comm,
                                  MPI_Fint* flag, void* status, MPI_Fint* ierror) {
    LAPLE_FORTRAN(Iprobe, mpi_iprobe_f08_, from, tag, comm, flag, status, ierror);
    look(line, *from, *comm, ierror, [=] { next(from, tag, comm, flag, status, ierror); });
}

LAPLE_EXPORT void mpi_mprobe_f08_(const MPI_Fint* from, const MPI_Fint* tag, const MPI_Fint* comm,
                                  MPI_Fint* message, void* status, MPI_Fint* ierror) {
    LAPLE_FORTRAN(Mprobe, mpi_mprobe_f08_, from, tag, comm, message, status, ierror);
    look(line, *from, *comm, ierror, [=] { next(from, tag, comm, message, status, ierror); });
}

LAPLE_EXPORT void mpi_improbe_f08_(const MPI_Fint* from, const MPI_Fint* tag, const MPI_Fint* comm,
                                   MPI_Fint* flag, MPI_Fint* message, void* status, MPI_Fint* ierror) {
    LAPLE_FORTRAN(Improbe, mpi_improbe_f08_, from, tag, comm, flag, message, status, ierror);
    look(line, *from, *comm, ierror, [=] { next(from, tag, comm, flag, message, status, ierror); });
}

LAPLE_EXPORT void mpi_wait_f08_(MPI_Fint* request, void* status, MPI_Fint* ierror) {
    LAPLE_FORTRAN(Wait, mpi_wait_f08_, request, status, ierror);
    FortranWaiting waiting(line, 1, request);
    next(request, status, ierror);
    waiting.end_with(is_good(ierror));
}

LAPLE_EXPORT void mpi_waitall_f08_(const MPI_Fint* count, MPI_Fint* requests, void* statuses,
                                   MPI_Fint* ierror) {
    LAPLE_FORTRAN(Waitall, mpi_waitall_f08_, count, requests, statuses, ierror);
    FortranWaiting waiting(line, *count, requests);
    next(count, requests, statuses, ierror);
    waiting.end_with(is_good(ierror));
}

LAPLE_EXPORT void mpi_waitany_f08_(const MPI_Fint* count, MPI_Fint* requests, MPI_Fint* index, void* status,
                                   MPI_Fint* ierror) {
    LAPLE_FORTRAN(Waitany, mpi_waitany_f08_, count, requests, index, status, ierror);
    FortranWaiting waiting(line, *count, requests);
    next(count, requests, index, status, ierror);
    waiting.end_at(is_good(ierror) && *index != MPI_UNDEFINED, 1, index);
}

LAPLE_EXPORT void mpi_waitsome_f08_(const MPI_Fint* count, MPI_Fint* requests, MPI_Fint* done,
                                    MPI_Fint* indices, void* statuses, MPI_Fint* ierror) {
    LAPLE_FORTRAN(Waitsome, mpi_waitsome_f08_, count, requests, done, indices, statuses, ierror);
    FortranWaiting waiting(line, *count, requests);
    next(count, requests, done, indices, statuses, ierror);
    waiting.end_at(is_good(ierror) && *done != MPI_UNDEFINED, *done, indices);
}

LAPLE_EXPORT void mpi_test_f08_(MPI_Fint* request, MPI_Fint* flag, void* status, MPI_Fint* ierror) {
    LAPLE_FORTRAN(Test, mpi_test_f08_, request, flag, status, ierror);
    FortranWaiting waiting(line, 1, request);
    next(request, flag, status, ierror);
    waiting.end_with(is_good(ierror) && *flag != 0);
}

LAPLE_EXPORT void mpi_testall_f08_(const MPI_Fint* count, MPI_Fint* requests, MPI_Fint* flag, void* statuses,
                                   MPI_Fint* ierror) {
    LAPLE_FORTRAN(Testall, mpi_testall_f08_, count, requests, flag, statuses, ierror);
    FortranWaiting waiting(line, *count, requests);
    next(count, requests, flag, statuses, ierror);
    waiting.end_with(is_good(ierror) && *flag != 0);
}

LAPLE_EXPORT void mpi_testany_f08_(const MPI_Fint* count, MPI_Fint* requests, MPI_Fint* index, MPI_Fint* flag,
                                   void* status, MPI_Fint* ierror) {
    LAPLE_FORTRAN(Testany, mpi_testany_f08_, count, requests, index, flag, status, ierror);
    FortranWaiting waiting(line, *count, requests);
    next(count, requests, index, flag, status, ierror);
    waiting.end_at(is_good(ierror) && *flag != 0 && *index != MPI_UNDEFINED, 1, index);
}

LAPLE_EXPORT void mpi_testsome_f08_(const MPI_Fint* count, MPI_Fint* requests, MPI_Fint* done,
                                    MPI_Fint* indices, void* statuses, MPI_Fint* ierror) {
    LAPLE_FORTRAN(Testsome, mpi_testsome_f08_, count, requests, done, indices, statuses, ierror);
    FortranWaiting waiting(line, *count, requests);
    next(count, requests, done, indices, statuses, ierror);
    waiting.end_at(is_good(ierror) && *done != MPI_UNDEFINED, *done, indices);
}

#endif
