/* Preloaded into MPI processes when there are many on few processors: an MPI library that would wait by yielding sleeps
 * instead. This leaves the processors to the kernel, which is the network here. NAP_US: microseconds, 2000 by default.
 * NAP_AFTER: yields in a row before the first nap, none by default; with some, short waits stay short. */
#define _GNU_SOURCE
#include <stdint.h>
#include <stdlib.h>
#include <sys/syscall.h>
#include <time.h>
#include <unistd.h>

enum { IN_A_ROW_NS = 5000 }; /* the library only looked for messages in between */

int sched_yield(void);

static int64_t now_ns(void)
{
    struct timespec now;
    clock_gettime(CLOCK_MONOTONIC, &now);
    return now.tv_sec * INT64_C(1000000000) + now.tv_nsec;
}

static long setting(const char *name, long otherwise)
{
    const char *given = getenv(name);
    return given ? atol(given) : otherwise;
}

int sched_yield(void)
{
    static long us = -1, after;
    static _Thread_local long in_a_row;
    static _Thread_local int64_t returned_ns;
    if (us < 0) {
        after = setting("NAP_AFTER", 0);
        us = setting("NAP_US", 2000);
    }
    if (after)
        in_a_row = now_ns() - returned_ns < IN_A_ROW_NS ? in_a_row + 1 : 0;
    if (in_a_row < after)
        syscall(SYS_sched_yield);
    else
        nanosleep(&(struct timespec){.tv_nsec = us * 1000}, NULL);
    if (after)
        returned_ns = now_ns();
    return 0;
}
