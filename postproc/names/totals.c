/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "names/totals.h"

#include <string.h>

void totals_begin(struct totals *t)
{
    *t = (struct totals){ .end = { .first_time = TIME_NONE, .last_time = TIME_NONE } };
}

void totals_put(struct totals *t, const struct record *r)
{
    struct record_end *end = &t->end;

    if (r->kind == RECORD_OPERATION) {
        end->operations++;
        end->calls += r->operation.call.frame != 0;
        end->replies += r->operation.reply.frame != 0;
    } else if (r->kind == RECORD_REPEAT) {
        end->repeats++;
        end->calls += !repeat_is_reply(r->repeat.repeat);
        end->replies += repeat_is_reply(r->repeat.repeat);
    } else if (r->kind == RECORD_PROBLEM) {
        end->problems++;
    }
}

static int add_counter(struct totals *t, const struct record_counter *c, struct err *err)
{
    struct totals_counter *x = t->counters;

    while (x < t->counters + t->counter_count &&
           (strlen(x->name) != c->name.len || memcmp(x->name, c->name.data, c->name.len) != 0))
        x++;
    if (x == t->counters + TOTALS_COUNTERS || c->name.len >= TOTALS_NAME)
        return err_set(err, ERR_INPUT, "more counters than there are, or longer names");
    if (x == t->counters + t->counter_count) {
        t->counter_count++;
        memcpy(x->name, c->name.data, c->name.len);
    }
    x->value += c->value;
    return 0;
}

int totals_add(struct totals *t, const struct record *r, struct err *err)
{
    struct record_end *end = &t->end;

    if (r->kind == RECORD_COUNTER)
        return add_counter(t, &r->counter, err);
    end->frames += r->end.frames;
    if (r->end.first_time != TIME_NONE &&
        (end->first_time == TIME_NONE || r->end.first_time < end->first_time))
        end->first_time = r->end.first_time;
    if (r->end.last_time > end->last_time)
        end->last_time = r->end.last_time;
    end->input_cut = r->end.input_cut;
    return 0;
}

int totals_end(const struct totals *t, bool counters, const struct sink *sink, struct err *err)
{
    struct record r = { .kind = RECORD_END, .end = t->end };
    int rc = 0;

    for (uint32_t i = 0; rc == 0 && counters && i < t->counter_count; i++) {
        const struct totals_counter *c = &t->counters[i];
        const struct record counter = {
            .kind = RECORD_COUNTER,
            .counter = { { (const uint8_t *)c->name, (uint32_t)strlen(c->name) }, c->value }
        };
        rc = sink->put(sink->ctx, &counter, err);
    }
    return rc < 0 ? rc : sink->put(sink->ctx, &r, err);
}
