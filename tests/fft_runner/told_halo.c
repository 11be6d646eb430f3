/* A halo of up to three planes on either side, and its traffic. */
#include <stdlib.h>

#include "check_mpi.h"
#include "told.h"

static void tell_exchanges(pencilfft_plan plan, pencilfft_halo halo, int array)
{
    int64_t bytes[TOLD_RANKS], messages[TOLD_RANKS], held_bytes = 0;
    pencilfft_part part;
    pencilfft_format format;
    int status = pencilfft_halo_part(halo, &part) || pencilfft_format_of(plan, array, &format) ||
                 pencilfft_alloc_bytes(plan, &held_bytes);
    if (status)
        abort_with_message();
    tell_part(&part);
    for (int direction = PENCILFFT_FORWARD; direction <= PENCILFFT_BACKWARD; direction++)
        tell_traffic(direction, pencilfft_halo_traffic(halo, direction, bytes, messages), bytes, messages);
    int64_t points = part.box.extent[0] * part.box.extent[1] * part.box.extent[2];
    void *held = told_array(held_bytes), *padded = told_array(points * part.fields * (int64_t)format.element_bytes);
    tell_status("halo exchanged", pencilfft_halo_exchange(halo, held, padded));
    tell_status("halo exchanged inside", pencilfft_halo_exchange(halo, NULL, padded));
    tell_status("halo accumulated", pencilfft_halo_accumulate(halo, padded, held));
    tell_status("halo accumulated inside", pencilfft_halo_accumulate(halo, padded, NULL));
    free(held);
    free(padded);
}

void tell_halo(int64_t number)
{
    struct drawn_plan drawn;
    pencilfft_plan plan;
    pencilfft_halo halo = NULL;
    int64_t low[3], high[3];
    int array = told_chance(number, 1, 2) ? PENCILFFT_OUTPUT : PENCILFFT_INPUT;
    told_draw(number, &drawn);
    for (int axis = 0; axis < 3; axis++) {
        low[axis] = told_chance(number, 2 + axis, 4);
        high[axis] = told_chance(number, 5 + axis, 4);
    }
    fprintf(told, "%s\nhalo of array %d: %lld+%lld %lld+%lld %lld+%lld\n", drawn.plan.name, array, (long long)low[0],
            (long long)high[0], (long long)low[1], (long long)high[1], (long long)low[2], (long long)high[2]);
    int status = pencilfft_plan_create(&drawn.plan.desc, told_check.grid, &plan);
    tell_status("planned", status);
    if (!status) {
        status = pencilfft_halo_create(plan, array, low, high, &halo);
        tell_status("halo made", status);
    }
    if (!status)
        tell_exchanges(plan, halo, array);
    if (pencilfft_halo_destroy(halo) || pencilfft_plan_destroy(plan))
        abort_with_message();
}
