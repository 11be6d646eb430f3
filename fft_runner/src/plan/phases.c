#include "plan/phases.h"

#include <stdio.h>
#include <string.h>

#include "common/failure.h"
#include "plan/plan.h"

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
}

int pencilfft_phases(pencilfft_plan plan, int *n)
{
    if (!plan || !n)
        return pf_fail(PENCILFFT_BAD_CALL, "pencilfft_phases: null plan or result");
    *n = plan->phases.n;
    return PENCILFFT_OK;
}

static int is_phase(pencilfft_plan plan, int phase)
{
    return plan && phase >= 0 && phase < plan->phases.n;
}

const char *pencilfft_phase_name(pencilfft_plan plan, int phase)
{
    return is_phase(plan, phase) ? plan->phases.phase[phase].name : NULL;
}

int pencilfft_phase_kind(pencilfft_plan plan, int phase)
{
    return is_phase(plan, phase) ? (int)plan->phases.phase[phase].kind : -1;
}

int pencilfft_phase_seconds(pencilfft_plan plan, double *seconds)
{
    if (!plan || !seconds)
        return pf_fail(PENCILFFT_BAD_CALL, "pencilfft_phase_seconds: null plan or result");
    for (int i = 0; i < plan->phases.n; i++)
        seconds[i] = plan->phases.phase[i].kind == PENCILFFT_TOTAL ? plan->clock.total : plan->clock.seconds[i];
    return PENCILFFT_OK;
}
