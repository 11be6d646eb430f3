#include "exchange.h"
#include "exchanges.h"

static const struct pf_exchange rows[] = {
    {"alltoallv", pf_alltoallv_plan, pf_alltoallv_run, pf_alltoallv_destroy, .takes = PF_MESSAGES},
    {"alltoall", pf_alltoall_plan, pf_alltoall_run, pf_alltoall_destroy, .takes = PF_MESSAGES, .moves_self = true},
    {"padded", pf_padded_plan, pf_padded_run, pf_padded_destroy, .takes = PF_MESSAGES, .moves_self = true},
    {"alltoallw", pf_alltoallw_plan, pf_alltoallw_run, pf_alltoallw_destroy, .takes = PF_BOXES},
    {"p2p", pf_p2p_plan, pf_p2p_run, pf_p2p_destroy, .takes = PF_MESSAGES},
    {"pipelined", pf_pipelined_plan, pf_pipelined_run, pf_pipelined_destroy, .takes = PF_MESSAGES, .overlaps = true,
     .slices = 4},
    {.name = "auto"},
};
const struct pf_table pf_exchanges = PF_TABLE("exchange", rows);
