/* Text of fftw_double.c and fftw_single.c; they define PF_FFTW(name), PF_REAL and PF_TABLE_NAME before. */

static void *plan_lines(const struct pf_line_shape *s, void *in, void *out)
{
    fftw_r2r_kind kind[PF_MOST_AXES] = {(fftw_r2r_kind)s->r2r[0], (fftw_r2r_kind)s->r2r[1], (fftw_r2r_kind)s->r2r[2]};
    int sign = s->backward ? FFTW_BACKWARD : FFTW_FORWARD;
    switch (s->kind) {
    case PF_DFT: return PF_FFTW(plan_guru64_dft)(s->rank, s->line, PF_MANY, s->many, in, out, sign, s->flags);
    case PF_R2R: return PF_FFTW(plan_guru64_r2r)(s->rank, s->line, PF_MANY, s->many, in, out, kind, s->flags);
    case PF_R2C:
        return s->backward ? PF_FFTW(plan_guru64_dft_c2r)(s->rank, s->line, PF_MANY, s->many, in, out, s->flags)
                           : PF_FFTW(plan_guru64_dft_r2c)(s->rank, s->line, PF_MANY, s->many, in, out, s->flags);
    default: return NULL;
    }
}

static void execute_lines(const struct pf_line_shape *s, void *plan, void *in, void *out)
{
    switch (s->kind) {
    case PF_DFT: PF_FFTW(execute_dft)(plan, in, out); break;
    case PF_R2R: PF_FFTW(execute_r2r)(plan, in, out); break;
    case PF_R2C:
        if (s->backward)
            PF_FFTW(execute_dft_c2r)(plan, in, out);
        else
            PF_FFTW(execute_dft_r2c)(plan, in, out);
        break;
    default: break;
    }
}

static void destroy_lines(void *plan)
{
    PF_FFTW(destroy_plan)(plan);
}

const struct pf_fftw PF_TABLE_NAME = {
    .real_bytes = sizeof(PF_REAL),
    .plan = plan_lines,
    .execute = execute_lines,
    .destroy = destroy_lines,
};
