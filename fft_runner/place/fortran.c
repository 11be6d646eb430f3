/* Attributes from Fortran: here the Fortran layers call neither MPI_X nor PMPI_X.
 * Open MPI: each function has three names, two of them for programs and one for the module mpi_f08. MPICH: two functions. */
#include "place.h"

#ifdef OPEN_MPI

#define GET(name, VALUE)                                                                        \
    SHOWN void name(MPI_Fint *comm, MPI_Fint *key, VALUE *value, MPI_Fint *found, MPI_Fint *e); \
    void name(MPI_Fint *comm, MPI_Fint *key, VALUE *value, MPI_Fint *found, MPI_Fint *e)        \
    {                                                                                           \
        NEXT(name);                                                                             \
        MPI_Fint placed = PMPI_Comm_c2f(PLACED(PMPI_Comm_f2c(*comm)));                          \
        next(&placed, key, value, found, e);                                                    \
        if (*e == MPI_SUCCESS && !*found)                                                       \
            next(comm, key, value, found, e);                                                   \
    }
#define SET(name, VALUE)                                                       \
    SHOWN void name(MPI_Fint *comm, MPI_Fint *key, VALUE *value, MPI_Fint *e); \
    void name(MPI_Fint *comm, MPI_Fint *key, VALUE *value, MPI_Fint *e)        \
    {                                                                          \
        NEXT(name);                                                            \
        MPI_Fint placed = PMPI_Comm_c2f(PLACED(PMPI_Comm_f2c(*comm)));         \
        next(&placed, key, value, e);                                          \
    }
GET(mpi_attr_get_, MPI_Fint)
GET(pmpi_attr_get_, MPI_Fint)
GET(ompi_attr_get_f, MPI_Fint)
SET(mpi_attr_put_, MPI_Fint)
SET(pmpi_attr_put_, MPI_Fint)
SET(ompi_attr_put_f, MPI_Fint)
GET(mpi_comm_get_attr_, MPI_Aint)
GET(pmpi_comm_get_attr_, MPI_Aint)
GET(ompi_comm_get_attr_f, MPI_Aint)
SET(mpi_comm_set_attr_, MPI_Aint)
SET(pmpi_comm_set_attr_, MPI_Aint)
SET(ompi_comm_set_attr_f, MPI_Aint)

#elif defined MPICH_VERSION

/* The last parameter is an enumeration of MPICH that says which language asks. */
SHOWN int MPII_Comm_get_attr(MPI_Comm comm, int key, void *value, int *found, int language);
int MPII_Comm_get_attr(MPI_Comm comm, int key, void *value, int *found, int language)
{
    NEXT(MPII_Comm_get_attr);
    int status = next(PLACED(comm), key, value, found, language);
    if (status == MPI_SUCCESS && !*found)
        status = next(comm, key, value, found, language);
    return status;
}

SHOWN int MPII_Comm_set_attr(MPI_Comm comm, int key, void *value, int language);
int MPII_Comm_set_attr(MPI_Comm comm, int key, void *value, int language)
{
    NEXT(MPII_Comm_set_attr);
    return next(PLACED(comm), key, value, language);
}

#endif
