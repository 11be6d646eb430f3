/* Plans at random, of all members of a descriptor; and the same as words, from which a plan can be read again. */
#pragma once

#include <stdint.h>

#include "plan_check.h"
#include "plan_refusals.h"

enum { PLAN_TEXT_SIZE = 96, TORUS_DIMENSIONS = 2 };

struct drawn_plan {
    struct plan_case plan; /* its name is the words */
    char decomposition[PLAN_TEXT_SIZE], schedule[PLAN_TEXT_SIZE], type[24], kinds[16], skip[4], torus[32],
        node[32]; /* memory of the descriptor's texts */
    uint64_t boxes; /* a seed of input and output boxes; 0: none */
    pencilfft_box box[2];
};

/* A name of a table, by chance; a new name in the table changes only the draws of this name. */
const char *plan_draw_name(uint64_t chance, const char *(*name)(int i));
/* Plan `number` of a seed for so many ranks and this MPI; on all ranks alike, but for the node. */
void plan_draw(uint64_t seed, int64_t number, const struct plan_check *check, struct drawn_plan *drawn);
/* From words "member=value"; other members stay unchanged. False at an unknown word. */
bool plan_from_words(char **words, const struct plan_check *check, struct drawn_plan *drawn);
