/* Scheduling policies of allot for StarPU, for programs that link them:
 *
 *   struct starpu_conf conf;
 *   starpu_conf_init(&conf);
 *   conf.sched_policy = &allot_starpu_map;
 *   starpu_init(&conf);
 *
 * Link liballot-starpu before StarPU, so that STARPU_SCHED=allot-mis also finds these policies. Unchanged
 * programs use the same library by LD_PRELOAD (StarPU 1.3) or STARPU_SCHED_LIB (from 1.4). */
#ifndef ALLOT_STARPU_H
#define ALLOT_STARPU_H

#include <starpu.h>
#include <starpu_scheduler.h>

#ifdef __cplusplus
extern "C" {
#endif

/* "allot-map": the most tasks per second. */
extern struct starpu_sched_policy allot_starpu_map;
/* "allot-mis": near the shares of ALLOT_SHARES or ALLOT_SCENARIO. */
extern struct starpu_sched_policy allot_starpu_mis;
/* "allot-weighted": the shares exactly, if the machine allows it; workers may idle for them. */
extern struct starpu_sched_policy allot_starpu_weighted;
/* "allot-planned": the most value, by ALLOT_WORTHS or ALLOT_SCENARIO; workers take the next task of the plan. */
extern struct starpu_sched_policy allot_starpu_planned;

/* The policy of that name, such as "allot-map"; null if there is none. Thread-safe. */
struct starpu_sched_policy *allot_starpu_policy(const char *name);

#ifdef __cplusplus
}
#endif

#endif
