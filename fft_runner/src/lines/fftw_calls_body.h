/* Text of fftw_calls.c, which defines REAL, FFTW(name) and OF(name) before. */

static void *OF(plan_lines)(const struct pf_line_shape *s, void *in, void *out)
{
    fftw_r2r_kind kind[PF_MOST_AXES] = {(fftw_r2r_kind)s->r2r[0], (fftw_r2r_kind)s->r2r[1], (fftw_r2r_kind)s->r2r[2]};
    int sign = s->backward ? FFTW_BACKWARD : FFTW_FORWARD;
    switch (s->kind) {
    case PF_DFT: return FFTW(plan_guru64_dft)(s->rank, s->line, PF_MANY, s->many, in, out, sign, s->flags);
    case PF_R2R: return FFTW(plan_guru64_r2r)(s->rank, s->line, PF_MANY, s->many, in, out, kind, s->flags);
    case PF_R2C:
        return s->backward ? FFTW(plan_guru64_dft_c2r)(s->rank, s->line, PF_MANY, s->many, in, out, s->flags)
                           : FFTW(plan_guru64_dft_r2c)(s->rank, s->line, PF_MANY, s->many, in, out, s->flags);
    default: return NULL;
    }
}

static void OF(execute_lines)(const struct pf_line_shape *s, void *plan, void *in, void *out)
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

static void OF(destroy_lines)(void *plan)
{
    FFTW(destroy_plan)(plan);
}

const struct pf_fftw OF(pf_fftw) = {
    .real_bytes = sizeof(REAL),
    .plan = OF(plan_lines),
    .execute = OF(execute_lines),
    .destroy = OF(destroy_lines),
};
