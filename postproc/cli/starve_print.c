/* SPDX-License-Identifier: GPL-2.0-or-later */
/* postproc/cli/starve_print.c
 *
 * Prints who keeps whom waiting, for people and as JSON (schemas/starve.schema.json).  The contract
 * is in starve.h.
 */
#include "base/json.h"
#include "base/values.h"
#include "cli/starve.h"
#include "store/exports.h"

#include <inttypes.h>
#include <stdio.h>
#include <string.h>

/* The heads of columns: a connection is a client's. */
static const char *const by_names[] = { "client", "client", "export" };
static const char *const whose[] = { "client", "connection", "export" };

static double ratio(double a, double b)
{
    return b > 0 ? a / b : 0;
}

static double part(const struct starve *st, const struct starve_group *g)
{
    return ratio(g->share, st->services[g->service].active);
}

static const char *name_of(const struct starve_group *g, char text[ADDRESS_TEXT_MAX + 16])
{
    if (g->label)
        return g->label;
    if (g->port)
        snprintf(text, ADDRESS_TEXT_MAX + 16, "%s port %d", g->client, g->port);
    else
        snprintf(text, ADDRESS_TEXT_MAX + 16, "%s", g->client);
    return text;
}

/* The most calls of others of a bucket. */
static uint64_t bucket_from(unsigned i)
{
    return i ? UINT64_C(1) << (i - 1) : 0;
}

static void text_group(const struct starve *st, const struct starve_group *g)
{
    char bytes[VALUE_TEXT_MAX], most[VALUE_TEXT_MAX], calls[VALUE_TEXT_MAX], p50[VALUE_TEXT_MAX],
        p99[VALUE_TEXT_MAX], name[ADDRESS_TEXT_MAX + 16];

    printf("  %5.1f %% %11s %11s %8.2f %6" PRIu64 " %11s %9s %9s %8.1f %%  %s\n", 100 * part(st, g),
           count_text(g->calls, calls), size_text(g->bytes, bytes), ratio(g->busy, g->active),
           g->most, size_text(g->most_bytes, most),
           duration_rough_text(starve_latency_at(g->latencies, 50), p50),
           duration_rough_text(starve_latency_at(g->latencies, 99), p99),
           100 * ratio(g->queued, g->busy), name_of(g, name));
}

static void text_others(const struct starve *st, const struct starve_group *g)
{
    char name[ADDRESS_TEXT_MAX + 16], text[VALUE_TEXT_MAX];

    if (st->services[g->service].groups < 2)
        return;
    printf("    %s:", name_of(g, name));
    for (unsigned i = 0; i < STARVE_BUCKETS; i++) {
        const struct starve_bucket *b = &g->by_others[i];

        if (b->calls)
            printf("  %" PRIu64 "%s: %s", bucket_from(i), i > 1 ? "+" : "",
                   duration_text((int64_t)(b->latency / (double)b->calls), text));
    }
    putchar('\n');
}

/* A hundredth or more of what a group queued is behind the first group of this place. */
static bool is_behind(const struct starve *st, const struct starve_group *g, uint32_t place)
{
    return st->groups[st->first[place]].service == g->service && g->behind[place] > 0 &&
           g->behind[place] * 100 >= g->queued;
}

static bool has_queues(const struct starve *st, uint32_t v)
{
    for (uint32_t i = 0; i < st->group_count; i++)
        for (uint32_t k = 0; k < st->first_count; k++)
            if (st->groups[i].service == v && is_behind(st, &st->groups[i], k))
                return true;
    return false;
}

/* Behind whose calls a group queued, the groups with the most calls under way first. */
static void text_behind(const struct starve *st, const struct starve_group *g)
{
    char name[ADDRESS_TEXT_MAX + 16];
    bool begun = false;

    for (uint32_t i = 0; i < st->first_count; i++) {
        const struct starve_group *by = &st->groups[st->first[i]];

        if (!is_behind(st, g, i))
            continue;
        if (!begun)
            printf("    %s:", name_of(g, name));
        begun = true;
        printf("  %.0f %% %s", 100 * ratio(g->behind[i], g->queued),
               by == g ? "its own" : name_of(by, name));
    }
    if (begun)
        putchar('\n');
}

/* Calls |print| for each group that is shown. */
static void each_group(const struct starve_request *request, const struct starve *st, uint32_t v,
                       void (*print)(const struct starve *st, const struct starve_group *g))
{
    uint64_t left = request->top;

    for (uint32_t i = 0; i < st->group_count && left; i++)
        if (st->groups[st->order[i]].service == v && st->groups[st->order[i]].calls && left--)
            print(st, &st->groups[st->order[i]]);
}

