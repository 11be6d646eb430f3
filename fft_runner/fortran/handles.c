/* Communicators of Fortran and Python, integers, for the modules pencilfft; the descriptors of lines as single values; the
 * lengths of Fortran's arrays. */
#include <stdio.h>

#include "handles.h"
#include "plan/plan.h"
#include "run/run.h"

/* MPI would end the program on a call before MPI_Init or after MPI_Finalize; the library returns an error with a message. */
static MPI_Comm handle_of(MPI_Fint comm)
{
    int started = 0, ended = 0;
    MPI_Initialized(&started);
    MPI_Finalized(&ended);
    return started && !ended ? MPI_Comm_f2c(comm) : MPI_COMM_NULL;
}

int pencilfft_plan_create_fortran(const pencilfft_desc *desc, MPI_Fint comm, pencilfft_plan *plan)
{
    return pencilfft_plan_create(desc, handle_of(comm), plan);
}

/* A null text is the default. */
int pencilfft_line_create_fortran(int64_t n, int64_t lines, const char *algorithm, const char *order, const char *precision,
                                  const char *rigor, const char *sync, MPI_Fint comm, pencilfft_line_plan *plan)
{
    pencilfft_line_desc desc;
    pencilfft_line_desc_init(&desc);
    desc.n = n;
    desc.lines = lines;
    desc.algorithm = algorithm ? algorithm : desc.algorithm;
    desc.order = order ? order : desc.order;
    desc.precision = precision ? precision : desc.precision;
    desc.rigor = rigor ? rigor : desc.rigor;
    desc.sync = sync ? sync : desc.sync;
    return pencilfft_line_create(&desc, handle_of(comm), plan);
}

int pencilfft_brick_lines_create_fortran(const int64_t size[3], const int bricks[3], int fields, const char *algorithm,
                                         const char *order, const char *precision, const char *rigor, const char *sync,
                                         MPI_Fint comm, pencilfft_brick_lines *plan)
{
    pencilfft_brick_lines_desc desc;
    pencilfft_brick_lines_desc_init(&desc);
    desc.nx = size[0];
    desc.ny = size[1];
    desc.nz = size[2];
    for (int axis = 0; axis < 3; axis++)
        desc.bricks[axis] = bricks[axis];
    desc.fields = fields;
    desc.algorithm = algorithm ? algorithm : desc.algorithm;
    desc.order = order ? order : desc.order;
    desc.precision = precision ? precision : desc.precision;
    desc.rigor = rigor ? rigor : desc.rigor;
    desc.sync = sync ? sync : desc.sync;
    return pencilfft_brick_lines_create(&desc, handle_of(comm), plan);
}

/* A buffer for an array of these elements. */
int pencilfft_array_fortran(pencilfft_plan plan, int array, int element_bytes, int is_complex, int fields, void **buffer)
{
    pencilfft_format form;
    int parts, status = pencilfft_format_of(plan, array, &form);
    if (!status)
        status = pencilfft_parts(plan, array, &parts);
    if (status)
        return status;
    if (parts > 1)
        return pf_fail(PENCILFFT_BAD_CALL, "pencilfft_array: array %d has %d parts; use pencilfft_alloc", array, parts);
    if (form.element_bytes != (size_t)element_bytes || form.is_complex != is_complex || form.fields != fields)
        return pf_fail(
            PENCILFFT_BAD_CALL,
            "pencilfft_array: array %d has %d field(s) of %s elements of %d bytes; given: %d of %s elements of %d bytes",
            array, form.fields, form.is_complex ? "complex" : "real", (int)form.element_bytes, fields,
            is_complex ? "complex" : "real", element_bytes);
    return pencilfft_alloc(plan, buffer);
}

int pencilfft_wisdom_load_fortran(const char *path, MPI_Fint comm, int *found)
{
    return pencilfft_wisdom_load(path, handle_of(comm), found);
}

int pencilfft_wisdom_save_fortran(const char *path, MPI_Fint comm)
{
    return pencilfft_wisdom_save(path, handle_of(comm));
}

/* ---- lengths --------------------------------------------------------------------------------------------------------- */

/* Local. */
int pencilfft_length_fortran(const char *array, int64_t length, int64_t least, int64_t most)
{
    if (length >= least && length <= most)
        return PENCILFFT_OK;
    char more[32] = "";
    if (most > least)
        snprintf(more, sizeof more, most == INT64_MAX ? " or more" : " to %lld", (long long)most);
    return pf_fail(PENCILFFT_BAD_CALL, "%s has %lld elements; give %lld%s", array, (long long)length, (long long)least,
                   more);
}

/* A call with an unusable communicator refuses it itself. Collective. */
int pencilfft_agree_fortran(int status, MPI_Fint comm)
{
    MPI_Comm all = handle_of(comm);
    return all == MPI_COMM_NULL || pf_usable(all, "pencilfft") ? PENCILFFT_OK : pf_agree(status, all);
}

/* Of a plan of any kind; 0 without a plan. Local. */
int pencilfft_ranks_fortran(const struct pf_handle *plan)
{
    return plan ? plan->ranks : 0;
}

int pencilfft_halo_ranks_fortran(pencilfft_halo halo)
{
    int ranks = 0;
    if (halo && !pf_usable(pf_halo_comm(halo), "pencilfft_halo_traffic"))
        MPI_Comm_size(pf_halo_comm(halo), &ranks);
    return ranks;
}

int pencilfft_halo_create_fortran(pencilfft_plan plan, int given, int array, const int64_t low[3], const int64_t high[3],
                                  pencilfft_halo *halo)
{
    return pf_halo_create(plan, given, array, low, high, halo);
}

/* Refuses less memory than this rank's part of the array. The bytes are negative if the array is not contiguous. */
static int check_room(pencilfft_plan plan, const char *name, int array, int64_t bytes)
{
    pencilfft_format form = {0};
    pencilfft_part part;
    int64_t needed = 0;
    int parts = 0, status = pencilfft_format_of(plan, array, &form);
    if (!status)
        status = pencilfft_parts(plan, array, &parts);
    for (int i = 0; !status && i < parts; i++)
        if (!(status = pencilfft_part_mine(plan, array, i, &part)))
            needed += part.box.extent[0] * part.box.extent[1] * part.box.extent[2] * part.fields;
    needed *= (int64_t)form.element_bytes;
    if (status || bytes >= needed)
        return status;
    if (bytes < 0)
        return pf_fail(PENCILFFT_BAD_CALL, "pencilfft_transform: `%s` is not contiguous", name);
    return pf_fail(PENCILFFT_BAD_CALL, "pencilfft_transform: `%s` has %lld bytes; this rank's part has %lld", name,
                   (long long)bytes, (long long)needed);
}

int pencilfft_transform_fortran(pencilfft_plan plan, int direction, const void *from, int64_t from_bytes, void *to,
                                int64_t to_bytes)
{
    int backward = direction == PENCILFFT_BACKWARD;
    int status = check_room(plan, "from", backward ? PENCILFFT_OUTPUT : PENCILFFT_INPUT, from_bytes);
    if (!status)
        status = check_room(plan, "to", backward ? PENCILFFT_INPUT : PENCILFFT_OUTPUT, to_bytes);
    return pf_execute(plan, status, (pencilfft_direction)direction, from, to);
}
