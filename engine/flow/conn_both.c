/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "flow/conn_parts.h"

int conn_settle(struct conn *x, struct seen seen, struct err *err)
{
    struct framer *one = &x->stream[0].framer, *two = &x->stream[1].framer;
    int rc = 0;

    while (rc == 0 && (framer_unsettled(one, seen.time) || framer_unsettled(two, seen.time))) {
        if (framer_unsettled(one, seen.time))
            rc = framer_settle(one, seen, err);
        if (rc == 0 && framer_unsettled(two, seen.time))
            rc = framer_settle(two, seen, err);
    }
    return rc;
}

int conn_read_out(struct conn *x, struct seen seen, struct err *err)
{
    int rc = 0;

    for (int side = 0; rc == 0 && side < 2; side++)
        rc = stream_flush(&x->stream[side], false, seen, err);
    return rc < 0 ? rc : conn_settle(x, seen, err);
}

static int put_fin(struct conn *x, uint8_t side, struct seen seen, struct err *err)
{
    const struct message_host *host = x->stream[side].framer.host;
    const struct flow_over over = { &x->flow,     x->acked[x->flow.server],
                                    seen.frame,   seen.time,
                                    FLOW_END_FIN, side };

    x->stream[side].ended = true;
    return x->flow.id ? host->over(host->ctx, &over, err) : 0;
}

int conn_put_fins(struct conn *x, struct seen seen, struct err *err)
{
    int rc = 0;

    for (uint8_t side = 0; rc == 0 && side < 2; side++) {
        struct stream *s = &x->stream[side];

        if (!s->fin_waits || (s->started && (int32_t)(s->fin - s->next) > 0))
            continue;
        s->fin_waits = false;
        if (!s->started || s->next == s->fin) /* else it was false: the stream went on */
            rc = put_fin(x, side, seen, err);
    }
    return rc;
}

int conn_end(struct conn *x, struct seen seen, struct err *err)
{
    int rc = conn_read_out(x, seen, err); /* one direction may wait for the other one */

    for (int side = 0; rc == 0 && side < 2; side++)
        rc = stream_finish(&x->stream[side], seen, err);
    if (rc == 0)
        rc = conn_put_fins(x, seen, err);
    for (int side = 0; side < 2; side++)
        framer_forget_xids(&x->stream[side].framer);
    return rc < 0 ? rc : conn_event_end(x, err);
}
