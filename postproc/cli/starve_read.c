/* SPDX-License-Identifier: GPL-2.0-or-later */
/* postproc/cli/starve_read.c
 *
 * Goes through the calls and replies of a trace in the order of time, twice: first for service
 * times and the busiest groups, then for everything else.  Calls come from the database in their
 * order; a heap has those that are outstanding, the earliest reply first.  The contract is in
 * starve.h.
 */
#include "base/grow.h"
#include "cli/starve_groups.h"
#include "store/sql.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

struct call { /* that is outstanding */
    int64_t called, replied;
    uint32_t group;
    struct starve_kind kind;
    uint64_t bytes, moved; /* asked for or brought; that came or went */
    bool alone;
    uint8_t others;           /* place in |by_others| */
    double clock;             /* of the service, at the call */
    double share[STARVE_TOP]; /* of the first groups, at the call */
};

struct sweep {
    struct starve *starve;
    const struct starve_request *request;
    struct starve_times *times;
    bool second;
    struct starve_groups groups;
    struct call *calls;
    uint32_t call_count, call_cap;
    uint32_t *heap, *spare; /* indexes of calls: outstanding, free */
    uint32_t heap_count, heap_cap, spare_count, spare_cap;
};

static bool sooner(const struct sweep *s, uint32_t a, uint32_t b)
{
    return s->calls[s->heap[a]].replied < s->calls[s->heap[b]].replied;
}

static void swap(struct sweep *s, uint32_t a, uint32_t b)
{
    uint32_t keep = s->heap[a];

    s->heap[a] = s->heap[b];
    s->heap[b] = keep;
}

static int push(struct sweep *s, uint32_t call, struct err *err)
{
    uint32_t at = s->heap_count;

    if (GROW(s->heap, s->heap_count, s->heap_cap) < 0)
        return err_memory(err, "outstanding calls");
    s->heap[s->heap_count++] = call;
    for (; at && sooner(s, at, (at - 1) / 2); at = (at - 1) / 2)
        swap(s, at, (at - 1) / 2);
    return 0;
}

static uint32_t pop(struct sweep *s)
{
    uint32_t top = s->heap[0], at = 0;

    s->heap[0] = s->heap[--s->heap_count];
    for (uint32_t child; (child = 2 * at + 1) < s->heap_count; at = child) {
        if (child + 1 < s->heap_count && sooner(s, child + 1, child))
            child++;
        if (!sooner(s, child, at))
            break;
        swap(s, child, at);
    }
    return top;
}

/* Brings the clock of a service to |time|. */
static void advance(struct starve_service *v, int64_t time)
{
    double passed = (double)(time - v->since);

    if (v->now) {
        v->clock += passed / (double)v->now;
        v->busy += passed * (double)v->now;
        v->active += passed;
    }
    v->since = time;
}

/* Adds what was outstanding of a group since |g->since| to the cells of its intervals. */
static void fill_cells(struct sweep *s, const struct starve_group *g, int64_t time)
{
    struct starve *st = s->starve;
    int64_t every = s->request->every, from = g->since;

    while (st->cells && g->top >= 0 && g->now && from < time) {
        uint32_t i = (uint32_t)((from - st->begin) / every);
        int64_t end = st->begin + ((int64_t)i + 1) * every;

        if (end > time)
            end = time;
        st->cells[(size_t)i * STARVE_TOP + (size_t)g->top].busy +=
            (double)(end - from) * (double)g->now;
        from = end;
    }
}

/* Brings a group to |time|, up to which its service was brought. */
static void settle(struct sweep *s, struct starve_group *g, int64_t time)
{
    double clock = s->starve->services[g->service].clock;

    fill_cells(s, g, time);
    if (g->now) {
        g->share += (double)g->now * (clock - g->clock);
        g->active += (double)(time - g->since);
    }
    g->clock = clock;
    g->since = time;
}

static uint8_t bucket(uint64_t others)
{
    unsigned place = others ? 64 - (unsigned)__builtin_clzll(others) : 0;

    return (uint8_t)(place < STARVE_BUCKETS ? place : STARVE_BUCKETS - 1);
}

