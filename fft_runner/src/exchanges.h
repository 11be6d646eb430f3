/* The functions of each exchange_<name>.c, for exchange_table.c. */
#ifndef PF_EXCHANGES_H
#define PF_EXCHANGES_H

#include "exchange.h"

#define PF_DECLARE_EXCHANGE(name)                                                                                      \
    int pf_##name##_plan(const struct pf_transpose *transpose, struct pf_messages *sent,                               \
                         struct pf_messages *received, void **state);                                                  \
    int pf_##name##_run(void *state, const struct pf_run *run, void *from, void *to);                                  \
    void pf_##name##_destroy(void *state)

PF_DECLARE_EXCHANGE(alltoall);
PF_DECLARE_EXCHANGE(alltoallv);
PF_DECLARE_EXCHANGE(alltoallw);
PF_DECLARE_EXCHANGE(padded);
PF_DECLARE_EXCHANGE(p2p);
PF_DECLARE_EXCHANGE(pipelined);

#endif
