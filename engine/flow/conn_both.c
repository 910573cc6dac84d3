/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "flow/conn_parts.h"

int conn_settle(struct conn *x, uint64_t frame, int64_t time, struct err *err)
{
    struct framer *one = &x->stream[0].framer, *two = &x->stream[1].framer;
    int rc = 0;

    while (rc == 0 && (framer_unsettled(one, time) || framer_unsettled(two, time))) {
        if (framer_unsettled(one, time))
            rc = framer_settle(one, frame, time, err);
        if (rc == 0 && framer_unsettled(two, time))
            rc = framer_settle(two, frame, time, err);
    }
    return rc;
}

int conn_read_out(struct conns *c, struct conn *x, uint64_t frame, int64_t time, struct err *err)
{
    int rc = 0;

    for (int side = 0; rc == 0 && side < 2; side++)
        rc = stream_flush(&x->stream[side], &c->pool, false, frame, time, err);
    return rc < 0 ? rc : conn_settle(x, frame, time, err);
}

int conn_end(struct conns *c, struct conn *x, uint64_t frame, int64_t time, struct err *err)
{
    int rc = conn_read_out(c, x, frame, time, err); /* one direction may wait for the other one */

    for (int side = 0; rc == 0 && side < 2; side++)
        rc = stream_finish(&x->stream[side], &c->pool, frame, time, err);
    for (int side = 0; side < 2; side++)
        framer_forget_xids(&x->stream[side].framer);
    return rc;
}
