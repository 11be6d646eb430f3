/* Adding a part of an array to a part of another.
 * Idea:  the axis with the smallest stride in the target runs innermost; a complex number is two real numbers.
 * Cost:  two reads and one write of the part. Needs: parts that do not overlap. */
#include "geometry/strided_copy.h"

/* Axes with their strides in real numbers, the innermost last. */
struct loops {
    int64_t extent[3], from[3], to[3];
};

static struct loops loops_of(const struct pf_copy *c, int reals)
{
    int order[3] = {0, 1, 2};
    for (int i = 0; i < 2; i++)
        for (int j = 0; j < 2 - i; j++)
            if (c->to_stride[order[j]] < c->to_stride[order[j + 1]]) {
                int axis = order[j];
                order[j] = order[j + 1];
                order[j + 1] = axis;
            }
    struct loops loops;
    for (int i = 0; i < 3; i++) {
        loops.extent[i] = c->extent[order[i]];
        loops.from[i] = c->from_stride[order[i]] * reals;
        loops.to[i] = c->to_stride[order[i]] * reals;
    }
    return loops;
}

#define ADDS(name, real)                                                                   \
    static void name(const struct loops *l, int reals, const real *from, real *to)         \
    {                                                                                      \
        for (int64_t i = 0; i < l->extent[0]; i++)                                         \
            for (int64_t j = 0; j < l->extent[1]; j++)                                     \
                for (int64_t k = 0; k < l->extent[2]; k++)                                 \
                    for (int part = 0; part < reals; part++)                               \
                        to[i * l->to[0] + j * l->to[1] + k * l->to[2] + part] +=           \
                            from[i * l->from[0] + j * l->from[1] + k * l->from[2] + part]; \
    }
ADDS(add_singles, float)
ADDS(add_doubles, double)

void pf_sum_run(const struct pf_copy *c, size_t real_bytes, int reals, const void *from, void *to)
{
    struct loops loops = loops_of(c, reals);
    for (int field = 0; field < c->fields; field++) {
        int64_t source = (c->from_start + field * c->from_field) * reals,
                target = (c->to_start + field * c->to_field) * reals;
        if (real_bytes == sizeof(float))
            add_singles(&loops, reals, (const float *)from + source, (float *)to + target);
        else
            add_doubles(&loops, reals, (const double *)from + source, (double *)to + target);
    }
}
