/* The functions of each exchange_<name>.c, for exchange_table.c. */
#ifndef PF_EXCHANGES_H
#define PF_EXCHANGES_H

#include "exchange/exchange.h"

#define PF_DECLARE_EXCHANGE(name)                                                                                      \
    int pf_##name##_plan(const struct pf_transpose *transpose, struct pf_messages *sent, struct pf_messages *received, \
                         void **state);                                                                                \
    int pf_##name##_run(void *state, const struct pf_run *run, void *from, void *to);                                  \
    void pf_##name##_destroy(void *state)

PF_DECLARE_EXCHANGE(alltoall);
PF_DECLARE_EXCHANGE(alltoallv);
PF_DECLARE_EXCHANGE(alltoallw);
PF_DECLARE_EXCHANGE(padded);
PF_DECLARE_EXCHANGE(p2p);
PF_DECLARE_EXCHANGE(pipelined);
int pf_pipelined_slices(const struct pf_transpose *transpose);

PF_DECLARE_EXCHANGE(persistent);
int pf_persistent_connect(void *state, void *from, void *to);
extern const char pf_persistent_means[];

PF_DECLARE_EXCHANGE(fftw);
void pf_fftw_prepare(void); /* makes FFTW know its distributed transposes, if this exchange is there */
int pf_fftw_connect(void *state, void *from, void *to);
void pf_fftw_traffic(const void *state, int64_t *bytes, int64_t *messages);

PF_DECLARE_EXCHANGE(node);
int pf_node_connect(void *state, void *from, void *to);
void *pf_node_memory(const void *state);
int pf_node_wait_to_write(void *state);
void pf_node_traffic(const void *state, int64_t *bytes, int64_t *messages);

void pf_padded_traffic(const void *state, int64_t *bytes, int64_t *messages);

#endif
