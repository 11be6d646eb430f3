/* Communicators of Fortran and Python, integers, for the modules pencilfft; the descriptors of lines as single values. */
#include "common/failure.h"
#include "pencilfft_line.h"

int pencilfft_plan_create_fortran(const pencilfft_desc *desc, MPI_Fint comm, pencilfft_plan *plan);
int pencilfft_line_create_fortran(int64_t n, int64_t lines, const char *algorithm, const char *order, const char *precision,
                                  const char *rigor, const char *sync, MPI_Fint comm, pencilfft_line_plan *plan);
int pencilfft_brick_lines_create_fortran(const int64_t size[3], const int bricks[3], int fields, const char *algorithm,
                                         const char *order, const char *precision, const char *rigor, const char *sync,
                                         MPI_Fint comm, pencilfft_brick_lines *plan);
int pencilfft_array_fortran(pencilfft_plan plan, int array, int element_bytes, int is_complex, int fields, void **buffer);
int pencilfft_wisdom_load_fortran(const char *path, MPI_Fint comm, int *found);
int pencilfft_wisdom_save_fortran(const char *path, MPI_Fint comm);

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
