/* SPDX-License-Identifier: GPL-2.0-or-later */
/* postproc/cli/outage_lost.c
 *
 * Which WRITEs a server may have lost in an outage: acknowledged as UNSTABLE, not committed, and
 * neither written again nor gone with their file.  A server tells by its write verifier whether it
 * kept them (RFC 1813 s3.3.7, s3.3.21).  The contract is in outage.h.
 *
 * For each file, the ranges that nobody has committed yet stand in the order of their offsets and
 * do not overlap: a later WRITE replaces what it overlaps.
 */
#include "base/grow.h"
#include "base/table.h"
#include "cli/outage.h"
#include "cli/outage_lost.h"
#include "lint/lint_body.h"
#include "store/sql.h"

#include <stdlib.h>
#include <string.h>

struct range {
    uint64_t start, end;
    uint64_t verifier;
    int64_t by, done; /* operation, and when it was acknowledged */
    uint32_t service;
};

struct file {
    uint32_t object;
    struct range *ranges;
    uint32_t count, cap;
};

struct service { /* with outages: |first| to |first| + |count| of the list */
    uint32_t first, count, ended;
    bool has_verifier;
    uint64_t verifier; /* the last one */
};

struct lost {
    const struct outage_request *request;
    struct outages *outages;
    sqlite3_stmt *port_of;
    struct service *services;
    uint32_t service_count, service_cap;
    struct file *files;
    uint32_t file_count, file_cap;
    struct table by_object;
    uint64_t followed; /* ranges of all files */
};

static uint64_t hash(uint32_t object)
{
    return object * UINT64_C(0x9e3779b97f4a7c15);
}

static int list_services(struct lost *l, struct err *err)
{
    struct service *s = NULL;

    for (uint32_t i = 0; i < l->outages->count; i++) {
        const struct outage *o = &l->outages->list[i];

        if (!i || o->port != o[-1].port || strcmp(o->server, o[-1].server) != 0) {
            if (GROW(l->services, l->service_count, l->service_cap) < 0)
                return err_memory(err, "services");
            s = &l->services[l->service_count++];
            *s = (struct service){ .first = i };
        }
        s->count++;
    }
    return 0;
}

struct lost *lost_new(sqlite3 *db, const struct outage_request *request, struct outages *outages,
                      struct err *err)
{
    struct lost *l = calloc(1, sizeof(*l));

    if (!l) {
        err_memory(err, "uncommitted data");
        return NULL;
    }
    l->request = request;
    l->outages = outages;
    if (list_services(l, err) < 0 ||
        sql_prepare(db,
                    "SELECT f.server_port FROM operation o JOIN flow f ON f.id = o.flow"
                    " WHERE o.id = ?",
                    &l->port_of, err) < 0) {
        lost_free(l);
        return NULL;
    }
    return l;
}

void lost_free(struct lost *l)
{
    if (!l)
        return;
    for (uint32_t i = 0; i < l->file_count; i++)
        free(l->files[i].ranges);
    sqlite3_finalize(l->port_of);
    table_free(&l->by_object);
    free(l->files);
    free(l->services);
    free(l);
}

/* NULL: the effect's service has no outage. */
static int service_of(struct lost *l, const struct effect *e, struct service **to, struct err *err)
{
    bool known = false;
    int port, result;

    *to = NULL;
    for (uint32_t i = 0; i < l->service_count && !known; i++)
        known = strcmp(l->outages->list[l->services[i].first].server, e->server) == 0;
    if (!known)
        return 0;
    sqlite3_bind_int64(l->port_of, 1, e->id);
    result = sql_row(l->port_of, err);
    port = result > 0 ? sqlite3_column_int(l->port_of, 0) : 0;
    sqlite3_reset(l->port_of);
    for (uint32_t i = 0; result > 0 && i < l->service_count; i++) {
        const struct outage *o = &l->outages->list[l->services[i].first];

        if (o->port == port && strcmp(o->server, e->server) == 0)
            *to = &l->services[i];
    }
    return result < 0 ? result : 0;
}

static struct file *file_of(struct lost *l, uint32_t object, bool make, struct err *err)
{
    uint32_t at, slot;

