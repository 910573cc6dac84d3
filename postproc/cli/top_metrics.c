/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "cli/top_view.h"
#include "cli/top_metrics.h"

/* Seven metrics for each kind of rows, since a sum over clients and procedures would have no
 * meaning.  Paths are too many for Prometheus. */
enum { OPERATIONS, ERRORS, UNANSWERED, READ_BYTES, WRITTEN_BYTES, RESENT, WAITING, VALUES };
enum { CLIENTS, PROCEDURES, USERS, EXPORTS, KINDS };
enum { LATENCY = KINDS * VALUES, PACKETS, PACKETS_LOST, FORGOTTEN, COUNT };

static const enum top_by kinds[KINDS] = { TOP_CLIENT, TOP_PROCEDURE, TOP_UID, TOP_EXPORT };

#define VALUES_OF(kind, label)                                                                     \
    [(kind) * VALUES +                                                                             \
        OPERATIONS] = { "nfsdigest_" label "_operations_total", METRIC_COUNTER,                    \
                        "operations that are complete", label },                                   \
        [(kind) * VALUES + ERRORS] = { "nfsdigest_" label "_errors_total", METRIC_COUNTER,         \
                                       "operations with another status than 0", label },           \
        [(kind) * VALUES + UNANSWERED] = { "nfsdigest_" label "_unanswered_total", METRIC_COUNTER, \
                                           "operations that were given up without a reply",        \
                                           label },                                                \
        [(kind) * VALUES + READ_BYTES] = { "nfsdigest_" label "_read_bytes_total", METRIC_COUNTER, \
                                           "contents that were read", label },                     \
        [(kind) * VALUES + WRITTEN_BYTES] = { "nfsdigest_" label "_written_bytes_total",           \
                                              METRIC_COUNTER, "contents that were written",        \
                                              label },                                             \
        [(kind) * VALUES + RESENT] = { "nfsdigest_" label "_resent_calls_total", METRIC_COUNTER,   \
                                       "calls that were sent again", label },                      \
        [(kind) * VALUES + WAITING] = { "nfsdigest_" label "_waiting_calls", METRIC_GAUGE,         \
                                        "calls without a reply when the last interval ended",      \
                                        label }

static const struct metric table[COUNT] = {
    VALUES_OF(CLIENTS, "client"),
    VALUES_OF(PROCEDURES, "procedure"),
    VALUES_OF(USERS, "user"),
    VALUES_OF(EXPORTS, "export"),
    [LATENCY] = { "nfsdigest_latency_seconds", METRIC_HISTOGRAM, "from call to reply",
                  "procedure" },
    [PACKETS] = { "nfsdigest_packets_total", METRIC_COUNTER, "packets of the interface", NULL },
    [PACKETS_LOST] = { "nfsdigest_lost_packets_total", METRIC_COUNTER,
                       "packets that were lost because this program or the interface was too slow",
                       NULL },
    [FORGOTTEN] = { "nfsdigest_names_forgotten_total", METRIC_COUNTER,
                    "times that paths were forgotten for lack of room", NULL },
};

static const double bounds[] = { 0.0001, 0.0002, 0.0005, 0.001, 0.002, 0.005, 0.01, 0.02,
                                 0.05,   0.1,    0.2,    0.5,   1,     2,     5,    10 };
enum { BOUNDS = sizeof(bounds) / sizeof(*bounds) };

static uint64_t value_of(const struct top_counts *c, unsigned which)
{
    switch (which) {
    case OPERATIONS:
        return c->operations;
    case ERRORS:
        return c->errors;
    case UNANSWERED:
        return c->unanswered;
    case READ_BYTES:
        return c->read;
    case WRITTEN_BYTES:
        return c->written;
    case RESENT:
        return c->resent;
    default:
        return c->waiting;
    }
}

static void put_counts(const struct top *top, struct metrics_page *page, int kind, unsigned which)
{
    const struct metric *metric = &table[(unsigned)kind * VALUES + which];
    const struct top_counts *others = top_others(top, kinds[kind], false);
    const struct top_row *rows[TOP_ROWS];
    size_t count = top_sorted(top, kinds[kind], TOP_OPERATIONS, false, rows, TOP_ROWS);

    for (size_t i = 0; i < count; i++)
        metrics_page_u64(page, metric, (const char *[]){ rows[i]->label },
                         value_of(&rows[i]->all, which));
    if (others->operations || others->resent)
        metrics_page_u64(page, metric, (const char *[]){ "others" }, value_of(others, which));
}

static void put_latency(struct metrics_page *page, const char *procedure, const struct spread *s)
{
    uint64_t counts[BOUNDS + 1];
    int64_t limits[BOUNDS];
    struct metric_histogram histogram = {
        .count = BOUNDS, .bounds = bounds, .counts = counts, .sum = (double)s->sum / 1e9
    };

    for (int i = 0; i < BOUNDS; i++)
        limits[i] = (int64_t)(bounds[i] * 1e9);
    spread_buckets(s, limits, BOUNDS, counts);
    metrics_page_histogram(page, &table[LATENCY], (const char *[]){ procedure }, &histogram);
}

static void put_latencies(const struct top *top, struct metrics_page *page)
{
    const struct top_row *rows[TOP_ROWS];
    size_t count = top_sorted(top, TOP_PROCEDURE, TOP_OPERATIONS, false, rows, TOP_ROWS);

    for (size_t i = 0; i < count; i++)
        if (rows[i]->all.latency.count)
            put_latency(page, rows[i]->label, &rows[i]->all.latency);
}

static int collect(void *ctx, struct metrics_page *page, struct err *err)
{
    const struct top_view *v = ctx;

    (void)err;
    for (int kind = 0; kind < KINDS; kind++)
        for (unsigned which = 0; which < VALUES; which++)
            put_counts(v->top, page, kind, which);
    put_latencies(v->top, page);
    if (v->packets) {
        metrics_page_u64(page, &table[PACKETS], NULL, v->packets->received);
        metrics_page_u64(page, &table[PACKETS_LOST], NULL,
                         v->packets->dropped + v->packets->interface_dropped);
    }
    metrics_page_u64(page, &table[FORGOTTEN], NULL, v->forgotten);
    return 0;
}

struct tell_setup top_metrics(struct top_view *view, const char *address)
{
    return (struct tell_setup){ address, table, COUNT, collect, view };
}
