/* The table of exchanges. */
#include "exchange/exchange.h"

/* In the order of listings, and of the trials of "auto". */
#define EXCHANGES(X) \
    X(alltoallv)     \
    X(alltoall)      \
    X(padded)        \
    X(alltoallw)     \
    X(p2p)           \
    X(persistent)    \
    X(bruck2)        \
    X(bruck4)        \
    X(bruck8)        \
    X(node)          \
    X(put)           \
    X(fftw)          \
    X(auto)

#define DECLARE(name) extern const struct pf_exchange pf_exchange_##name;
EXCHANGES(DECLARE)

/* Tries the other rows when a plan is made: choose/auto.c. */
const struct pf_exchange pf_exchange_auto = {.name = "auto"};

#define ADDRESS(name) &pf_exchange_##name,
static const struct pf_exchange *const rows[] = {EXCHANGES(ADDRESS)};
const struct pf_table pf_exchanges = PF_TABLE_OF_POINTERS("exchange", rows);
_Static_assert(sizeof rows / sizeof rows[0] <= PF_MOST_EXCHANGES, "PF_MOST_EXCHANGES is too small");
