#include "speed/clock.h"

#include <mpi.h>
#include <stdlib.h>
#include <string.h>

double pf_now(void)
{
    static _Thread_local double last, behind;
    double now = MPI_Wtime() + behind;
    if (now < last) {
        behind += last - now;
        now = last;
    }
    return last = now;
}

void pf_clock_start(struct pf_clock *clock)
{
    memset(clock, 0, sizeof *clock);
    clock->started = clock->last = pf_now();
}

void pf_clock_lap(struct pf_clock *clock, int phase)
{
    double now = pf_now();
    clock->seconds[phase] += now - clock->last;
    clock->last = now;
}

void pf_clock_wait(struct pf_clock *clock, int phase)
{
    double before = clock->last;
    pf_clock_lap(clock, phase);
    clock->unaccounted += clock->last - before;
}

void pf_clock_resume(struct pf_clock *clock)
{
    double now = pf_now();
    clock->unaccounted += now - clock->last;
    clock->last = now;
}

void pf_clock_beside(struct pf_clock *clock, int phase, double since)
{
    clock->seconds[phase] += clock->last - since;
}

void pf_clock_stop(struct pf_clock *clock)
{
    clock->total = clock->last - clock->started - clock->unaccounted;
}

static int ascending(const void *a, const void *b)
{
    double x = *(const double *)a, y = *(const double *)b;
    return (x > y) - (x < y);
}

void pf_seconds_sort(double *seconds, int n)
{
    qsort(seconds, (size_t)n, sizeof *seconds, ascending);
}
