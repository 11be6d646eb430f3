#include "plan/phases.h"

#include <stdio.h>
#include <string.h>

static int add(struct pf_phases *p, pencilfft_kind kind, const char *prefix, const char *of)
{
    p->phase[p->n].kind = kind;
    snprintf(p->phase[p->n].name, PF_PHASE_NAME, "%s%.20s", prefix, of);
    return p->n++;
}

void pf_phases_make(const struct pf_decomposition *d, struct pf_phases *p)
{
    p->n = 0;
    for (int array = 0; array <= d->exchanges; array++) {
        for (const char *axis = d->array[array].axes; *axis; axis++)
            p->fft[*axis - 'x'] = add(p, PENCILFFT_FFT, "fft_", (char[]){*axis, '\0'});
        if (array == d->exchanges)
            break;
        const char *name = d->exchange[array].name;
        p->of[array].pack = add(p, PENCILFFT_PACK, "pack_", name);
        p->of[array].exchange = add(p, PENCILFFT_EXCHANGE, "exchange_", name);
        p->of[array].unpack = add(p, PENCILFFT_UNPACK, "unpack_", name);
    }
    add(p, PENCILFFT_TOTAL, "total", "");
    for (int e = 0; e < d->exchanges; e++)
        p->of[e].wait = add(p, PENCILFFT_WAIT, "wait_", d->exchange[e].name);
    for (int e = 0; e < d->exchanges; e++)
        p->of[e].hidden = add(p, PENCILFFT_HIDDEN, "hidden_", d->exchange[e].name);
}