static void begin(struct sweep *s, struct call *c, uint32_t index)
{
    struct starve *st = s->starve;
    struct starve_group *g = &st->groups[c->group];
    struct starve_service *v = &st->services[g->service];

    advance(v, c->called);
    settle(s, g, c->called);
    if (v->alone != UINT32_MAX)
        s->calls[v->alone].alone = false;
    c->alone = !v->now;
    v->alone = v->now ? UINT32_MAX : index;
    c->others = bucket(v->now - g->now);
    c->clock = v->clock;
    for (uint32_t i = 0; s->second && i < st->first_count; i++) {
        struct starve_group *first = &st->groups[st->first[i]];

        if (first->service == g->service && first != g)
            settle(s, first, c->called);
        c->share[i] = first->share;
    }
    g->now++;
    g->now_bytes += c->bytes;
    v->now++;
    g->most = g->now > g->most ? g->now : g->most;
    g->most_bytes = g->now_bytes > g->most_bytes ? g->now_bytes : g->most_bytes;
    v->most = v->now > v->most ? v->now : v->most;
}

/* Divides what a call queued among the groups whose calls were outstanding meanwhile. */
static void blame(struct sweep *s, struct starve_group *g, const struct call *c, double queued)
{
    struct starve *st = s->starve;
    double own = st->services[g->service].clock - c->clock;
    double others = (double)(c->replied - c->called) - own;

    if (others <= 0)
        return;
    for (uint32_t i = 0; i < st->first_count; i++) {
        struct starve_group *first = &st->groups[st->first[i]];
        double part;

        if (first->service != g->service)
            continue;
        if (first != g)
            settle(s, first, c->replied);
        part = first->share - c->share[i] - (first == g ? own : 0);
        if (part > 0)
            g->behind[i] += queued * (part < others ? part / others : 1);
    }
}

static void note_cell(struct sweep *s, const struct starve_group *g, const struct call *c)
{
    struct starve *st = s->starve;
    struct starve_cell *cell;

    if (!st->cells || g->top < 0)
        return;
    cell = &st->cells[(size_t)((c->replied - st->begin) / s->request->every) * STARVE_TOP +
                      (size_t)g->top];
    cell->calls++;
    cell->bytes += c->moved;
    cell->latency += (double)(c->replied - c->called);
}

static void note_silence(struct starve *st, uint32_t service, const struct call *c)
{
    struct starve_service *v = &st->services[service];
    int64_t since = c->called > v->replied ? c->called : v->replied;

    if (c->replied - since > st->silence) {
        st->silence = c->replied - since;
        st->silence_since = since;
        st->silent = service;
    }
    v->replied = c->replied;
}

/* The next reply. */
static int end(struct sweep *s, struct err *err)
{
    uint32_t index = pop(s);
    struct call *c = &s->calls[index];
    struct starve_group *g = &s->starve->groups[c->group];
    struct starve_service *v = &s->starve->services[g->service];
    int64_t latency = c->replied - c->called, service;

    advance(v, c->replied);
    settle(s, g, c->replied);
    if (v->alone == index)
        v->alone = UINT32_MAX;
    if (s->second) {
        note_silence(s->starve, g->service, c);
        service = starve_times_service(s->times, &c->kind);
        if (latency > service) {
            g->queued += (double)(latency - service);
            blame(s, g, c, (double)(latency - service));
        }
        g->by_others[c->others].calls++;
        g->by_others[c->others].latency += (double)latency;
        starve_latency_note(g->latencies, latency);
        note_cell(s, g, c);
    }
    g->calls++;
    g->bytes += c->moved;
    g->busy += (double)latency;
    g->now--;
    g->now_bytes -= c->bytes;
    v->now--;
    v->calls++;
    if (GROW(s->spare, s->spare_count, s->spare_cap) < 0)
        return err_memory(err, "outstanding calls");
    s->spare[s->spare_count++] = index;
    return s->second ? 0 : starve_times_note(s->times, &c->kind, latency, c->alone, err);
}

