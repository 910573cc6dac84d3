/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "tee/tell_shadow.h"

#include <malloc.h>

/* --- the control socket */

static int on_statistics(void *ctx, const struct control_request *request, struct json *answer,
                         struct err *err)
{
    const struct told_shadow *told = ctx;
    struct mallinfo2 memory = mallinfo2();

    (void)request, (void)err;
    json_u64(answer, "memory", memory.uordblks + memory.hblkhd);
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

enum {
    REQUESTS,
    PAIRS,
    OBJECTS,
    AGAIN,
    COPIED,
    WAITING,
    LATENCY,
    GAPS,
    SCRUBBED,
    SYNCHRONIZING,
    COUNT
};

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
    [LATENCY] = { "nfstee_shadow_latency_seconds", METRIC_HISTOGRAM,
                  "from a client's call to its reply", "server procedure" },
    [GAPS] = { "nfstee_shadow_gaps_total", METRIC_COUNTER,
               "times that the relay overwrote what was not read yet", NULL },
    [SCRUBBED] = { "nfstee_shadow_scrubbed_total", METRIC_COUNTER,
                   "objects that were compared while clients were quiet", "verdict" },
    [SYNCHRONIZING] = { "nfstee_shadow_synchronizing_requests_total", METRIC_COUNTER,
                        "requests to the reference that are not of clients", "of" },
};

static void put(struct metrics_page *page, unsigned which, const char *label, uint64_t value)
{
    metrics_page_u64(page, &table[which], label ? (const char *[]){ label } : NULL, value);
}

/* A bucket for each power of two from 1 us to 17 s. */
static void put_latencies(const struct shadow *shadow, struct metrics_page *page)
{
    enum { FROM = 10, BOUNDS = 25 };
    const struct shadow_latency *l = shadow_latencies(shadow);
    int64_t limits[BOUNDS];
    double bounds[BOUNDS];
    uint64_t counts[BOUNDS + 1];

    for (unsigned i = 0; i < BOUNDS; i++) {
        limits[i] = (INT64_C(1) << (FROM + i)) - 1;
        bounds[i] = (double)(INT64_C(1) << (FROM + i)) / 1e9;
    }
    for (uint32_t row = 1; row < SHADOW_LATENCIES; row++) /* [0] is their sum */
        for (int side = 0; side < SIDES; side++) {
            const struct histogram *h = &l[row].side[side];
            struct metric_histogram sample = { BOUNDS, bounds, counts, (double)h->sum / 1e9 };

            if (!h->count)
                continue;
            histogram_buckets(h, limits, BOUNDS, counts);
            metrics_page_histogram(
                page, &table[LATENCY],
                (const char *[]){ side == REF ? "reference" : "sut", l[row].name }, &sample);
        }
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
    put_latencies(shadow, page);
    put(page, GAPS, NULL, c->gaps);
    put(page, SCRUBBED, "agree", c->scrub.objects - c->scrub.differ);
    put(page, SCRUBBED, "differ", c->scrub.differ);
    put(page, SYNCHRONIZING, "this_synchronizer", c->own);
    put(page, SYNCHRONIZING, "other_synchronizers", c->others);
    return 0;
}

struct metrics_setup tell_shadow_metrics(struct told_shadow *told,
                                         const struct net_address *address)
{
    return (struct metrics_setup){
        .address = *address, .table = table, .count = COUNT, .collect = collect, .ctx = told
    };
}
