// SPDX-License-Identifier: BSD-3-Clause
// A preload for tests of programs that call blocking collectives: of each communicator's calls it makes some
// in two steps, by MPI_Ixxx or MPI_xxx_init and MPI_Start, and completes them in each of the ways that MPI
// has. So what holds of blocking calls is shown of these as well.
//
//     call of a communicator:   0          1        2            3          4        5            ...
//                               blocking   MPI_I    persistent   blocking   MPI_I    persistent
//
// All ranks count alike, since they call collectives in the same order.
#include <array>
#include <atomic>
#include <cstdint>
#include <string_view>

#include <dlfcn.h>
#include <mpi.h>

namespace {

constexpr int kWaysToCall = 3;
enum Way { kBlocking, kStarted, kPersistent };

/// How often the communicator was called. As an attribute: gone with it, and not in its duplicates. Always 0
/// where MPICH 4.0.2's own calls go wrong: persistent broadcasts of intercommunicators, and MPI_Iallgatherv
/// of one rank, which puts its block in the wrong place.
std::uintptr_t count_call(MPI_Comm comm) {
    static const int keyval = [] {
        int made = MPI_KEYVAL_INVALID;
        PMPI_Comm_create_keyval(MPI_COMM_NULL_COPY_FN, MPI_COMM_NULL_DELETE_FN, &made, nullptr);
        return made;
    }();
    int is_inter = 0;
    if (comm != MPI_COMM_NULL) PMPI_Comm_test_inter(comm, &is_inter);
    int size = 0;
    if (comm != MPI_COMM_NULL) PMPI_Comm_size(comm, &size);
    if (is_inter != 0 || size < 2) return 0;
    void* value = nullptr;
    int is_there = 0;
    PMPI_Comm_get_attr(comm, keyval, &value, &is_there);
    const std::uintptr_t count = is_there != 0 ? reinterpret_cast<std::uintptr_t>(value) : 0;
    PMPI_Comm_set_attr(comm, keyval, reinterpret_cast<void*>(count + 1));
    return count;
}

/// While one lives, errors of completing several requests are returned: no communicator's handler is asked
/// but that of MPI_COMM_WORLD.
class ReturnErrors {
  public:
    ReturnErrors() {
        PMPI_Comm_get_errhandler(MPI_COMM_WORLD, &handler_);
        PMPI_Comm_set_errhandler(MPI_COMM_WORLD, MPI_ERRORS_RETURN);
    }
    ~ReturnErrors() {
        PMPI_Comm_set_errhandler(MPI_COMM_WORLD, handler_);
        PMPI_Errhandler_free(&handler_);
    }
    ReturnErrors(const ReturnErrors&) = delete;
    ReturnErrors& operator=(const ReturnErrors&) = delete;

