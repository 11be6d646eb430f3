/* A plan: all data of a transform on one rank. */
#pragma once

#include "handle/chosen.h"
#include "handle/memory.h"
#include "handle/program.h"
#include "handle/request.h"

struct pencilfft_plan_s {
    PF_HANDLE;
    struct pf_plan_request request;
    struct pf_plan_layout layout;
    struct pf_plan_program program;
    struct pf_plan_memory memory;
    struct pf_plan_chosen chosen;
    char *text; /* of pencilfft_plan_text() */
};

static inline bool pf_has_direction(const struct pencilfft_plan_s *plan, int backward)
{
    return plan->request.directions & (backward ? PENCILFFT_BACKWARD : PENCILFFT_FORWARD);
}

/* Whether some lines have more points than modes are kept. */
static inline bool pf_is_padded(const struct pencilfft_plan_s *plan)
{
    const struct pf_transform *t = &plan->layout.transform;
    return t->points[0] > t->n[0] || t->points[1] > t->n[1] || t->points[2] > t->n[2];
}

/* Whether numbers are sent in a lower precision than that of the arrays. */
static inline bool pf_rounds(const struct pencilfft_plan_s *plan)
{
    return plan->layout.sent_bytes < plan->layout.element_bytes;
}

/* The place in the caller's memory of a part whose box is dense. */
static inline void pf_part_lay(const struct pencilfft_plan_s *plan, pencilfft_part *part)
{
    part->field_stride = plan->request.interleaved ? 1 : pf_box_elements(&part->box);
    for (int axis = 0; axis < 3 && plan->request.interleaved; axis++)
        part->box.stride[axis] *= part->fields;
}

/* Interleaved fields are one field of an array whose nearest axis is so many times longer. */
static inline pencilfft_box pf_box_widened(const struct pencilfft_plan_s *plan, int array, pencilfft_box box)
{
    int near = pf_nearest_axis(&plan->layout.geometry, array);
    if (plan->request.interleaved) {
        box.offset[near] *= plan->request.fields;
        box.extent[near] *= plan->request.fields;
        pf_box_lay(&plan->layout.geometry, array, &box);
    }
    return box;
}

static inline bool pf_is_exchange(const struct pencilfft_plan_s *plan, int e)
{
    return plan && e >= 0 && e < plan->layout.exchanges;
}

/* Whether the plan has remap number e. */
static inline bool pf_is_remap(const struct pencilfft_plan_s *plan, int e)
{
    return plan && (e == PENCILFFT_REMAP_IN || e == PENCILFFT_REMAP_OUT) && plan->layout.end[e - PENCILFFT_REMAP_IN].remap;
}

/* Grid rank of member j of my group. */
static inline int pf_member(const struct pencilfft_plan_s *plan, int e, int j)
{
    return pf_grid_member(&plan->layout.geometry, plan->layout.geometry.decomposition->exchange[e].over, plan->rank, j);
}

/* Whether a forward transform may run beside a backward transform. */
static inline bool pf_runs_pairs(const struct pencilfft_plan_s *plan)
{
    return plan->chosen.beside && plan->chosen.choice.schedule->runs_pairs && !plan->layout.end[0].remapped &&
           !plan->layout.end[1].remapped && pf_has_direction(plan, 0) && pf_has_direction(plan, 1);
}

/* A rank's input of a forward transform: the first array, of real numbers if the transform makes complex numbers. */
static inline pencilfft_box pf_input_box(const struct pencilfft_plan_s *plan, int rank)
{
    return pf_array_box(&plan->layout.geometry, PF_BEFORE, rank);
}
