/* Halos of the arrays of a plan: the rules for halos, and the calls. exchange/neighbours.c moves the data.
 * Idea:  a halo takes the boxes of all ranks from the plan when it is made, and does not need the plan after that.
 * Cost:  making a halo: the boxes of all ranks, and two small all-reduces. */
#include <stdlib.h>
#include <string.h>

#include "exchange/neighbours.h"
#include "plan/plan.h"

struct pencilfft_halo_s {
    struct pf_neighbours *neighbours;
    int rank, fields;
    const struct pf_axes *axes; /* of the caller */
    int interleaved, nearest; /* fields, as part of this axis of the box; 1 otherwise */
    int checks_calls;
    int ranks;
    size_t bytes, padded_bytes; /* of all fields on this rank */
    int64_t *lengths; /* both, of all ranks */
};
enum { OF_ARRAY, OF_PADDED, LENGTHS };

/* ---- the request ----------------------------------------------------------------------------------------------------- */

/* The spectrum of real numbers holds half of the modes, and the modes beyond are no copies of the modes at the other end. */
static bool is_halved(const struct pencilfft_plan_s *plan, int array)
{
    return array != PENCILFFT_INPUT && array != PENCILFFT_INNER_INPUT &&
           plan->layout.transform.modes[2] != plan->layout.transform.n[2];
}

/* The halo ends at the walls. */
static bool has_walls(const char *walls, int axis)
{
    return walls && strchr(walls, 'x' + axis);
}

static int check_walls(const struct pencilfft_plan_s *plan, const char *walls)
{
    const char *letters = plan->layout.geometry.axes && plan->layout.geometry.axes->dimensions == 2 ? "xy" : "xyz";
    for (const char *at = walls ? walls : ""; *at; at++)
        if (!strchr(letters, *at) || strchr(at + 1, *at))
            return pf_fail(PENCILFFT_UNKNOWN_NAME,
                           "walls '%.60s' of a halo are not understood; give letters of %s, each once", walls, letters);
    return PENCILFFT_OK;
}

static int check_width(const struct pencilfft_plan_s *plan, int array, int axis, int64_t n, int64_t width, const char *side,
                       const char *walls)
{
    int inside = pf_axis_inside(plan->layout.geometry.axes, axis);
    if (width < 0 || width > n)
        return pf_fail(PENCILFFT_BAD_SIZE, "a halo of %lld planes %s along %c, where the array has %lld; give 0 to %lld",
                       (long long)width, side, 'x' + axis, (long long)n, (long long)n);
    if (width && inside == 2 && is_halved(plan, array) && !has_walls(walls, axis))
        return pf_fail(
            PENCILFFT_NOT_POSSIBLE,
            "a halo of %lld planes %s along %c of a spectrum of real numbers, which has %lld of %lld modes and is not "
            "periodic there; give 0 along %c, or walls",
            (long long)width, side, 'x' + axis, (long long)n, (long long)plan->layout.transform.n[2], 'x' + axis);
    return PENCILFFT_OK;
}

static int check_request(pencilfft_plan plan, int array, const int64_t low[3], const int64_t high[3], const char *walls,
                         pencilfft_format *format)
{
    int parts, status = pencilfft_parts(plan, array, &parts);
    if (status || !low || !high)
        return pf_fail(PENCILFFT_BAD_CALL,
                       "pencilfft_halo_create: null widths, or no array %d; the plan has 0 to %d, and "
                       "PENCILFFT_INPUT and the like",
                       array, plan->layout.exchanges);
    if (parts > 1)
        return pf_fail(PENCILFFT_NOT_POSSIBLE,
                       "under schedule %.200s array %d has %d parts, which have no halo; choose another array or schedule",
                       plan->chosen.schedule, array, parts);
    status = pencilfft_format_of(plan, array, format);
    if (!status)
        status = check_walls(plan, walls);
    for (int axis = 0; axis < 3 && !status; axis++) {
        status = check_width(plan, array, axis, format->n[axis], low[axis], "below", walls);
        if (!status)
            status = check_width(plan, array, axis, format->n[axis], high[axis], "above", walls);
    }
    return status;
}

static int same_everywhere(pencilfft_plan plan, int array, const int64_t low[3], const int64_t high[3], const char *walls)
{
    const struct pf_argument arguments[] = {
        PF_ARGUMENT_NUMBER("array", array),
        PF_ARGUMENT_NUMBER("low[0]", low[0]),
        PF_ARGUMENT_NUMBER("low[1]", low[1]),
        PF_ARGUMENT_NUMBER("low[2]", low[2]),
        PF_ARGUMENT_NUMBER("high[0]", high[0]),
        PF_ARGUMENT_NUMBER("high[1]", high[1]),
        PF_ARGUMENT_NUMBER("high[2]", high[2]),
        PF_ARGUMENT_NUMBER("walls along x", has_walls(walls, 0)),
        PF_ARGUMENT_NUMBER("walls along y", has_walls(walls, 1)),
        PF_ARGUMENT_NUMBER("walls along z", has_walls(walls, 2)),
    };
    return pf_same_arguments("the arguments of pencilfft_halo_create", (int)(sizeof arguments / sizeof arguments[0]),
                             arguments, plan->all);
}

