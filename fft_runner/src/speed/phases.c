#include "speed/phases.h"

#include <string.h>

static const char *const names[PENCILFFT_N_PHASES] = {
    [PENCILFFT_FFT_Z] = "fft_z",
    [PENCILFFT_PACK_ROW] = "pack_row",
    [PENCILFFT_EXCHANGE_ROW] = "exchange_row",
    [PENCILFFT_UNPACK_ROW] = "unpack_row",
    [PENCILFFT_FFT_Y] = "fft_y",
    [PENCILFFT_PACK_COLUMN] = "pack_column",
    [PENCILFFT_EXCHANGE_COLUMN] = "exchange_column",
    [PENCILFFT_UNPACK_COLUMN] = "unpack_column",
    [PENCILFFT_FFT_X] = "fft_x",
    [PENCILFFT_TOTAL] = "total",
    [PENCILFFT_WAIT_ROW] = "wait_row",
    [PENCILFFT_WAIT_COLUMN] = "wait_column",
};

const char *pencilfft_phase_name(int phase)
{
    return phase < 0 || phase >= PENCILFFT_N_PHASES ? NULL : names[phase];
}

void pf_clock_start(struct pf_clock *clock)
{
    memset(clock, 0, sizeof *clock);
    clock->started = clock->last = MPI_Wtime();
}

void pf_clock_lap(struct pf_clock *clock, pencilfft_phase phase)
{
    double now = MPI_Wtime();
    clock->seconds[phase] += now - clock->last;
    clock->last = now;
}

void pf_clock_wait(struct pf_clock *clock, pencilfft_phase phase)
{
    double now = MPI_Wtime();
    clock->seconds[phase] += now - clock->last;
    clock->unaccounted += now - clock->last;
    clock->last = now;
}

void pf_clock_stop(struct pf_clock *clock)
{
    clock->seconds[PENCILFFT_TOTAL] = clock->last - clock->started - clock->unaccounted;
}
