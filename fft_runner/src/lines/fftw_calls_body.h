/* Text of fftw_calls.c, which defines REAL, FFTW(name) and OF(name) before. */

static void *OF(plan_many)(const struct pf_line_shape *s, int n, const fftw_iodim64 *many, void *in, void *out)
{
    fftw_r2r_kind kind[PF_MOST_AXES] = {(fftw_r2r_kind)s->r2r[0], (fftw_r2r_kind)s->r2r[1], (fftw_r2r_kind)s->r2r[2]};
    int sign = s->backward ? FFTW_BACKWARD : FFTW_FORWARD;
    switch (s->kind) {
    case PF_DFT: return FFTW(plan_guru64_dft)(s->rank, s->line, n, many, in, out, sign, s->flags);
    case PF_R2R: return FFTW(plan_guru64_r2r)(s->rank, s->line, n, many, in, out, kind, s->flags);
    case PF_R2C:
        return s->backward ? FFTW(plan_guru64_dft_c2r)(s->rank, s->line, n, many, in, out, s->flags)
                           : FFTW(plan_guru64_dft_r2c)(s->rank, s->line, n, many, in, out, s->flags);
    default: return NULL;
    }
}

static void OF(execute_many)(const struct pf_line_shape *s, void *plan, void *in, void *out)
{
    switch (s->kind) {
    case PF_DFT: FFTW(execute_dft)(plan, in, out); break;
    case PF_R2R: FFTW(execute_r2r)(plan, in, out); break;
    case PF_R2C:
        if (s->backward)
            FFTW(execute_dft_c2r)(plan, in, out);
        else
            FFTW(execute_dft_r2c)(plan, in, out);
        break;
    default: break;
    }
}

static void *OF(plan_lines)(const struct pf_line_shape *s, void *in, void *out)
{
    if (!plans_one_loop())
        return OF(plan_many)(s, PF_MANY, s->many, in, out);
    struct looped *plan = malloc(sizeof *plan);
    if (!plan)
        return NULL;
    join_loops(s, plan->loop);
    if (!(plan->plan = OF(plan_many)(s, 1, plan->loop, in, out))) {
        free(plan);
        return NULL;
    }
    return plan;
}

static void OF(execute_lines)(const struct pf_line_shape *s, void *made, void *in, void *out)
{
    if (!plans_one_loop()) {
        OF(execute_many)(s, made, in, out);
        return;
    }
    const struct looped *plan = made;
    const fftw_iodim64 *a = &plan->loop[1], *b = &plan->loop[2];
    size_t reals = s->kind == PF_R2R || (s->kind == PF_R2C && !s->backward) ? 1 : 2;
    ptrdiff_t in_bytes = (ptrdiff_t)(reals * sizeof(REAL));
    reals = s->kind == PF_R2R || (s->kind == PF_R2C && s->backward) ? 1 : 2;
    ptrdiff_t out_bytes = (ptrdiff_t)(reals * sizeof(REAL));
    for (ptrdiff_t i = 0; i < a->n; i++)
        for (ptrdiff_t j = 0; j < b->n; j++)
            OF(execute_many)
    (s, plan->plan, (char *)in + (i * a->is + j * b->is) * in_bytes, (char *)out + (i * a->os + j * b->os) * out_bytes);
}

static void OF(destroy_lines)(void *made)
{
    if (plans_one_loop()) {
        struct looped *plan = made;
        FFTW(destroy_plan)(plan->plan);
        free(plan);
    } else
        FFTW(destroy_plan)(made);
}

const struct pf_fftw OF(pf_fftw) = {
    .real_bytes = sizeof(REAL),
    .plan = OF(plan_lines),
    .execute = OF(execute_lines),
    .destroy = OF(destroy_lines),
};
