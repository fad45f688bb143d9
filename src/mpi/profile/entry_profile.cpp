// SPDX-License-Identifier: BSD-3-Clause
// liblaple_profile: liblaple, and every point-to-point call of MPI, which is timed, counted (Messages), and
// left to MPI. A library of its own, so that no other job has them, and tools that want these calls get them.
// laple-run --profile preloads it.
//
// What is counted is asked of MPI after its own call: arguments are right then.
#include <mpi.h>

#include "base/configuration.hpp"
#include "mpi/call/started.hpp"
#include "mpi/comm/process.hpp"
#include "mpi/profile/counting.hpp"

#define LAPLE_EXPORT extern "C" __attribute__((visibility("default")))

namespace laple::mpi {

bool is_counting() {
    static const bool is_so = [] {
        return !is_disabled() && configuration().settings.is_profile && Process::get() != nullptr;
    }();
    return is_so;
}

namespace {

/// Also where the program makes no such call.
[[maybe_unused]] const bool are_counted = [] {
    Messages::get().count();
    return true;
}();

/// A blocking send.
template <typename Call>
int send(Messages::Line& line, MPI_Count count, MPI_Datatype type, int to, MPI_Comm comm, Call call) {
    Seconds time{0};
    const int code = timed(time, call);
    if (code == MPI_SUCCESS) Messages::get().sent(line, time, message_of(count, type, to, comm));
    return code;
}

/// What looks for a message, or receives one.
template <typename Call>
int receive(Messages::Line& line, int from, MPI_Comm comm, MPI_Status* wanted, Call call) {
    MPI_Status own;
    MPI_Status* const status = status_for(wanted, own);
    Seconds time{0};
    const int code = timed(time, [&] { return call(status); });
    if (code == MPI_SUCCESS)
        Messages::get().received(line, time, peer_in_world(comm, source_in(from, *status)));
    return code;
}

/// The same without waiting: `flag` says whether there is one.
template <typename Call>
int look(Messages::Line& line, int from, MPI_Comm comm, const int* flag, MPI_Status* wanted, Call call) {
    MPI_Status own;
    MPI_Status* const status = status_for(wanted, own);
    Seconds time{0};
    const int code = timed(time, [&] { return call(status); });
    if (code != MPI_SUCCESS) return code;
    const int source = *flag != 0 ? source_in(from, *status) : from;
    Messages::get().received(line, time, peer_in_world(comm, source));
    return code;
}

/// To one, and from another one.
template <typename Call>
int exchange(Messages::Line& line, MPI_Count count, MPI_Datatype type, int to, int from, MPI_Comm comm,
             MPI_Status* wanted, Call call) {
    MPI_Status own;
    MPI_Status* const status = status_for(wanted, own);
    Seconds time{0};
    const int code = timed(time, [&] { return call(status); });
    if (code != MPI_SUCCESS) return code;
    Messages::get().exchanged(line, time, message_of(count, type, to, comm),
                              peer_in_world(comm, source_in(from, *status)));
    return code;
}

enum class Lasts { once, persistently };

template <typename Call>
int open_send(Messages::Line& line, Lasts lasts, MPI_Count count, MPI_Datatype type, int to, MPI_Comm comm,
              const MPI_Request* request, Call call) {
    Seconds time{0};
    const int code = timed(time, call);
    if (code != MPI_SUCCESS) return code;
    const Messages::Message message = message_of(count, type, to, comm);
    Messages::get().opened(line, time, number_of(*request),
                           {message.to, true, lasts == Lasts::persistently, message});
    return code;
}

template <typename Call>
int open_receive(Messages::Line& line, Lasts lasts, int from, MPI_Comm comm, const MPI_Request* request,
                 Call call) {
    Seconds time{0};
    const int code = timed(time, call);
    if (code == MPI_SUCCESS) {
        Messages::get().opened(line, time, number_of(*request),
                               {peer_in_world(comm, from), false, lasts == Lasts::persistently, {}});
    }
    return code;
}

#if MPI_VERSION >= 4
template <typename Call>
int open_exchange(Messages::Line& line, MPI_Count count, MPI_Datatype type, int to, int from, MPI_Comm comm,
                  MPI_Request* request, Call call) {
    Seconds time{0};
    const int code = timed(time, [&] { return call(request); });
    if (code != MPI_SUCCESS) return code;
    const Messages::Message message = message_of(count, type, to, comm);
    const Rank peer = Messages::get().farther(message.to, peer_in_world(comm, from));
    Messages::get().opened(line, time, number_of(*request), {peer, true, false, message});
    return code;
}
#endif

}  // namespace
}  // namespace laple::mpi