static int take_call(struct sweep *s, sqlite3_stmt *stmt, struct err *err)
{
    const struct export_of of = { sqlite3_column_int64(stmt, 2), sqlite3_column_int64(stmt, 7),
                                  sqlite3_column_int64(stmt, 8), sqlite3_column_int64(stmt, 9) };
    uint32_t group, index;
    struct call *c;
    int result = 0;

    while (result == 0 && s->heap_count &&
           s->calls[s->heap[0]].replied <= sqlite3_column_int64(stmt, 0))
        result = end(s, err);
    if (result == 0)
        result = starve_groups_find(&s->groups, s->starve, &of, &group, err);
    if (result < 0 || group == UINT32_MAX)
        return result;
    if (!s->spare_count && GROW(s->calls, s->call_count, s->call_cap) < 0)
        return err_memory(err, "outstanding calls");
    index = s->spare_count ? s->spare[--s->spare_count] : s->call_count++;
    c = &s->calls[index];
    memset(c, 0, sizeof(*c));
    c->called = sqlite3_column_int64(stmt, 0);
    c->replied = sqlite3_column_int64(stmt, 1);
    c->group = group;
    c->bytes = (uint64_t)sqlite3_column_int64(stmt, 5);
    c->moved = (uint64_t)sqlite3_column_int64(stmt, 6);
    c->kind = (struct starve_kind){ s->starve->groups[c->group].service,
                                    (uint32_t)sqlite3_column_int64(stmt, 3),
                                    (uint32_t)sqlite3_column_int64(stmt, 4),
                                    c->moved ? c->moved : c->bytes };
    begin(s, c, index);
    return push(s, index, err);
}

static int run(struct sweep *s, sqlite3 *db, struct err *err)
{
    static const char sql[] =
        "SELECT o.call_time, o.reply_time, o.flow, o.program, o.procedure,"
        " CASE WHEN o.program = 100003 AND o.procedure IN (6, 7) THEN o.count END,"
        " CASE WHEN o.program = 100003 AND o.procedure IN (6, 7) THEN o.data_length END,"
        " o.path, o.object, o.new_object"
        " FROM operation o WHERE o.call_time IS NOT NULL AND o.reply_time >= o.call_time "
        "AND" TRAFFIC_OPERATION " ORDER BY ifnull(o.call_time, o.reply_time)";
    sqlite3_stmt *stmt;
    int result = traffic_prepare(&s->request->traffic, db, sql, &stmt, err);

    if (result < 0)
        return result;
    while ((result = sql_row(stmt, err)) > 0)
        if ((result = take_call(s, stmt, err)) < 0)
            break;
    while (result == 0 && s->heap_count)
        result = end(s, err);
    return sql_end(stmt, result, err);
}

/* Finds the groups that keep their service busiest, and forgets the first sweep. */
static void between(struct starve *st)
{
    for (uint32_t i = 0; i < st->group_count; i++) {
        struct starve_group *g = &st->groups[i];
        uint32_t at = st->first_count < STARVE_TOP ? st->first_count : STARVE_TOP;

        while (at && g->calls && st->groups[st->first[at - 1]].busy < g->busy) {
            if (at < STARVE_TOP)
                st->first[at] = st->first[at - 1];
            at--;
        }
        if (!g->calls || at == STARVE_TOP)
            continue;
        st->first[at] = i;
        st->first_count += st->first_count < STARVE_TOP;
    }
    for (uint32_t i = 0; i < st->service_count; i++) {
        struct starve_service *v = &st->services[i];

        v->calls = v->most = v->now = 0;
        v->busy = v->active = v->clock = 0;
        v->since = 0;
        v->alone = UINT32_MAX;
    }
    for (uint32_t i = 0; i < st->group_count; i++) {
        struct starve_group *g = &st->groups[i];

        st->services[g->service].groups += g->calls != 0;
        g->calls = g->bytes = g->most = g->most_bytes = 0;
        g->busy = g->active = g->share = g->clock = 0;
        g->since = 0;
    }
    for (uint32_t i = 0; i < st->first_count; i++)
        st->groups[st->first[i]].top = (int)i;
}

