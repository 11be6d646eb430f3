/* Half of the planes along z take the other route.
 * Idea:  after the z transform the planes are independent. The lower planes go row exchange, y, column exchange, x, the
 *        upper planes column exchange, x, row exchange, y. So in each step half of the rows' and half of the columns' data
 *        travel at once, without the ramp of chunks. The lower planes end in X pencils, the upper planes in Y pencils.
 * Cost:  t_joint, if the ranks of a row divide the number of lower planes and the ranks of a column the number of upper
 *        planes; else the largest share counts. Two messages to each member. Needs: two exchanges, and two planes. */
#include <string.h>

#include "pencilfft.h"
#include "schedule/schedule.h"

static int read_text(const char *text, const char *after, struct pf_choice *choice)
{
    choice->lower = pf_number_read(after, strlen(after), INT64_MAX / 16);
    return choice->lower
               ? PENCILFFT_OK
               : pf_fail(PENCILFFT_UNKNOWN_NAME,
                         "schedule '%.100s': after two-way comes the number of lower planes along z, at least 1, as "
                         "in two-way:16",
                         text);
}

/* Planes in all, if each rank had as many as the rank with most planes. */
static int64_t full(int64_t planes, int64_t ranks)
{
    return (planes + ranks - 1) / ranks * ranks;
}

/* The number of lower planes with the least maximum of both full numbers, then the least sum, then the least number. */
static int64_t by_rule(const struct pf_shape *shape)
{
    int64_t best = 1, best_most = INT64_MAX, best_sum = INT64_MAX;
    for (int64_t lower = 1; lower < shape->nz; lower++) {
        int64_t a = full(lower, shape->over[0]), b = full(shape->nz - lower, shape->over[1]), most = a > b ? a : b;
        if (most < best_most || (most == best_most && a + b < best_sum)) {
            best = lower;
            best_most = most;
            best_sum = a + b;
        }
    }
    return best;
}

static int settle(const struct pf_shape *shape, struct pf_choice *choice)
{
    int status = pf_two_routes_settle(shape, choice);
    if (status)
        return status;
    if (shape->nz < 2)
        return pf_fail(
            PENCILFFT_NOT_POSSIBLE,
            "schedule two-way: there is one plane along %c, which cannot be divided; use schedule sequence or overlap",
            choice->letter[1]);
    if (choice->lower >= shape->nz)
        return pf_fail(PENCILFFT_NOT_POSSIBLE,
                       "schedule two-way:%lld: there are %lld planes along %c to be divided; give 1 to %lld lower ones",
                       (long long)choice->lower, (long long)shape->nz, choice->letter[1], (long long)shape->nz - 1);
    if (!choice->lower)
        choice->lower = by_rule(shape);
    return PENCILFFT_OK;
}

static void divide(const struct pf_shape *shape, const struct pf_choice *choice, struct pf_share share[PF_MAX_ROUTES])
{
    share[0] = (struct pf_share){0, choice->lower, 0, shape->fields};
    share[1] = (struct pf_share){choice->lower, shape->nz, 0, shape->fields};
}

const struct pf_schedule pf_schedule_two_way = {
    .name = "two-way",
    .takes = "[:L]",
    .beside = true,
    .read = read_text,
    .settle = settle,
    .order = pf_order_stages,
    .divide = divide,
};