static void text_service(const struct starve_request *request, const struct starve *st, uint32_t v)
{
    const struct starve_service *s = &st->services[v];
    char calls[VALUE_TEXT_MAX], active[VALUE_TEXT_MAX];

    printf("%s port %d: %s %s; at most %" PRIu64 " outstanding, %.2f on average in the %s in"
           " which there were any\n"
           "    share       calls    contents     mean   most  most bytes       p50       p99"
           "  in queue  %s\n",
           s->server, s->port, count_text(s->calls, calls), s->calls == 1 ? "call" : "calls",
           s->most, ratio(s->busy, s->active), duration_text((int64_t)s->active, active),
           by_names[request->by]);
    each_group(request, st, v, text_group);
    if (s->groups > request->top)
        printf("  and %" PRIu64 " more; --top shows more\n", s->groups - request->top);
    if (s->groups > 1)
        puts("  mean latency by the number of calls of others that were outstanding:");
    each_group(request, st, v, text_others);
    if (s->groups > 1 && has_queues(st, v)) {
        puts("  behind whose calls the time in the queue was, parts of 1 % and above:");
        each_group(request, st, v, text_behind);
    }
    putchar('\n');
}

static void text_findings(const struct starve *st)
{
    char a[ADDRESS_TEXT_MAX + 16], b[ADDRESS_TEXT_MAX + 16];

    for (uint32_t i = 0; i < st->finding_count; i++) {
        const struct starve_group *g = &st->groups[st->findings[i].victim];
        const struct starve_group *by = &st->groups[st->findings[i].by];

        printf("%s waits for %s: %.0f %% of its latency is time in the queue, %.0f %% of that "
               "behind calls of %s, which has %.0f %% of the time and it has %.0f %%\n",
               name_of(g, a), name_of(by, b), 100 * ratio(g->queued, g->busy),
               100 * ratio(g->behind[by->top], g->queued), b, 100 * part(st, by),
               100 * part(st, g));
    }
}

/* Of a group: its service, at the end of a line. */
static void text_at(const struct starve *st, uint32_t group)
{
    const struct starve_service *s = &st->services[st->groups[group].service];

    printf(" at %s port %d\n", s->server, s->port);
}

static void text_intervals(const struct starve_request *request, const struct starve *st)
{
    char time[VALUE_TEXT_MAX], calls[VALUE_TEXT_MAX], bytes[VALUE_TEXT_MAX],
        latency[VALUE_TEXT_MAX], name[ADDRESS_TEXT_MAX + 16];

    if (st->intervals)
        printf("%-29s %11s %11s %11s %9s  %s\n", "interval", "outstanding", "calls", "contents",
               "latency", by_names[request->by]);
    for (uint32_t i = 0; i < st->intervals; i++)
        for (uint32_t k = 0; k < st->first_count; k++) {
            const struct starve_cell *c = &st->cells[(size_t)i * STARVE_TOP + k];

            if (!c->calls && !(c->busy > 0))
                continue;
            printf("%-29s %11.2f %11s %11s %9s  %s",
                   time_text(st->begin + (int64_t)i * request->every, time),
                   c->busy / (double)request->every, count_text(c->calls, calls),
                   size_text(c->bytes, bytes),
                   c->calls ? duration_text((int64_t)(c->latency / (double)c->calls), latency)
                            : "-",
                   name_of(&st->groups[st->first[k]], name));
            text_at(st, st->first[k]);
        }
    if (st->intervals)
        putchar('\n');
}

/* During an outage, all calls seem to wait for each other. */
static void text_silence(const struct starve *st)
{
    char length[VALUE_TEXT_MAX], since[VALUE_TEXT_MAX];

    if (st->silence >= STARVE_SILENCE)
        printf("%s port %d answered nobody for %s, from %s on: if that was an outage, leave it out"
               " with --from and --to, for calls then seem to queue behind each other\n",
               st->services[st->silent].server, st->services[st->silent].port,
               duration_text(st->silence, length), time_text(st->silence_since, since));
}

int starve_text(const struct starve_request *request, const struct starve *st, struct err *err)
{
    (void)err;
    for (uint32_t v = 0; v < st->service_count; v++)
        if (st->services[v].calls)
            text_service(request, st, v);
    text_intervals(request, st);
    text_findings(st);
    if (!st->finding_count)
        printf("no %s waits mainly for another one\n", whose[request->by]);
    text_silence(st);
    if (st->unanswered)
        printf("calls without a reply, which are in no figure: %" PRIu64 "\n", st->unanswered);
    return 0;
}

static void json_double(struct json *j, const char *key, double value)
{
    json_number(j, key, "%.6g", value);
}

static void json_group_name(struct json *j, const struct starve_group *g)
{
    json_text(j, "client", g->label ? NULL : g->client);
    if (g->port)
        json_i64(j, "client_port", g->port);
    else
        json_null(j, "client_port");
    json_text(j, "export", g->label && g->number != EXPORT_NONE ? g->label : NULL);
}

