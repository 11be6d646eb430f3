#include "exchange/exchange.h"
#include "exchange/exchanges.h"

static const struct pf_exchange rows[] = {
    {"alltoallv", pf_alltoallv_plan, pf_alltoallv_run, pf_alltoallv_destroy, .takes = PF_MESSAGES},
    {"alltoall", pf_alltoall_plan, pf_alltoall_run, pf_alltoall_destroy, .takes = PF_MESSAGES, .moves_self = true},
    {"padded", pf_padded_plan, pf_padded_run, pf_padded_destroy, .takes = PF_MESSAGES, .moves_self = true,
     .traffic = pf_padded_traffic},
    {"alltoallw", pf_alltoallw_plan, pf_alltoallw_run, pf_alltoallw_destroy, .takes = PF_BOXES},
    {"p2p", pf_p2p_plan, pf_p2p_run, pf_p2p_destroy, .takes = PF_MESSAGES},
    {"pipelined", pf_pipelined_plan, pf_pipelined_run, pf_pipelined_destroy, .takes = PF_MESSAGES, .overlaps = true,
     .slices = pf_pipelined_slices},
    {"persistent", pf_persistent_plan, pf_persistent_run, pf_persistent_destroy, .takes = PF_MESSAGES,
     .connect = pf_persistent_connect, .means = pf_persistent_means},
    {"node", pf_node_plan, pf_node_run, pf_node_destroy, .takes = PF_MESSAGES, .overlaps = true, .connect = pf_node_connect,
     .memory = pf_node_memory, .wait_to_write = pf_node_wait_to_write, .traffic = pf_node_traffic},
    {"fftw", pf_fftw_plan, pf_fftw_run, pf_fftw_destroy, .takes = PF_BOXES, .connect = pf_fftw_connect,
     .traffic = pf_fftw_traffic},
    {.name = "auto"},
};
const struct pf_table pf_exchanges = PF_TABLE("exchange", rows);
