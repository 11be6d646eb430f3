/* The choices of "auto" when the plan is made: the exchanges, then the schedule. */
#pragma once

#include <stddef.h>

#include "handle/plan.h"

/* Candidates of "auto": make a complete plan with each candidate, and time whole transforms. trial.c */
enum { PF_MOST_TIMES = 128 };

/* Seconds of whole transforms, the slowest rank's: the same numbers on all ranks. */
struct pf_times {
    int n;
    double seconds[PF_MOST_TIMES]; /* infinity if not run, as hopeless */
    bool refused; /* the algorithm, or the MPI, cannot do these extents */
};

struct pf_trial {
    pencilfft_plan plan;
    double started, spent; /* seconds; started is 0 before the first plan */
    double limit;          /* of spent */
    struct pf_buffer in;
    struct pf_outs outs;
    int64_t elements; /* of each */
    struct pf_buffer work[PF_WORKS]; /* of all plans, once a plan has made the buffer */
    int64_t work_elements;
    bool works[PF_WORKS]; /* work buffers that plans have used */
    bool anew; /* ignore wisdom */
};

/* Candidates that run side by side. */
struct pf_candidates {
    int n;
    void (*take)(void *of, int i); /* sets plan->chosen.exchange[] and its schedule for the i-th */
    void *of;
    struct pf_times **times; /* of each candidate; new times are added, n is 0 if never tried */
};

/* Limits of repetition. */
struct pf_patience {
    int reps;       /* at most, and at least 1 */
    double share;   /* no repetition starts after so many seconds of repetitions */
    double give_up; /* nor of candidates with a median above so many times the least */
};

/* The median of the times run; infinity if there is none. */
double pf_times_median(const struct pf_times *times);
/* The median of the times over the median of all n at the same moment, these times included; at most PF_MOST_TIMES. */
double pf_times_beside(const struct pf_times *times, struct pf_times *const *all, int n);
/* The standard error of that ratio from the luck of single runs, as a share of the ratio; 0 without times. */
double pf_times_doubt(const struct pf_times *times);
/* Adds times of plans with each candidate. `why` is the status of the last refusal; may be NULL. Collective. Only a failure
 * of MPI, or of memory for all of this, is a failure. */
int pf_trial_run(struct pf_trial *trial, const struct pf_candidates *candidates, struct pf_patience patience, int *why);
void pf_trial_release(struct pf_trial *trial);

enum { PF_AUTO_KEY_SIZE = 320, PF_AUTO_TEXT = 64 };
/* The text that rank 0 knows from wisdom, on all ranks; empty if there is none. Collective. */
int pf_auto_recall(const struct pf_trial *trial, const char *key, char text[PF_AUTO_TEXT]);
/* The number of the exchange of this name; -1 if no candidate has the name. */
int pf_auto_row(const char *name, size_t length);

/* Candidates that race until one is left: race.c. */
enum { PF_MOST_RACERS = 32 };
struct pf_race {
    struct pf_trial *trial;
    int n, alive[PF_MOST_RACERS]; /* numbers of those left, the fastest first after a round */
    struct pf_times *times; /* by number */
    void (*take)(void *of, int number); /* sets what the candidate needs, as in struct pf_candidates */
    bool (*is_favoured)(void *of, int number); /* where runs cannot separate two candidates; may be NULL */
    void *of;
};

/* Until one is left, or the limit of the trial is reached. */
int pf_race_run(struct pf_race *race);
/* Choose the grid within the budget, if the descriptor leaves it open; and write the table of the trials (auto_grid.c). */
int pf_auto_grid(struct pf_trial *trial, const pencilfft_desc *desc, double budget_s, int nodes);

/* The key of exchange e of this transform in wisdom. auto_exchanges.c */
void pf_auto_key(const struct pencilfft_plan_s *plan, int e, int nodes, char key[PF_AUTO_KEY_SIZE]);
/* Choose each exchange of the plan that wisdom does not know, until the budget is used up. auto_exchanges.c */
int pf_auto_exchanges(struct pf_trial *trial, double budget_s, int nodes);
/* Choose the schedule, with exchanges that can run in that schedule, until the budget is used up. auto_schedule.c */
int pf_auto_schedule(struct pf_trial *trial, double budget_s, int nodes);

/* The exchange algorithms that "auto" chose; wisdom.c saves the algorithms in a file with FFTW's wisdom. */

/* Name kept under that key, NULL if there is none. */
const char *pf_wisdom_find(const char *key);
/* Keep or replace a name. False without memory. Keys and names have no blanks. */
int pf_wisdom_keep(const char *key, const char *name);