    for (slot = table_first(&l->by_object, hash(object), &at); slot != TABLE_NONE;
         slot = table_next(&l->by_object, hash(object), &at))
        if (l->files[slot].object == object)
            return &l->files[slot];
    if (!make)
        return NULL;
    if (GROW(l->files, l->file_count, l->file_cap) < 0 ||
        table_add(&l->by_object, hash(object), l->file_count) < 0) {
        err_memory(err, "uncommitted data");
        return NULL;
    }
    l->files[l->file_count] = (struct file){ .object = object };
    return &l->files[l->file_count++];
}

/* The first range that ends behind |offset|. */
static uint32_t behind(const struct file *f, uint64_t offset)
{
    uint32_t low = 0, high = f->count;

    while (low < high) {
        uint32_t middle = low + (high - low) / 2;

        if (f->ranges[middle].end <= offset)
            low = middle + 1;
        else
            high = middle;
    }
    return low;
}

static int insert(struct lost *l, struct file *f, const struct range *range, struct err *err)
{
    uint32_t at = behind(f, range->start);

    if (l->followed >= LOST_RANGES) {
        l->outages->not_followed++;
        return 0;
    }
    if (GROW(f->ranges, f->count, f->cap) < 0)
        return err_memory(err, "uncommitted data");
    memmove(&f->ranges[at + 1], &f->ranges[at], (f->count - at) * sizeof(*f->ranges));
    f->ranges[at] = *range;
    f->count++;
    l->followed++;
    return 0;
}

/* |start| to |end| no longer matters. */
static int forget(struct lost *l, struct file *f, uint64_t start, uint64_t end, struct err *err)
{
    uint32_t from = behind(f, start), to = from;

    if (from == f->count || f->ranges[from].start >= end)
        return 0;
    if (f->ranges[from].start < start) {
        struct range rest = f->ranges[from];

        f->ranges[from++].end = start;
        if (rest.end > end) {
            rest.start = end;
            return insert(l, f, &rest, err);
        }
        to = from;
    }
    while (to < f->count && f->ranges[to].end <= end)
        to++;
    if (to < f->count && f->ranges[to].start < end)
        f->ranges[to].start = end;
    memmove(&f->ranges[from], &f->ranges[to], (f->count - to) * sizeof(*f->ranges));
    f->count -= to - from;
    l->followed -= to - from;
    return 0;
}

static void commit(struct lost *l, struct file *f, const struct effect *e, uint64_t verifier,
                   bool has_verifier)
{
    bool whole = e->arguments != WALK_OK;
    uint64_t end =
        whole || !e->count || e->count > UINT64_MAX - e->offset ? UINT64_MAX : e->offset + e->count;
    uint64_t start = whole ? 0 : e->offset;
    uint32_t kept = 0;

    for (uint32_t i = 0; i < f->count; i++) {
        const struct range *r = &f->ranges[i];

        if (r->start >= start && r->end <= end && r->done <= e->call_time &&
            (!has_verifier || r->verifier == verifier))
            continue;
        f->ranges[kept++] = *r;
    }
    l->followed -= f->count - kept;
    f->count = kept;
}

/* The first verifier after an outage tells if the server has kept what was not committed. */
static void note_verifier(struct lost *l, struct service *s, const struct effect *e,
                          uint64_t verifier)
{
    struct outage *list = &l->outages->list[s->first];

    while (s->ended < s->count && list[s->ended].end <= e->done_time)
        s->ended++;
    for (uint32_t i = 0; i < s->ended; i++)
        if (!list[i].has_verifier && e->call_time >= list[i].begin) {
            list[i].has_verifier = true;
            list[i].verifier = verifier;
            list[i].new_verifier = s->has_verifier && s->verifier != verifier;
        }
    s->has_verifier = true;
    s->verifier = verifier;
}

static int written(struct lost *l, struct service *s, const struct effect *e,
                   const struct lint_body *b, struct err *err)
{
    struct range range = { .start = e->offset,
                           .end = e->offset + e->done,
                           .by = e->id,
                           .done = e->done_time,
                           .service = (uint32_t)(s - l->services) };
    bool follow = b->has_committed && b->committed == UNSTABLE && b->has_verifier && e->has_done;
    struct file *f = file_of(l, e->object, follow, err);

    if (!f)
        return follow ? -err->code : 0;
    if (!e->has_done || range.end < range.start)
        range.end = UINT64_MAX;
    if (forget(l, f, range.start, range.end, err) < 0)
        return -err->code;
    if (!follow || range.end == range.start)
        return 0;
    range.verifier = load_be64(b->verifier);
    return insert(l, f, &range, err);
}

