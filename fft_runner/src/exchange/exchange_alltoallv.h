#ifndef PF_EXCHANGE_ALLTOALLV_H
#define PF_EXCHANGE_ALLTOALLV_H

#include "exchange/exchange.h"

int pf_alltoallv_plan(const struct pf_transpose *transpose, struct pf_messages *sent, struct pf_messages *received,
                      void **state);
int pf_alltoallv_run(void *state, const struct pf_run *run, void *from, void *to);
void pf_alltoallv_destroy(void *state);

#endif
