// SPDX-License-Identifier: BSD-3-Clause
// A preload for test beds in which many ranks share few cores. It steps between an MPI library and its
// network in three places.
//
// 1. MPICH polls UCX without ever giving the processor away, so that a rank which waits keeps the core
//    from the rank it waits for until its time slice ends. Here a poll that found nothing yields.
// 2. In MPI_Finalize, MPICH before 4.2 disconnects and then blocks in a read from its process manager (a
//    barrier). A peer whose disconnect still needs an answer then waits for ever; over a wide-area network
//    that is the rule (https://github.com/pmodels/mpich/pull/6596). Here UCX goes on until the process
//    manager has something to read.
// 3. Intel MPI polls libfabric, whose functions cannot be stepped before, but that asks the kernel, by
//    epoll_wait or poll, whether anything has come. An answer of "nothing" to a question that does not wait
//    yields.
#define _GNU_SOURCE
#include <dlfcn.h>
#include <fcntl.h>
#include <poll.h>
#include <sched.h>
#include <stddef.h>
#include <sys/epoll.h>
#include <sys/types.h>

#define EXPORT __attribute__((visibility("default")))

struct ucp_worker;
struct ucp_ep;

EXPORT unsigned ucp_worker_progress(struct ucp_worker* worker);
EXPORT void* ucp_disconnect_nb(struct ucp_ep* endpoint);
EXPORT void ucp_worker_destroy(struct ucp_worker* worker);
EXPORT int epoll_wait(int fd, struct epoll_event* events, int most, int timeout);
EXPORT int poll(struct pollfd* files, nfds_t count, int timeout);
EXPORT ssize_t read(int fd, void* buffer, size_t count);

static unsigned (*kept_progress)(struct ucp_worker*);
static void* (*kept_disconnect)(struct ucp_ep*);
static void (*kept_destroy)(struct ucp_worker*);
static int (*kept_epoll_wait)(int, struct epoll_event*, int, int);
static int (*kept_poll)(struct pollfd*, nfds_t, int);
static ssize_t (*kept_read)(int, void*, size_t);

// The worker that this thread polls, and whether this thread is in MPI_Finalize. UCX has threads of its own,
// which read too and must not poll.
static __thread struct ucp_worker* polled_worker;
static __thread int is_disconnecting;
static __thread int is_in_progress;  // of UCX, which yields once for all that it asks the kernel

// The next definition of `name`; where an interpreter has loaded MPI for itself alone, the one that `caller`,
// a place in MPI's code, would have reached without this preload.
static void* find_next(const char* name, const void* caller) {
    void* next = dlsym(RTLD_NEXT, name);
    Dl_info of_caller;
    if (next != NULL || dladdr(caller, &of_caller) == 0) return next;
    void* library = dlopen(of_caller.dli_fname, RTLD_LAZY | RTLD_NOLOAD);
    if (library == NULL) return NULL;
    next = dlsym(library, name);
    dlclose(library);  // which stays loaded: it is calling
    return next;
}

// Declares `next`, the function that `kept` holds once it is found: UCX's threads may look for the same at
// the same time, and find the same. ISO C knows no cast from an object pointer to a function pointer; POSIX
// asks for this way.
#define FIND_NEXT(next, kept, name)                                     \
    __typeof__(kept) next = __atomic_load_n(&(kept), __ATOMIC_RELAXED); \
    if (next == NULL) {                                                 \
        *(void**)&next = find_next(name, __builtin_return_address(0));  \
        __atomic_store_n(&(kept), next, __ATOMIC_RELAXED);              \
    }

// A read that blocks may as well wait in poll. UCX's own reads do not block, and must not come to.
static int would_block(int fd) {
    const int flags = fcntl(fd, F_GETFL);
    return flags >= 0 && (flags & O_NONBLOCK) == 0;
}

unsigned ucp_worker_progress(struct ucp_worker* worker) {
    FIND_NEXT(next, kept_progress, "ucp_worker_progress");
    polled_worker = worker;
    is_in_progress = 1;
    const unsigned events = next(worker);
    is_in_progress = 0;
    if (events == 0) sched_yield();
    return events;
}

void* ucp_disconnect_nb(struct ucp_ep* endpoint) {
    FIND_NEXT(next, kept_disconnect, "ucp_disconnect_nb");
    is_disconnecting = 1;
    return next(endpoint);
}

void ucp_worker_destroy(struct ucp_worker* worker) {
    FIND_NEXT(next, kept_destroy, "ucp_worker_destroy");
    is_disconnecting = 0;
    polled_worker = NULL;
    next(worker);
}

static int yield_after_nothing(int found, int timeout) {
    if (found == 0 && timeout == 0 && !is_in_progress) sched_yield();
    return found;
}

int epoll_wait(int fd, struct epoll_event* events, int most, int timeout) {
    FIND_NEXT(next, kept_epoll_wait, "epoll_wait");
    return yield_after_nothing(next(fd, events, most, timeout), timeout);
}

int poll(struct pollfd* files, nfds_t count, int timeout) {
    FIND_NEXT(next, kept_poll, "poll");
    return yield_after_nothing(next(files, count, timeout), timeout);
}

ssize_t read(int fd, void* buffer, size_t count) {
    FIND_NEXT(next, kept_read, "read");
    if (is_disconnecting && polled_worker != NULL && would_block(fd)) {
        struct pollfd readable = {fd, POLLIN, 0};
        while (poll(&readable, 1, 0) == 0) ucp_worker_progress(polled_worker);
    }
    return next(fd, buffer, count);
}