int lost_done(struct lost *l, const struct effect *e, struct err *err)
{
    enum action action = effect_action(e);
    struct service *s;
    struct lint_body b;
    struct file *f;

    if (!e->succeeded || !e->timed || !e->object)
        return 0;
    if (action == ACTION_SET && e->asked.bits & ASKED_SIZE && e->arguments == WALK_OK) {
        f = file_of(l, e->object, false, err);
        return f ? forget(l, f, e->asked.size, UINT64_MAX, err) : 0;
    }
    if (action != ACTION_WRITE && action != ACTION_FLUSH)
        return 0;
    if (service_of(l, e, &s, err) < 0)
        return -err->code;
    if (!s)
        return 0;
    lint_body_read(e, &b);
    if (b.has_verifier)
        note_verifier(l, s, e, load_be64(b.verifier));
    if (action == ACTION_WRITE)
        return written(l, s, e, &b, err);
    f = file_of(l, e->object, false, err);
    if (f)
        commit(l, f, e, b.has_verifier ? load_be64(b.verifier) : 0, b.has_verifier);
    return 0;
}

/* The outage that tells what became of the range, or NULL: the server has kept it. */
static struct outage *outage_of(struct lost *l, const struct range *r)
{
    const struct service *s = &l->services[r->service];
    struct outage *list = &l->outages->list[s->first], *unsure = NULL;

    for (uint32_t i = 0; i < s->count; i++) {
        if (list[i].begin < r->done)
            continue;
        if (list[i].has_verifier && list[i].verifier != r->verifier)
            return &list[i];
        if (list[i].has_verifier) /* kept in this outage, and in those before */
            unsure = NULL;
        else if (!unsure)
            unsure = &list[i];
    }
    return unsure;
}

struct found {
    struct outage *outage;
    struct outage_write write;
};

static int compare_found(const void *left, const void *right)
{
    const struct found *a = left, *b = right;

    if (a->write.operation != b->write.operation)
        return a->write.operation < b->write.operation ? -1 : 1;
    return a->write.offset < b->write.offset ? -1 : a->write.offset > b->write.offset;
}

/* Of a client that was asked for, and of a file that is still there: its last name was not removed.
 */
static const char still_matters[] =
    "SELECT 1 FROM operation o WHERE o.id = ?5 AND" TRAFFIC_OPERATION
    " AND ifnull((SELECT n.event FROM name_event n WHERE n.object = o.object"
    "  ORDER BY n.id DESC LIMIT 1), 0) <> 3";

static int keep(struct lost *l, const struct found *f, sqlite3_stmt *matters, struct err *err)
{
    struct outage *o = f->outage;
    int result;

    sqlite3_bind_int64(matters, 5, f->write.operation);
    result = sql_row(matters, err);
    sqlite3_reset(matters);
    if (result <= 0)
        return result;
    o->lost += o->lost_last != f->write.operation; /* they come in the order of operations */
    o->lost_last = f->write.operation;
    o->lost_bytes += f->write.count;
    if (o->lost > l->request->top)
        return 0;
    if (GROW(o->lost_writes, o->lost_count, o->lost_cap) < 0)
        return err_memory(err, "uncommitted data");
    o->lost_writes[o->lost_count++] = f->write;
    return 0;
}

int lost_end(struct lost *l, sqlite3 *db, struct err *err)
{
    struct found *found = NULL;
    uint64_t count = 0, cap = 0;
    sqlite3_stmt *matters;
    int result;

    if (traffic_prepare(&l->request->traffic, db, still_matters, &matters, err) < 0)
        return -err->code;
    result = GROW_TO(found, l->followed, cap) < 0 ? err_memory(err, "uncommitted data") : 0;
    for (uint32_t i = 0; result == 0 && i < l->file_count; i++)
        for (uint32_t k = 0; k < l->files[i].count; k++) {
            const struct range *r = &l->files[i].ranges[k];
            struct outage *o = outage_of(l, r);

            if (o)
                found[count++] = (struct found){ o, { r->by, r->start, r->end - r->start } };
        }
    if (count)
        qsort(found, count, sizeof(*found), compare_found);
    for (uint64_t i = 0; result == 0 && i < count; i++)
        result = keep(l, &found[i], matters, err);
    free(found);
    return sql_end(matters, result, err);
}
