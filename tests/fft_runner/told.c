#include "told.h"

#include <stdlib.h>
#include <string.h>

#include "check_mpi.h"
#include "recorded_calls.h"
#include "values.h"

enum { SEED = 2026, ALIGNMENT = 64 };

struct plan_check told_check;
FILE *told;

void told_draw(int64_t number, struct drawn_plan *drawn)
{
    plan_draw(SEED, number, &told_check, drawn);
    pencilfft_desc *d = &drawn->plan.desc;
    d->rigor = "estimate";
    if (!strcmp(d->exchange, "auto") || !strcmp(d->exchange, "fftw")) /* FFTW tries its transposes, too */
        d->exchange = "p2p";
    if (d->schedule && !strcmp(d->schedule, "auto"))
        d->schedule = "sequence";
    if (told_chance(number, 0, 3) == 0)
        d->R = d->C = 0;
}

int64_t told_chance(int64_t number, int64_t which, int64_t n)
{
    return (int64_t)(value_hash(value_hash((uint64_t)number) + (uint64_t)which) % (uint64_t)n);
}

void *told_array(int64_t bytes)
{
    void *array = NULL;
    size_t size = (size_t)bytes + ALIGNMENT;
    CHECK_MPI(posix_memalign(&array, ALIGNMENT, size) ? MPI_ERR_NO_MEM : MPI_SUCCESS);
    return memset(array, 0, size);
}

void tell_status(const char *what, int status)
{
    fprintf(told, "%s: status %d %s\n", what, status, status ? pencilfft_error_message() : "");
    recorded_calls_tell(what);
}

void tell_part(const pencilfft_part *part)
{
    fprintf(told, "part at %lld, fields %d+%d by %lld:", (long long)part->start, part->first_field, part->fields,
            (long long)part->field_stride);
    for (int axis = 0; axis < 3; axis++)
        fprintf(told, " %lld+%lld by %lld", (long long)part->box.offset[axis], (long long)part->box.extent[axis],
                (long long)part->box.stride[axis]);
    fputc('\n', told);
}

void tell_indices(const int64_t *index, int64_t n)
{
    fputs("points", told);
    for (int64_t i = 0; i < n; i++)
        fprintf(told, " %lld", (long long)index[i]);
    fputc('\n', told);
}

void tell_traffic(pencilfft_direction direction, int status, const int64_t *bytes, const int64_t *messages)
{
    fprintf(told, "sends %s, %d:", direction == PENCILFFT_BACKWARD ? "backward" : "forward", status);
    for (int j = 0; j < told_check.ranks && !status; j++)
        fprintf(told, " %lld/%lld", (long long)bytes[j], (long long)messages[j]);
    fputc('\n', told);
}