static int make_cells(struct starve *st, const struct starve_request *request, struct err *err)
{
    const struct traffic *t = &request->traffic;
    int64_t every = request->every;
    uint64_t count;

    if (every == INT64_MIN)
        return 0;
    st->begin = t->first - t->first % every;
    count = (uint64_t)(t->last - st->begin) / (uint64_t)every + 1;
    if (count > STARVE_INTERVALS_MAX)
        return err_set(err, ERR_USAGE, "--every: more than %d intervals", STARVE_INTERVALS_MAX);
    st->intervals = (uint32_t)count;
    st->cells = calloc((size_t)count * STARVE_TOP, sizeof(*st->cells));
    return st->cells ? 0 : err_memory(err, "intervals");
}

static double part(const struct starve *st, const struct starve_group *g)
{
    const struct starve_service *v = &st->services[g->service];

    return v->active > 0 ? g->share / v->active : 0;
}

static int compare(const void *a, const void *b, void *ctx)
{
    const struct starve *st = ctx;
    uint32_t x = *(const uint32_t *)a, y = *(const uint32_t *)b;
    double p = part(st, &st->groups[x]), q = part(st, &st->groups[y]);

    return p != q ? (p < q ? 1 : -1) : (x > y) - (x < y);
}

/* Most of a victim's latency is queueing, for a twentieth of the service's time or longer; most of
 * that is behind one other group; and that one has more than twice its share. */
static int conclude(struct starve *st, struct err *err)
{
    st->order = malloc(((size_t)st->group_count + 1) * sizeof(*st->order));
    if (!st->order)
        return err_memory(err, "clients");
    for (uint32_t i = 0; i < st->group_count; i++)
        st->order[i] = i;
    qsort_r(st->order, st->group_count, sizeof(*st->order), compare, st);
    for (uint32_t k = 0; k < st->group_count; k++) {
        const struct starve_group *g = &st->groups[st->order[k]];

        for (uint32_t i = 0; i < st->first_count; i++) {
            const struct starve_group *by = &st->groups[st->first[i]];

            if (by == g || g->queued * 2 < g->busy ||
                g->queued * 20 < st->services[g->service].active || g->behind[i] * 2 < g->queued ||
                !(g->behind[i] > 0) || part(st, by) < 2 * part(st, g))
                continue;
            if (GROW(st->findings, st->finding_count, st->finding_cap) < 0)
                return err_memory(err, "findings");
            st->findings[st->finding_count++] =
                (struct starve_finding){ st->order[k], st->first[i] };
        }
    }
    return 0;
}

/* Only those that the user asked for, as the sweeps. */
static int count_unanswered(sqlite3 *db, const struct starve_request *request, struct starve *st,
                            struct err *err)
{
    static const char sql[] = "SELECT count(*) FROM operation o WHERE o.pairing <> 0"
                              " AND o.reply_frame IS NULL AND" TRAFFIC_OPERATION;
    sqlite3_stmt *stmt;
    int result = traffic_prepare(&request->traffic, db, sql, &stmt, err);

    if (result < 0)
        return result;
    if ((result = sql_row(stmt, err)) > 0)
        st->unanswered = (uint64_t)sqlite3_column_int64(stmt, 0);
    return sql_end(stmt, result < 0 ? result : 0, err);
}

int starve_read(sqlite3 *db, const struct starve_request *request, struct starve *st,
                struct err *err)
{
    struct sweep s = { .starve = st, .request = request };
    int result;

    *st = (struct starve){ .begin = 0 };
    result = starve_groups_begin(&s.groups, st, request->by, db, err);
    if (result == 0 && !(s.times = starve_times_new(st->service_count, err)))
        result = -err->code;
    if (result == 0)
        result = run(&s, db, err);
    if (result == 0)
        result = make_cells(st, request, err);
    s.second = true;
    if (result == 0) {
        between(st);
        result = run(&s, db, err);
    }
    if (result == 0)
        result = conclude(st, err);
    if (result == 0)
        result = count_unanswered(db, request, st, err);
    starve_times_free(s.times);
    starve_groups_free(&s.groups);
    free(s.calls);
    free(s.heap);
    free(s.spare);
    return result;
}

void starve_free(struct starve *st)
{
    for (uint32_t i = 0; i < st->group_count; i++)
        free(st->groups[i].label);
    free(st->services);
    free(st->groups);
    free(st->order);
    free(st->findings);
    free(st->cells);
}