using namespace laple::mpi;

// In a function of MPI: on to MPI where nobody wants a profile; else `line` is where it is listed, as `name`.
#define LAPLE_COUNTED(name, symbol, arguments)          \
    if (!is_counting()) return PMPI_##symbol arguments; \
    static Messages::Line& line = Messages::get().line(#name)

#define LAPLE_SEND(name, symbol)                                                                       \
    LAPLE_EXPORT int MPI_##symbol(const void* buffer, Count count, MPI_Datatype type, int to, int tag, \
                                  MPI_Comm comm) {                                                     \
        LAPLE_COUNTED(name, symbol, (buffer, count, type, to, tag, comm));                             \
        return send(line, count, type, to, comm,                                                       \
                    [=] { return PMPI_##symbol(buffer, count, type, to, tag, comm); });                \
    }
#define LAPLE_OPEN_SEND(name, symbol, lasts)                                                           \
    LAPLE_EXPORT int MPI_##symbol(const void* buffer, Count count, MPI_Datatype type, int to, int tag, \
                                  MPI_Comm comm, MPI_Request* request) {                               \
        LAPLE_COUNTED(name, symbol, (buffer, count, type, to, tag, comm, request));                    \
        return open_send(line, Lasts::lasts, count, type, to, comm, request,                           \
                         [=] { return PMPI_##symbol(buffer, count, type, to, tag, comm, request); });  \
    }
#define LAPLE_OPEN_RECEIVE(name, symbol, lasts)                                                            \
    LAPLE_EXPORT int MPI_##symbol(void* buffer, Count count, MPI_Datatype type, int from, int tag,         \
                                  MPI_Comm comm, MPI_Request* request) {                                   \
        LAPLE_COUNTED(name, symbol, (buffer, count, type, from, tag, comm, request));                      \
        return open_receive(line, Lasts::lasts, from, comm, request,                                       \
                            [=] { return PMPI_##symbol(buffer, count, type, from, tag, comm, request); }); \
    }
#define LAPLE_RECEIVE(name, symbol)                                                                \
    LAPLE_EXPORT int MPI_##symbol(void* buffer, Count count, MPI_Datatype type, int from, int tag, \
                                  MPI_Comm comm, MPI_Status* status) {                             \
        LAPLE_COUNTED(name, symbol, (buffer, count, type, from, tag, comm, status));               \
        return receive(line, from, comm, status, [=](MPI_Status* own) {                            \
            return PMPI_##symbol(buffer, count, type, from, tag, comm, own);                       \
        });                                                                                        \
    }
// Exchanges end with a status where they wait, with a request where they do not.
#define LAPLE_EXCHANGE(name, symbol, End, how)                                                              \
    LAPLE_EXPORT int MPI_##symbol(const void* sent, Count sent_count, MPI_Datatype sent_type, int to,       \
                                  int sent_tag, void* buffer, Count count, MPI_Datatype type, int from,     \
                                  int tag, MPI_Comm comm, End* end) {                                       \
        LAPLE_COUNTED(                                                                                      \
            name, symbol,                                                                                   \
            (sent, sent_count, sent_type, to, sent_tag, buffer, count, type, from, tag, comm, end));        \
        return how(line, sent_count, sent_type, to, from, comm, end, [=](End* own) {                        \
            return PMPI_##symbol(sent, sent_count, sent_type, to, sent_tag, buffer, count, type, from, tag, \
                                 comm, own);                                                                \
        });                                                                                                 \
    }
#define LAPLE_EXCHANGE_IN_PLACE(name, symbol, End, how)                                               \
    LAPLE_EXPORT int MPI_##symbol(void* buffer, Count count, MPI_Datatype type, int to, int sent_tag, \
                                  int from, int tag, MPI_Comm comm, End* end) {                       \
        LAPLE_COUNTED(name, symbol, (buffer, count, type, to, sent_tag, from, tag, comm, end));       \
        return how(line, count, type, to, from, comm, end, [=](End* own) {                            \
            return PMPI_##symbol(buffer, count, type, to, sent_tag, from, tag, comm, own);            \
        });                                                                                           \
    }
