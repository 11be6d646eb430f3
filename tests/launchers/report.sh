#!/bin/sh
# Where am I: rank, host, processors. The rank is what the launcher set, the host what it started us on.
rank=${OMPI_COMM_WORLD_RANK:-${PMIX_RANK:-${PMI_RANK:-$SLURM_PROCID}}}
echo "$rank ${PENCILMAP_HOST:-$SLURMD_NODENAME} $(grep Cpus_allowed_list /proc/self/status | cut -f2)"
# Open MPI 5 forgets a process that ends while its daemon still reports the launch, and waits for it for ever.
case $OMPI_VERSION in 5*) sleep 1 ;; esac