/* ---- making ---------------------------------------------------------------------------------------------------------- */

static pencilfft_box widened(const struct pencilfft_plan_s *plan, int array, pencilfft_box box)
{
    return pf_box_widened(plan, pf_array_number(pf_array_of(plan, array)), box);
}

/* With the axes of the library, like all of a request. */
static int gather_boxes(pencilfft_plan plan, int array, pencilfft_box *boxes)
{
    int status = boxes ? PENCILFFT_OK : pf_fail(PENCILFFT_NO_MEMORY, "no memory for the boxes of %d ranks", plan->ranks);
    for (int rank = 0; rank < plan->ranks && !status; rank++)
        if (!(status = pencilfft_box_of(plan, array, rank, &boxes[rank])))
            boxes[rank] = widened(plan, array, pf_box_inside(plan->layout.geometry.axes, &boxes[rank]));
    return status;
}

static int make(pencilfft_plan plan, int array, const int64_t low[3], const int64_t high[3], const char *walls,
                const pencilfft_format *format, struct pencilfft_halo_s *halo)
{
    int64_t period[3]; /* with walls beyond the reach of any halo */
    for (int axis = 0; axis < 3; axis++)
        period[axis] = format->n[axis] + (has_walls(walls, axis) ? low[axis] + high[axis] : 0);
    pencilfft_box *boxes = calloc((size_t)plan->ranks, sizeof *boxes);
    int status = pf_agree(gather_boxes(plan, array, boxes), plan->all);
    if (!status) {
        struct pf_neighbours_request request = {
            .communicators = plan->communicators,
            .ranks = plan->ranks,
            .me = plan->rank,
            .geometry = &plan->layout.geometry,
            .array = pf_array_number(pf_array_of(plan, array)),
            .boxes = boxes,
            .fields = plan->request.interleaved ? 1 : format->fields,
            .threads = plan->request.threads,
            .element_bytes = format->element_bytes,
            .real_bytes = format->real_bytes,
        };
        pf_numbers_inside(plan->layout.geometry.axes, period, request.n);
        pf_numbers_inside(plan->layout.geometry.axes, low, request.low);
        pf_numbers_inside(plan->layout.geometry.axes, high, request.high);
        halo->interleaved = plan->request.interleaved ? format->fields : 1;
        halo->nearest = pf_nearest_axis(&plan->layout.geometry, request.array);
        request.n[halo->nearest] *= halo->interleaved;
        request.low[halo->nearest] *= halo->interleaved;
        request.high[halo->nearest] *= halo->interleaved;
        status = pf_neighbours_make(&request, &halo->neighbours);
        int64_t bytes = (int64_t)request.fields * (int64_t)format->element_bytes;
        for (int rank = 0; rank < plan->ranks; rank++) {
            pencilfft_box wide = pf_halo_box(&boxes[rank], request.low, request.high);
            halo->lengths[LENGTHS * rank + OF_ARRAY] = pf_box_elements(&boxes[rank]) * bytes;
            halo->lengths[LENGTHS * rank + OF_PADDED] = pf_box_elements(&wide) * bytes;
        }
        halo->bytes = (size_t)halo->lengths[LENGTHS * plan->rank + OF_ARRAY];
        halo->padded_bytes = (size_t)halo->lengths[LENGTHS * plan->rank + OF_PADDED];
    }
    free(boxes);
    return status;
}

int pf_halo_create(pencilfft_plan plan, int given, int array, const int64_t low[3], const int64_t high[3], const char *walls,
                   pencilfft_halo *halo)
{
    pencilfft_format format;
    struct pencilfft_halo_s *made = NULL;
    if (halo)
        *halo = NULL;
    if (!plan)
        return pf_fail(PENCILFFT_BAD_CALL, "pencilfft_halo_create: null plan");
    int status = pf_usable(plan->all, "pencilfft_halo_create");
    if (!status)
        status = pf_same_directed_call(plan->all, plan->rank, plan->checks_calls, status, "pencilfft_halo_create", 0, array,
                                       false);
    if (status)
        return status;
    if (!(status = given))
        status = halo ? check_request(plan, array, low, high, walls, &format)
                      : pf_fail(PENCILFFT_BAD_CALL, "pencilfft_halo_create: null result");
    if (!status && (made = calloc(1, sizeof *made)))
        made->lengths = calloc(LENGTHS * (size_t)plan->ranks, sizeof *made->lengths);
    if (!status && (!made || !made->lengths))
        status = pf_fail(PENCILFFT_NO_MEMORY, "no memory for a halo");
    if (!(status = pf_agree(status, plan->all)))
        status = same_everywhere(plan, array, low, high, walls);
    if (!status) {
        made->rank = plan->rank;
        made->ranks = plan->ranks;
        made->fields = plan->request.fields;
        made->axes = plan->layout.geometry.axes;
        made->checks_calls = plan->checks_calls;
        status = make(plan, array, low, high, walls, &format, made);
    }
    if (status && made)
        free(made->lengths);
    if (status)
        free(made);
    else
        *halo = made;
    return status;
}

