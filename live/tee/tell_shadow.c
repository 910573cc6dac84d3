/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "tee/tell_shadow.h"

/* --- the control socket */

static int on_statistics(void *ctx, const struct control_request *request, struct json *answer,
                         struct err *err)
{
    const struct told_shadow *told = ctx;

    (void)request, (void)err;
    json_bool(answer, "synchronized", shadow_is_synchronized(told->shadow));
    shadow_json(told->shadow, answer);
    return 0;
}

static int on_stop(void *ctx, const struct control_request *request, struct json *answer,
                   struct err *err)
{
    const struct told_shadow *told = ctx;

    (void)request, (void)answer, (void)err;
    loop_stop(told->loop);
    return 0;
}

int tell_shadow_control(struct control *control, struct told_shadow *told, struct err *err)
{
    static const struct control_command commands[] = {
        { "statistics", NULL, "requests by what became of them, objects, verdicts", on_statistics },
        { "stop", NULL, "end the shadow", on_stop },
    };

    return control_add(control, commands, sizeof(commands) / sizeof(commands[0]), told, err);
}

/* --- Prometheus */

enum { REQUESTS, PAIRS, OBJECTS, AGAIN, COPIED, WAITING, SUT_SECONDS, SUT_ANSWERS, GAPS, COUNT };

static const struct metric table[COUNT] = {
    [REQUESTS] = { "nfstee_shadow_requests_total", METRIC_COUNTER,
                   "requests of clients, by what became of them", "fate" },
    [PAIRS] = { "nfstee_shadow_pairs_total", METRIC_COUNTER, "pairs of answers", "verdict" },
    [OBJECTS] = { "nfstee_shadow_objects", METRIC_GAUGE, "objects that are known", "state" },
    [AGAIN] = { "nfstee_shadow_copied_again_total", METRIC_COUNTER,
                "objects that had to be copied again", "reason" },
    [COPIED] = { "nfstee_shadow_copied_bytes_total", METRIC_COUNTER,
                 "bytes read from the reference to copy objects", NULL },
    [WAITING] = { "nfstee_shadow_waiting", METRIC_GAUGE, "requests that wait for the SUT", NULL },
    [SUT_SECONDS] = { "nfstee_shadow_sut_nanoseconds_total", METRIC_COUNTER,
                      "time that the SUT took for its answers", NULL },
    [SUT_ANSWERS] = { "nfstee_shadow_sut_answers_total", METRIC_COUNTER, "answers of the SUT",
                      NULL },
    [GAPS] = { "nfstee_shadow_gaps_total", METRIC_COUNTER,
               "times that the relay overwrote what was not read yet", NULL },
};

static void put(struct metrics_page *page, unsigned which, const char *label, uint64_t value)
{
    metrics_page_u64(page, &table[which], label ? (const char *[]){ label } : NULL, value);
}

static int collect(void *ctx, struct metrics_page *page, struct err *err)
{
    struct shadow *shadow = ((struct told_shadow *)ctx)->shadow;
    const struct shadow_counts *c = shadow_counts(shadow);
    const struct teelog_counts *t = shadow_verdicts(shadow);

    (void)err;
    for (int i = 0; i < FATES; i++)
        put(page, REQUESTS, shadow_fate_name((enum shadow_fate)i), c->fates[i]);
    put(page, PAIRS, "agree", t->agree);
    put(page, PAIRS, "differ", t->differ);
    put(page, PAIRS, "withheld", t->withheld);
    for (int i = 0; i < MIRROR_STATES; i++)
        put(page, OBJECTS, shadow_state_name((enum mirror_state)i),
            shadow_objects(shadow, (enum mirror_state)i));
    put(page, AGAIN, "overlap", c->overlaps);
    put(page, AGAIN, "diverged", c->diverged);
    put(page, AGAIN, "changed_behind", c->behind);
    put(page, AGAIN, "mended", c->mended);
    put(page, COPIED, NULL, shadow_copied(shadow).bytes_read);
    put(page, WAITING, NULL, c->waiting);
    put(page, SUT_SECONDS, NULL, c->sut_time);
    put(page, SUT_ANSWERS, NULL, c->sut_answers);
    put(page, GAPS, NULL, c->gaps);
    return 0;
}

struct metrics_setup tell_shadow_metrics(struct told_shadow *told,
                                         const struct net_address *address)
{
    return (struct metrics_setup){
        .address = *address, .table = table, .count = COUNT, .collect = collect, .ctx = told
    };
}
