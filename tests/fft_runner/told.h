/* Texts of plans for known_plans_test.c, in lines. */
#pragma once

#include <stdint.h>
#include <stdio.h>

#include "pencilfft.h"
#include "plan_check.h"
#include "plan_draw.h"

enum { TOLD_RANKS = 64 };

extern struct plan_check told_check; /* the communicator of the plans */
extern FILE *told;

/* A transform, a halo, lines or bricks of lines, drawn by their number. */
void tell_transform(int64_t number);
void tell_halo(int64_t number);
void tell_line(int64_t number);
void tell_brick_lines(int64_t number);

/* A transform without any decision by the clock. */
void told_draw(int64_t number, struct drawn_plan *drawn);
/* 0 to n - 1. */
int64_t told_chance(int64_t number, int64_t which, int64_t n);
/* Zeros; freed by free(). */
void *told_array(int64_t bytes);

void tell_status(const char *what, int status);
void tell_part(const pencilfft_part *part);
void tell_indices(const int64_t *index, int64_t n);
void tell_traffic(pencilfft_direction direction, int status, const int64_t *bytes, const int64_t *messages);