// Of what has been matched already nothing says where it came from.
#define LAPLE_RECEIVE_MATCHED(name, symbol)                                                                \
    LAPLE_EXPORT int MPI_##symbol(void* buffer, Count count, MPI_Datatype type, MPI_Message* message,      \
                                  MPI_Status* status) {                                                    \
        LAPLE_COUNTED(name, symbol, (buffer, count, type, message, status));                               \
        return receive(line, MPI_UNDEFINED, MPI_COMM_WORLD, status,                                        \
                       [=](MPI_Status* own) { return PMPI_##symbol(buffer, count, type, message, own); }); \
    }
#define LAPLE_OPEN_RECEIVE_MATCHED(name, symbol)                                                      \
    LAPLE_EXPORT int MPI_##symbol(void* buffer, Count count, MPI_Datatype type, MPI_Message* message, \
                                  MPI_Request* request) {                                             \
        LAPLE_COUNTED(name, symbol, (buffer, count, type, message, request));                         \
        return open_receive(line, Lasts::once, MPI_UNDEFINED, MPI_COMM_WORLD, request,                \
                            [=] { return PMPI_##symbol(buffer, count, type, message, request); });    \
    }

#define LAPLE_ALL_WITH_COUNT(suffix)                                 \
    LAPLE_SEND(Send, Send##suffix)                                   \
    LAPLE_SEND(Bsend, Bsend##suffix)                                 \
    LAPLE_SEND(Ssend, Ssend##suffix)                                 \
    LAPLE_SEND(Rsend, Rsend##suffix)                                 \
    LAPLE_OPEN_SEND(Isend, Isend##suffix, once)                      \
    LAPLE_OPEN_SEND(Ibsend, Ibsend##suffix, once)                    \
    LAPLE_OPEN_SEND(Issend, Issend##suffix, once)                    \
    LAPLE_OPEN_SEND(Irsend, Irsend##suffix, once)                    \
    LAPLE_OPEN_SEND(Send_init, Send_init##suffix, persistently)      \
    LAPLE_OPEN_SEND(Bsend_init, Bsend_init##suffix, persistently)    \
    LAPLE_OPEN_SEND(Ssend_init, Ssend_init##suffix, persistently)    \
    LAPLE_OPEN_SEND(Rsend_init, Rsend_init##suffix, persistently)    \
    LAPLE_RECEIVE(Recv, Recv##suffix)                                \
    LAPLE_OPEN_RECEIVE(Irecv, Irecv##suffix, once)                   \
    LAPLE_OPEN_RECEIVE(Recv_init, Recv_init##suffix, persistently)   \
    LAPLE_RECEIVE_MATCHED(Mrecv, Mrecv##suffix)                      \
    LAPLE_OPEN_RECEIVE_MATCHED(Imrecv, Imrecv##suffix)               \
    LAPLE_EXCHANGE(Sendrecv, Sendrecv##suffix, MPI_Status, exchange) \
    LAPLE_EXCHANGE_IN_PLACE(Sendrecv_replace, Sendrecv_replace##suffix, MPI_Status, exchange)

namespace with_int {
using Count = int;
LAPLE_ALL_WITH_COUNT()
#if MPI_VERSION >= 4
LAPLE_EXCHANGE(Isendrecv, Isendrecv, MPI_Request, open_exchange)
LAPLE_EXCHANGE_IN_PLACE(Isendrecv_replace, Isendrecv_replace, MPI_Request, open_exchange)
#endif
}  // namespace with_int

#if MPI_VERSION >= 4
namespace with_large_count {
using Count = MPI_Count;
LAPLE_ALL_WITH_COUNT(_c)
LAPLE_EXCHANGE(Isendrecv, Isendrecv_c, MPI_Request, open_exchange)
LAPLE_EXCHANGE_IN_PLACE(Isendrecv_replace, Isendrecv_replace_c, MPI_Request, open_exchange)
}  // namespace with_large_count

LAPLE_EXPORT int MPI_Psend_init(const void* buffer, int partitions, MPI_Count count, MPI_Datatype type,
                                int to, int tag, MPI_Comm comm, MPI_Info info, MPI_Request* request) {
    LAPLE_COUNTED(Psend_init, Psend_init, (buffer, partitions, count, type, to, tag, comm, info, request));
    return open_send(line, Lasts::persistently, partitions * count, type, to, comm, request, [=] {
        return PMPI_Psend_init(buffer, partitions, count, type, to, tag, comm, info, request);
    });
}

LAPLE_EXPORT int MPI_Precv_init(void* buffer, int partitions, MPI_Count count, MPI_Datatype type, int from,
                                int tag, MPI_Comm comm, MPI_Info info, MPI_Request* request) {
    LAPLE_COUNTED(Precv_init, Precv_init, (buffer, partitions, count, type, from, tag, comm, info, request));
    return open_receive(line, Lasts::persistently, from, comm, request, [=] {
        return PMPI_Precv_init(buffer, partitions, count, type, from, tag, comm, info, request);
    });
}
#endif

LAPLE_EXPORT int MPI_Probe(int from, int tag, MPI_Comm comm, MPI_Status* status) {
    LAPLE_COUNTED(Probe, Probe, (from, tag, comm, status));
    return receive(line, from, comm, status,
                   [=](MPI_Status* own) { return PMPI_Probe(from, tag, comm, own); });
}

LAPLE_EXPORT int MPI_Mprobe(int from, int tag, MPI_Comm comm, MPI_Message* message, MPI_Status* status) {
    LAPLE_COUNTED(Mprobe, Mprobe, (from, tag, comm, message, status));
    return receive(line, from, comm, status,
                   [=](MPI_Status* own) { return PMPI_Mprobe(from, tag, comm, message, own); });
}

LAPLE_EXPORT int MPI_Iprobe(int from, int tag, MPI_Comm comm, int* flag, MPI_Status* status) {
    LAPLE_COUNTED(Iprobe, Iprobe, (from, tag, comm, flag, status));
    return look(line, from, comm, flag, status,
                [=](MPI_Status* own) { return PMPI_Iprobe(from, tag, comm, flag, own); });
}

LAPLE_EXPORT int MPI_Improbe(int from, int tag, MPI_Comm comm, int* flag, MPI_Message* message,
                             MPI_Status* status) {
    LAPLE_COUNTED(Improbe, Improbe, (from, tag, comm, flag, message, status));
    return look(line, from, comm, flag, status,
                [=](MPI_Status* own) { return PMPI_Improbe(from, tag, comm, flag, message, own); });
}

LAPLE_EXPORT int MPI_Wait(MPI_Request* request, MPI_Status* status) {
    LAPLE_COUNTED(Wait, Wait, (request, status));
    Waiting waiting(line, 1, request);
    const int code = PMPI_Wait(request, status);
    waiting.end_with(code == MPI_SUCCESS);
    return code;
}

LAPLE_EXPORT int MPI_Waitall(int count, MPI_Request requests[], MPI_Status statuses[]) {
    LAPLE_COUNTED(Waitall, Waitall, (count, requests, statuses));
    Waiting waiting(line, count, requests);
    const int code = PMPI_Waitall(count, requests, statuses);
    waiting.end_with(code == MPI_SUCCESS);
    return code;
}

LAPLE_EXPORT int MPI_Waitany(int count, MPI_Request requests[], int* index, MPI_Status* status) {
    LAPLE_COUNTED(Waitany, Waitany, (count, requests, index, status));
    Waiting waiting(line, count, requests);
    const int code = PMPI_Waitany(count, requests, index, status);
    waiting.end_with_one(code == MPI_SUCCESS, index);
    return code;
}

LAPLE_EXPORT int MPI_Waitsome(int count, MPI_Request requests[], int* done, int indices[],
                              MPI_Status statuses[]) {
    LAPLE_COUNTED(Waitsome, Waitsome, (count, requests, done, indices, statuses));
    Waiting waiting(line, count, requests);
    const int code = PMPI_Waitsome(count, requests, done, indices, statuses);
    waiting.end_with_some(code == MPI_SUCCESS, done, indices);
    return code;
}

LAPLE_EXPORT int MPI_Test(MPI_Request* request, int* flag, MPI_Status* status) {
    LAPLE_COUNTED(Test, Test, (request, flag, status));
    Waiting waiting(line, 1, request);
    const int code = PMPI_Test(request, flag, status);
    waiting.end_with(code == MPI_SUCCESS && *flag != 0);
    return code;
}

LAPLE_EXPORT int MPI_Testall(int count, MPI_Request requests[], int* flag, MPI_Status statuses[]) {
    LAPLE_COUNTED(Testall, Testall, (count, requests, flag, statuses));
    Waiting waiting(line, count, requests);
    const int code = PMPI_Testall(count, requests, flag, statuses);
    waiting.end_with(code == MPI_SUCCESS && *flag != 0);
    return code;
}

LAPLE_EXPORT int MPI_Testany(int count, MPI_Request requests[], int* index, int* flag, MPI_Status* status) {
    LAPLE_COUNTED(Testany, Testany, (count, requests, index, flag, status));
    Waiting waiting(line, count, requests);
    const int code = PMPI_Testany(count, requests, index, flag, status);
    waiting.end_with_one(code == MPI_SUCCESS && *flag != 0, index);
    return code;
}

LAPLE_EXPORT int MPI_Testsome(int count, MPI_Request requests[], int* done, int indices[],
                              MPI_Status statuses[]) {
    LAPLE_COUNTED(Testsome, Testsome, (count, requests, done, indices, statuses));
    Waiting waiting(line, count, requests);
    const int code = PMPI_Testsome(count, requests, done, indices, statuses);
    waiting.end_with_some(code == MPI_SUCCESS, done, indices);
    return code;
}

// Instead of those of entry_requests.cpp.

LAPLE_EXPORT int MPI_Start(MPI_Request* request) {
    if (!is_counting()) return start_persistent(request);
    static Messages::Line& line = Messages::get().line("Start");
    Starting starting(line, 1, request);
    return starting.end(start_persistent(request));
}

LAPLE_EXPORT int MPI_Startall(int count, MPI_Request requests[]) {
    if (!is_counting()) return start_all_persistent(count, requests);
    static Messages::Line& line = Messages::get().line("Startall");
    Starting starting(line, count, requests);
    return starting.end(start_all_persistent(count, requests));
}

LAPLE_EXPORT int MPI_Request_free(MPI_Request* request) {
    if (is_counting() && request != nullptr) Messages::get().forget(number_of(*request));
    return free_request(request);
}
