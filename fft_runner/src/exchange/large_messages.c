/* Data types as long as a message.
 * Idea:  n elements are rows of the largest count, rows of such rows, and so on, with the remaining elements behind.
 * Source: J. R. Hammond, A. Schaefer, R. Latham, To INT_MAX... and beyond! Exploring large-count support in MPI, 2014
 *         (BigMPI). */
#include "exchange/message_counts.h"

#include <limits.h>

static int release(MPI_Datatype *type)
{
    if (*type != MPI_DATATYPE_NULL)
        PF_MPI(MPI_Type_free(type));
    *type = MPI_DATATYPE_NULL;
    return PENCILFFT_OK;
}

/* MPI's constructors of types take ints. */
static int64_t longest_row(void)
{
    return pf_count_limit < INT_MAX ? pf_count_limit : INT_MAX;
}

static int row_of(int64_t n, int64_t stride, MPI_Datatype inner, MPI_Datatype *row)
{
    MPI_Aint low, extent;
    PF_MPI(MPI_Type_get_extent(inner, &low, &extent));
    if (extent == stride)
        PF_MPI(MPI_Type_contiguous((int)n, inner, row));
    else
        PF_MPI(MPI_Type_create_hvector((int)n, 1, (MPI_Aint)stride, inner, row));
    return PENCILFFT_OK;
}

static int rows_of(int64_t n, int64_t stride, MPI_Datatype inner, MPI_Datatype *body)
{
    int status = row_of(longest_row(), stride, inner, body);
    return status ? status : pf_type_repeat(n / longest_row(), longest_row() * stride, body);
}

static int join(MPI_Datatype body, MPI_Datatype rest, int64_t start, MPI_Datatype *whole)
{
    int ones[] = {1, 1};
    MPI_Aint starts[] = {0, (MPI_Aint)start};
    MPI_Datatype types[] = {body, rest};
    PF_MPI(MPI_Type_create_struct(2, ones, starts, types, whole));
    return PENCILFFT_OK;
}

static int rows_and_rest(int64_t n, int64_t stride, MPI_Datatype inner, MPI_Datatype *whole)
{
    int64_t left = n % longest_row();
    MPI_Datatype rest = MPI_DATATYPE_NULL, body = MPI_DATATYPE_NULL;
    int status = rows_of(n, stride, inner, left ? &body : whole);
    if (left && !status && !(status = row_of(left, stride, inner, &rest)))
        status = join(body, rest, (n - left) * stride, whole);
    if (!status)
        status = release(&rest);
    return status ? status : release(&body);
}

int pf_type_repeat(int64_t n, int64_t stride, MPI_Datatype *type)
{
    MPI_Datatype inner = *type;
    *type = MPI_DATATYPE_NULL;
    int status = n > longest_row() ? rows_and_rest(n, stride, inner, type) : row_of(n, stride, inner, type);
    return status ? status : release(&inner);
}

static int type_of(int64_t elements, size_t bytes, MPI_Datatype *type)
{
    PF_MPI(MPI_Type_contiguous(1, pf_element_type(bytes), type));
    int status = pf_type_repeat(elements, (int64_t)bytes, type);
    if (!status)
        PF_MPI(MPI_Type_commit(type));
    return status;
}

int pf_amount_make(int64_t elements, size_t bytes, struct pf_amount *amount)
{
    *amount = (struct pf_amount){.count = (pf_count)elements, .type = pf_element_type(bytes)};
    if (elements <= pf_count_limit)
        return PENCILFFT_OK;
    *amount = (struct pf_amount){.count = 1, .type = MPI_DATATYPE_NULL, .made = true};
    return type_of(elements, bytes, &amount->type);
}

void pf_amount_release(struct pf_amount *amount)
{
    if (amount->made && amount->type != MPI_DATATYPE_NULL)
        MPI_Type_free(&amount->type);
    amount->made = false;
}
