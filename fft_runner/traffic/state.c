#include "state.h"

#include <sched.h>
#include <stdarg.h>
#include <stdatomic.h>
#include <stdio.h>

struct state traffic;
static atomic_flag busy = ATOMIC_FLAG_INIT;

bool traffic_try_lock(void)
{
    return !atomic_flag_test_and_set(&busy);
}

void traffic_lock(void)
{
    while (!traffic_try_lock())
        sched_yield();
}

void traffic_unlock(void)
{
    atomic_flag_clear(&busy);
    if (traffic.late)
        traffic.late();
}

static double since(clockid_t clock, const struct timespec *begin)
{
    struct timespec now;
    return clock_gettime(clock, &now) ? 0
                                      : (double)(now.tv_sec - begin->tv_sec) + 1e-9 * (double)(now.tv_nsec - begin->tv_nsec);
}

double traffic_seconds(void)
{
    return since(CLOCK_MONOTONIC, &traffic.begin);
}

double traffic_processor_seconds(void)
{
    return since(traffic.processor, &traffic.begin_processor);
}

double traffic_computing_seconds(void)
{
    return since(traffic.computing, traffic.computing == CLOCK_MONOTONIC ? &traffic.begin : &traffic.begin_processor);
}

void traffic_say(const char *text, ...)
{
    char line[600];
    va_list arguments;
    va_start(arguments, text);
    vsnprintf(line, sizeof line, text, arguments);
    va_end(arguments);
    fprintf(stderr, "pencilmap traffic: %s\n", line);
}
