#include "handle/program.h"

#include <stdio.h>
#include <string.h>

static int add(struct pf_phases *p, pencilfft_kind kind, const char *prefix, const char *of)
{
    p->phase[p->n].kind = kind;
    snprintf(p->phase[p->n].name, PF_PHASE_NAME, "%s%.20s", prefix, of);
    return p->n++;
}

const char *const pf_remap_names[2] = {"remap_in", "remap_out"};

static void add_exchange(struct pf_phases *p, const char *name, struct pf_exchange_phases *of)
{
    of->pack = add(p, PENCILFFT_PACK, "pack_", name);
    of->exchange = add(p, PENCILFFT_EXCHANGE, "exchange_", name);
    of->unpack = add(p, PENCILFFT_UNPACK, "unpack_", name);
}

static int add_lines(struct pf_phases *p, const struct pf_axes *axes, int axis)
{
    bool none = axes && axes->dimensions == 2 && axis == 0;
    return none ? p->fft[2] : add(p, PENCILFFT_FFT, "fft_", (char[]){pf_axis_letter(axes, axis), '\0'});
}

void pf_phases_make(const struct pf_decomposition *d, const struct pf_axes *axes, const bool remapped[2],
                    struct pf_phases *p)
{
    p->n = 0;
    if (remapped[0])
        add_exchange(p, pf_remap_names[0], &p->remap[0]);
    for (int array = 0; array <= d->exchanges; array++) {
        for (const char *axis = d->array[array].axes; *axis; axis++)
            p->fft[*axis - 'x'] = add_lines(p, axes, *axis - 'x');
        if (array == d->exchanges)
            break;
        add_exchange(p, d->exchange[array].name, &p->of[array]);
    }
    if (remapped[1])
        add_exchange(p, pf_remap_names[1], &p->remap[1]);
    add(p, PENCILFFT_TOTAL, "total", "");
    for (int end = 0; end < 2; end++)
        if (remapped[end])
            p->remap[end].wait = add(p, PENCILFFT_WAIT, "wait_", pf_remap_names[end]);
    for (int e = 0; e < d->exchanges; e++)
        p->of[e].wait = add(p, PENCILFFT_WAIT, "wait_", d->exchange[e].name);
    for (int e = 0; e < d->exchanges; e++)
        p->of[e].hidden = add(p, PENCILFFT_HIDDEN, "hidden_", d->exchange[e].name);
}
