/* Transposes in which a message carries the blocks of many ranks: what exchanges bruck2, bruck4 and bruck8 have in common. */
#pragma once

#include "exchange/exchange.h"

/* `plan` with that radix, at least 2; the state is of one kind. */
int pf_bruck_plan(const struct pf_transpose *transpose, int radix, const struct pf_messages *sent,
                  const struct pf_messages *received, void **state);
int pf_bruck_start(void *state, void *from, void *to);
int pf_bruck_progress(void *state);
int pf_bruck_finish(void *state);
void pf_bruck_destroy(void *state);
void pf_bruck_traffic(const void *state, int64_t *bytes, int64_t *messages);

/* The row of radix R, whose file has its comment. Up to R / 2 ranks, all send to all with half the radix, too. */
#define PF_BRUCK(R)                                                                                                     \
    static int plan(const struct pf_transpose *t, struct pf_messages *sent, struct pf_messages *received, void **state) \
    {                                                                                                                   \
        return pf_bruck_plan(t, R, sent, received, state);                                                              \
    }                                                                                                                   \
    const struct pf_exchange pf_exchange_bruck##R = {                                                                   \
        .name = "bruck" #R,                                                                                             \
        .plan = plan,                                                                                                   \
        .start = pf_bruck_start,                                                                                        \
        .progress = pf_bruck_progress,                                                                                  \
        .finish = pf_bruck_finish,                                                                                      \
        .destroy = pf_bruck_destroy,                                                                                    \
        .takes = PF_MESSAGES,                                                                                           \
        .least_group = R / 2 + 1,                                                                                       \
        .transposes_alone = true,                                                                                       \
        .beside = true,                                                                                                 \
        .traffic = pf_bruck_traffic,                                                                                    \
    }