int pencilfft_halo_create(pencilfft_plan plan, int array, const int64_t low[3], const int64_t high[3], pencilfft_halo *halo)
{
    return pf_halo_create(plan, PENCILFFT_OK, array, low, high, NULL, halo);
}

int pencilfft_halo_create_walls(pencilfft_plan plan, int array, const int64_t low[3], const int64_t high[3],
                                const char *walls, pencilfft_halo *halo)
{
    return pf_halo_create(plan, PENCILFFT_OK, array, low, high, walls, halo);
}

MPI_Comm pf_halo_comm(pencilfft_halo halo)
{
    return pf_neighbours_comm(halo->neighbours);
}

int pencilfft_halo_destroy(pencilfft_halo halo)
{
    if (!halo)
        return PENCILFFT_OK;
    MPI_Comm comm = pf_neighbours_comm(halo->neighbours);
    int status = pf_usable(comm, "pencilfft_halo_destroy");
    if (!status)
        status = pf_same_call_in(comm, halo->rank, halo->checks_calls, status, "pencilfft_halo_destroy");
    if (status)
        return status;
    status = pf_neighbours_release(halo->neighbours);
    free(halo->lengths);
    free(halo);
    return status;
}

/* ---- calls ------------------------------------------------------------------------------------------------------------ */

static int64_t length_on(const void *halo, int array, int rank)
{
    return ((const struct pencilfft_halo_s *)halo)->lengths[LENGTHS * rank + array];
}

static int check_lengths(pencilfft_halo halo, const void *padded, const void *array, const char *function)
{
    MPI_Comm comm = pf_neighbours_comm(halo->neighbours);
    struct pf_wanted wide = {function, "padded", padded, length_on, halo, OF_PADDED, OF_PADDED, NULL};
    struct pf_wanted own = {function, "array", array, length_on, halo, OF_ARRAY, OF_ARRAY, NULL};
    int status = padded ? pf_given_check(&wide, comm, halo->rank, halo->ranks) : PENCILFFT_OK;
    return status || !array ? status : pf_given_check(&own, comm, halo->rank, halo->ranks);
}

static int check_call(pencilfft_halo halo, const void *padded, const void *array, const char *function)
{
    int status = PENCILFFT_OK;
    if (!halo)
        return pf_fail(PENCILFFT_BAD_CALL, "%s: null halo", function);
    if ((status = pf_usable(pf_neighbours_comm(halo->neighbours), function)))
        return status;
    uintptr_t one = (uintptr_t)padded, other = (uintptr_t)array;
    if (!padded && halo->padded_bytes)
        status = pf_fail(PENCILFFT_BAD_CALL, "%s: null array with halo", function);
    else if (!(status = check_lengths(halo, padded, array, function)) && array && one < other + halo->bytes &&
             other < one + halo->padded_bytes) /* a short buffer may reach into the other */
        status =
            pf_fail(PENCILFFT_BAD_CALL,
                    "%s: the array and the one with halo overlap; give two buffers, or NULL for the array where it lies "
                    "inside the other",
                    function);
    return pf_same_call_in(pf_neighbours_comm(halo->neighbours), halo->rank, halo->checks_calls, status, function);
}

int pencilfft_halo_exchange(pencilfft_halo halo, const void *array, void *padded)
{
    int status = check_call(halo, padded, array, "pencilfft_halo_exchange");
    return status ? status : pf_neighbours_fill(halo->neighbours, array, padded);
}

int pencilfft_halo_accumulate(pencilfft_halo halo, void *padded, void *array)
{
    int status = check_call(halo, padded, array, "pencilfft_halo_accumulate");
    return status ? status : pf_neighbours_add(halo->neighbours, padded, array);
}

int pencilfft_halo_part(pencilfft_halo halo, pencilfft_part *part)
{
    if (!halo || !part)
        return pf_fail(PENCILFFT_BAD_CALL, "pencilfft_halo_part: null halo or result");
    pencilfft_box box = *pf_neighbours_box(halo->neighbours);
    int64_t elements = pf_box_elements(&box);
    box.offset[halo->nearest] /= halo->interleaved;
    box.extent[halo->nearest] /= halo->interleaved;
    box.stride[halo->nearest] *= halo->interleaved;
    *part = (pencilfft_part){.box = pf_box_outside(halo->axes, &box),
                             .fields = halo->fields,
                             .field_stride = halo->interleaved > 1 ? 1 : elements};
    return PENCILFFT_OK;
}

int pencilfft_halo_traffic(pencilfft_halo halo, pencilfft_direction direction, int64_t *bytes, int64_t *messages)
{
    if (!halo || (direction != PENCILFFT_FORWARD && direction != PENCILFFT_BACKWARD))
        return pf_fail(PENCILFFT_BAD_CALL,
                       "pencilfft_halo_traffic: null halo, or a direction that is neither PENCILFFT_FORWARD "
                       "(exchange) nor PENCILFFT_BACKWARD (accumulate)");
    pf_neighbours_sent(halo->neighbours, direction == PENCILFFT_BACKWARD, bytes, messages);
    return PENCILFFT_OK;
}
