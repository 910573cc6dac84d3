/* SPDX-License-Identifier: GPL-2.0-or-later */
/* postproc/compare/retries.c
 *
 * A table with one place for each key.  The contract is in retries.h.
 */
#include "compare/retries.h"
#include "wire/failure.h"

uint32_t retries_take(struct retries *r, uint64_t key, const struct effect *e)
{
    struct retries_failed *at = &r->failed[key % RETRIES_FAILED];
    bool is_retry = at->again && at->key == key && e->call_time >= at->done;
    uint32_t again = is_retry ? at->again : 0;

    if (failure_of_server(e->program, e->rpc_status, e->status))
        *at = (struct retries_failed){ key, e->done_time, again + 1 };
    else if (is_retry)
        at->again = 0;
    return again;
}
