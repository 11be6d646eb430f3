/* The order of the axes of a plan, restated: the first letter is z of order "zyx", the second y, the last x. */
#pragma once

#include <stdbool.h>

#include "pencilfft.h"

/* Memory of the texts of a descriptor. */
struct plan_texts {
    char schedule[96], kinds[16], skip[8];
};

bool plan_is_flat(const pencilfft_desc *desc);
/* The caller's axis that takes the place of x, y or z. */
int plan_axis_outside(const pencilfft_desc *desc, int inside);
/* The same plan in order zyx: with two dimensions nx is 1 and skipped. */
pencilfft_desc plan_inside(const pencilfft_desc *desc, struct plan_texts *texts);
/* Turns a plan of order zyx: its axes get the names that they have in this order. */
void plan_turn(pencilfft_desc *desc, const char *order, struct plan_texts *texts);
