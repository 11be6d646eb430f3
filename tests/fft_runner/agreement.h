/* Whether all ranks have the same value. Collective over MPI_COMM_WORLD. */
#pragma once

#include "pencilfft.h"

static inline int same_on_all(int value)
{
    int both[2] = {value, -value}, largest[2];
    MPI_Allreduce(both, largest, 2, MPI_INT, MPI_MAX, MPI_COMM_WORLD);
    return largest[0] == -largest[1];
}

static inline int same_message_on_all(void)
{
    int number = 0;
    for (const char *at = pencilfft_error_message(); *at; at++)
        number = (number * 31 + *at) & 0xffffff;
    return same_on_all(number);
}
