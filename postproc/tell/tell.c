/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "tell/tell.h"
#include "metrics/metrics.h"

#include <stdio.h>
#include <stdlib.h>

struct tell {
    struct loop *loop;
    struct metrics *metrics;
    struct timer timer;
    int64_t next; /* of loop_clock */
};

static int end_round(void *ctx, struct err *err)
{
    struct tell *tell = ctx;

    (void)err;
    loop_stop(tell->loop);
    return 0;
}

static int begin(struct tell *tell, const struct tell_setup *setup, char listens[TELL_ADDRESS],
                 struct err *err)
{
    struct metrics_setup metrics = {
        .table = setup->table, .count = setup->count, .collect = setup->collect, .ctx = setup->ctx
    };
    struct net_address address;
    char text[NET_ADDRESS_TEXT];

    if (metrics_address(&metrics.address, setup->address, err) < 0)
        return -err->code;
    tell->loop = loop_new(err);
    tell->metrics = tell->loop ? metrics_new(tell->loop, &metrics, err) : NULL;
    if (!tell->metrics || metrics_listens(tell->metrics, &address, err) < 0)
        return -err->code;
    snprintf(listens, TELL_ADDRESS, "http://%s/metrics", net_address_text(&address, text));
    return 0;
}

struct tell *tell_new(const struct tell_setup *setup, char listens[TELL_ADDRESS], struct err *err)
{
    struct tell *tell = calloc(1, sizeof(*tell));

    if (!tell) {
        err_memory(err, "metrics");
        return NULL;
    }
    tell->timer = (struct timer){ .due = end_round, .ctx = tell };
    if (begin(tell, setup, listens, err) < 0) {
        err_prefix(err, "--metrics");
        tell_free(tell);
        return NULL;
    }
    return tell;
}

void tell_free(struct tell *tell)
{
    if (!tell)
        return;
    metrics_free(tell->metrics);
    loop_free(tell->loop);
    free(tell);
}

int tell_poll(struct tell *tell, struct err *err)
{
    int64_t now;

    if (!tell)
        return 0;
    now = loop_clock();
    if (now < tell->next)
        return 0;
    tell->next = now + TELL_POLL_MS * INT64_C(1000000);
    if (loop_set(tell->loop, &tell->timer, now, err) < 0)
        return -err->code;
    return loop_run(tell->loop, err);
}
