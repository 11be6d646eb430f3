/* The synchronisation before each exchange.
 * none     ranks start an exchange when they come to the call
 * barrier  removes the imbalance of the preceding work from the exchange, up to the skew with which MPI leaves a barrier
 * clock    all agree on a time slightly ahead and sleep until then. In a simulation MPI_Wtime is one clock for all ranks, so
 *          that every rank starts at the same instant: the exchange carries no skew, and equal flows that start together are
 *          also cheap to simulate. On a real machine the start is only as good as the agreement of its clocks. */
#include "exchange/exchange.h"

#include <math.h>
#include <time.h>

/* The distance of the agreed time: the minimum, and in units of all-reduces. The distance must exceed the time of an
 * all-reduce, or the last rank is late and its message about the time waits behind the data of the others. */
static const double lead_s = 1e-3, lead_allreduces = 4;
static const double most_leads = 16; /* to sleep: clocks that differ by more are not one clock (other hosts, or set back) */

static int wait_barrier(MPI_Comm comm)
{
    PF_MPI(MPI_Barrier(comm));
    return PENCILFFT_OK;
}

static void sleep_until(double date, double most)
{
    double rest = fmin(date - MPI_Wtime(), most);
    if (rest <= 0)
        return;
    struct timespec pause = {.tv_sec = (time_t)rest};
    pause.tv_nsec = lround((rest - (double)pause.tv_sec) * 1e9);
    if (pause.tv_nsec > 999999999)
        pause.tv_nsec = 999999999;
    nanosleep(&pause, NULL); /* an interrupting signal costs only skew */
}

/* The first all-reduce completes only after the last rank arrives, so every rank learns the time of an all-reduce. */
static int wait_clock(MPI_Comm comm)
{
    double came = MPI_Wtime(), last_came, agreed;
    PF_MPI(MPI_Allreduce(&came, &last_came, 1, MPI_DOUBLE, MPI_MAX, comm));
    double now = MPI_Wtime(), lead = fmax(lead_s, lead_allreduces * (now - last_came)), date = now + lead;
    PF_MPI(MPI_Allreduce(&date, &agreed, 1, MPI_DOUBLE, MPI_MAX, comm));
    sleep_until(agreed, most_leads * lead);
    return PENCILFFT_OK;
}

static const struct pf_sync rows[] = {
    {"none", NULL},
    {"barrier", wait_barrier},
    {"clock", wait_clock},
};
const struct pf_table pf_syncs = PF_TABLE("sync", rows);
