#ifndef PF_EXCHANGE_FFTW_H
#define PF_EXCHANGE_FFTW_H

#include "exchange/exchange.h"

void pf_fftw_prepare(void); /* makes FFTW know its distributed transposes, if this exchange is there */

#endif