static void json_group(struct json *j, const struct starve *st, uint32_t index)
{
    const struct starve_group *g = &st->groups[index];

    json_object(j, NULL);
    json_group_name(j, g);
    json_u64(j, "calls", g->calls);
    json_u64(j, "bytes", g->bytes);
    json_double(j, "share", part(st, g));
    json_i64(j, "active", (int64_t)g->active);
    json_double(j, "outstanding_mean", ratio(g->busy, g->active));
    json_u64(j, "outstanding_most", g->most);
    json_u64(j, "outstanding_bytes_most", g->most_bytes);
    json_i64(j, "latency_mean", (int64_t)ratio(g->busy, (double)g->calls));
    json_i64(j, "latency_p50", starve_latency_at(g->latencies, 50));
    json_i64(j, "latency_p99", starve_latency_at(g->latencies, 99));
    json_double(j, "queueing", ratio(g->queued, g->busy));
    json_array(j, "behind");
    for (uint32_t i = 0; i < st->first_count; i++) {
        const struct starve_group *by = &st->groups[st->first[i]];

        if (by->service != g->service || !(g->behind[i] > 0))
            continue;
        json_object(j, NULL);
        json_group_name(j, by);
        json_double(j, "part", ratio(g->behind[i], g->queued));
        json_object_end(j);
    }
    json_array_end(j);
    json_array(j, "by_others");
    for (unsigned i = 0; i < STARVE_BUCKETS; i++) {
        if (!g->by_others[i].calls)
            continue;
        json_object(j, NULL);
        json_u64(j, "from", bucket_from(i));
        json_u64(j, "calls", g->by_others[i].calls);
        json_i64(j, "latency_mean",
                 (int64_t)(g->by_others[i].latency / (double)g->by_others[i].calls));
        json_object_end(j);
    }
    json_array_end(j);
    json_object_end(j);
}

static void json_service(struct json *j, const struct starve_request *request,
                         const struct starve *st, uint32_t v)
{
    const struct starve_service *s = &st->services[v];
    uint64_t left = request->top;

    json_object(j, NULL);
    json_text(j, "server", s->server);
    json_i64(j, "port", s->port);
    json_u64(j, "calls", s->calls);
    json_i64(j, "active", (int64_t)s->active);
    json_double(j, "outstanding_mean", ratio(s->busy, s->active));
    json_u64(j, "outstanding_most", s->most);
    json_u64(j, "groups", s->groups);
    json_array(j, "shares");
    for (uint32_t i = 0; i < st->group_count && left; i++)
        if (st->groups[st->order[i]].service == v && st->groups[st->order[i]].calls && left--)
            json_group(j, st, st->order[i]);
    json_array_end(j);
    json_object_end(j);
}

static void json_who(struct json *j, const struct starve *st, uint32_t group)
{
    const struct starve_group *g = &st->groups[group];

    json_text(j, "server", st->services[g->service].server);
    json_i64(j, "port", st->services[g->service].port);
    json_group_name(j, g);
}

static void json_intervals(struct json *j, const struct starve_request *request,
                           const struct starve *st)
{
    json_array(j, "intervals");
    for (uint32_t i = 0; i < st->intervals; i++)
        for (uint32_t k = 0; k < st->first_count; k++) {
            const struct starve_cell *c = &st->cells[(size_t)i * STARVE_TOP + k];

            if (!c->calls && !(c->busy > 0))
                continue;
            json_object(j, NULL);
            json_i64(j, "time", st->begin + (int64_t)i * request->every);
            json_who(j, st, st->first[k]);
            json_double(j, "outstanding_mean", c->busy / (double)request->every);
            json_u64(j, "calls", c->calls);
            json_u64(j, "bytes", c->bytes);
            json_i64(j, "latency_mean", (int64_t)ratio(c->latency, (double)c->calls));
            json_object_end(j);
        }
    json_array_end(j);
}

int starve_json(const char *name, const struct starve_request *request, const struct starve *st,
                struct err *err)
{
    struct json j = { .out = stdout, .indented = true };

    json_object(&j, NULL);
    json_file(&j, "trace", name);
    json_u64(&j, "unanswered", st->unanswered);
    if (st->silence >= STARVE_SILENCE) {
        json_object(&j, "silence");
        json_text(&j, "server", st->services[st->silent].server);
        json_i64(&j, "port", st->services[st->silent].port);
        json_i64(&j, "since", st->silence_since);
        json_i64(&j, "length", st->silence);
        json_object_end(&j);
    } else {
        json_null(&j, "silence");
    }
    json_array(&j, "services");
    for (uint32_t v = 0; v < st->service_count; v++)
        if (st->services[v].calls)
            json_service(&j, request, st, v);
    json_array_end(&j);
    json_intervals(&j, request, st);
    json_array(&j, "findings");
    for (uint32_t i = 0; i < st->finding_count; i++) {
        json_object(&j, NULL);
        json_object(&j, "victim");
        json_who(&j, st, st->findings[i].victim);
        json_object_end(&j);
        json_object(&j, "behind");
        json_who(&j, st, st->findings[i].by);
        json_object_end(&j);
        json_object_end(&j);
    }
    json_array_end(&j);
    json_object_end(&j);
    json_end(&j);
    return j.failed ? err_memory(err, "clients") : 0;
}