  private:
    MPI_Errhandler handler_ = MPI_ERRHANDLER_NULL;
};

/// Until `request` is complete; `turn` chooses how. Returns the error code of the call that has completed it.
int complete(MPI_Request* request, std::uintptr_t turn) {
    const ReturnErrors guard;
    std::array<MPI_Request, 3> several{MPI_REQUEST_NULL, *request, MPI_REQUEST_NULL};
    std::array<MPI_Status, 3> statuses{};
    std::array<int, 3> indices{};
    int code = MPI_SUCCESS;
    int is_done = 0;
    int number = 0;
    switch (turn % 8) {
        case 0:
            return MPI_Wait(request, MPI_STATUS_IGNORE);
        case 1:
            while (is_done == 0) code = MPI_Test(request, &is_done, statuses.data());
            return code;
        case 2:
            while (is_done == 0) MPI_Request_get_status(*request, &is_done, MPI_STATUS_IGNORE);
            return MPI_Wait(request, MPI_STATUS_IGNORE);
        case 3:
            code = MPI_Waitall(3, several.data(), MPI_STATUSES_IGNORE);
            break;
        case 4:
            code = MPI_Waitany(3, several.data(), &number, MPI_STATUS_IGNORE);
            break;
        case 5:
            code = MPI_Waitsome(3, several.data(), &number, indices.data(), statuses.data());
            break;
        case 6:
            while (is_done == 0) code = MPI_Testall(3, several.data(), &is_done, statuses.data());
            break;
        default:
            while (is_done == 0) code = MPI_Testany(3, several.data(), &number, &is_done, MPI_STATUS_IGNORE);
            break;
    }
    *request = several[1];
    // Of several requests the status has the error.
    if (code == MPI_ERR_IN_STATUS) code = statuses[turn % 8 == 5 ? 0 : 1].MPI_ERROR;
    return code;
}

/// Starts it once and frees it.
int run_persistent(MPI_Request request, std::uintptr_t turn) {
    int code = MPI_SUCCESS;
    if (turn % 2 == 0) {
        code = MPI_Start(&request);
    } else {
        std::array<MPI_Request, 1> requests{request};
        code = MPI_Startall(1, requests.data());
    }
    if (code == MPI_SUCCESS) code = complete(&request, turn);
    MPI_Request_free(&request);
    return code;
}

/// MPICH 4.0.2's own MPI_Ialltoallw goes wrong in place.
template <typename... Others>
bool is_in_place(const void* input, Others...) {
    return input == MPI_IN_PLACE;
}
bool is_in_place(MPI_Comm) {
    return false;
}

template <typename Function>
Function next(const char* name) {
    return reinterpret_cast<Function>(dlsym(RTLD_NEXT, name));
}

}  // namespace

#define LAPLE_EXPORT extern "C" __attribute__((visibility("default")))

#define LAPLE_TEST(symbol, started, persistent, parameters, arguments)                                      \
    LAPLE_EXPORT int MPI_##symbol parameters {                                                              \
        static const auto blocking = next<decltype(&PMPI_##symbol)>("MPI_" #symbol);                        \
        const std::uintptr_t turn = count_call(comm);                                                       \
        MPI_Request request = MPI_REQUEST_NULL;                                                             \
        int code = MPI_SUCCESS;                                                                             \
        const bool is_safe = !std::string_view(#symbol).starts_with("Alltoallw") || !is_in_place arguments; \
        switch (is_safe ? static_cast<int>(turn % kWaysToCall) : int{kBlocking}) {                          \
            case kStarted:                                                                                  \
                code = MPI_##started(LAPLE_UNWRAP arguments, &request);                                     \
                return code == MPI_SUCCESS ? complete(&request, turn / kWaysToCall) : code;                 \
            case kPersistent:                                                                               \
                code = MPI_##persistent(LAPLE_UNWRAP arguments, MPI_INFO_NULL, &request);                   \
                return code == MPI_SUCCESS ? run_persistent(request, turn / kWaysToCall) : code;            \
            default:                                                                                        \
                return blocking arguments;                                                                  \
        }                                                                                                   \
    }

namespace with_int {
using Count = int;
using Displacement = int;
#define LAPLE_COLLECTIVE(id, name, started, parameters, arguments, ...) \
    LAPLE_TEST(name, started, name##_init, parameters, arguments)
#define LAPLE_WITHOUT_COUNT LAPLE_COLLECTIVE
#define LAPLE_OF_COUNTS LAPLE_COLLECTIVE
#include "mpi/exec/collectives.def"
}  // namespace with_int

namespace with_large_count {
using Count = MPI_Count;
using Displacement = MPI_Aint;
#define LAPLE_COLLECTIVE(id, name, started, parameters, arguments, ...) \
    LAPLE_TEST(name##_c, started##_c, name##_init_c, parameters, arguments)
#define LAPLE_WITHOUT_COUNT(...)
// MPICH 4.0.2's own go wrong: they free the counts that they copy too early.
#define LAPLE_OF_COUNTS(...)
#include "mpi/exec/collectives.def"
}  // namespace with_large_count
