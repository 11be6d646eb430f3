#include "exchange.h"
#include "exchange_alltoallv.h"

static const struct pf_exchange rows[] = {
    {"alltoallv", pf_alltoallv_plan, pf_alltoallv_run, pf_alltoallv_destroy, .takes = PF_MESSAGES},
};
const struct pf_table pf_exchanges = PF_TABLE("exchange", rows);
