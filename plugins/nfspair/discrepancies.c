/* SPDX-License-Identifier: GPL-2.0-or-later */
/* plugins/nfspair/discrepancies.c
 *
 * The result of a comparison, by frame: which rows of the database are about a message.  For
 * show_discrepancies.c and the menu; knows nothing of Wireshark.  The contract is in
 * discrepancies.h.
 */
#include "discrepancies.h"

#include "base/bytes.h"
#include "record/compare_file.h"

#include <errno.h>
#include <sqlite3.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#define NO_TIME INT64_MIN

enum {
    TEXT_MOST = 1 << 16,   /* bytes of a value; SQLite reads no longer one */
    TIME_TOLERANCE = 1000, /* ns: not everybody rounds finer units alike */
};

/* A frame that the database speaks of. */
struct place {
    int64_t time; /* ns, or NO_TIME */
    uint32_t frame;
    bool seen; /* the open capture has it, with this time */
};

/* A capture of one side. */
struct capture {
    int side;
    int64_t source;
    char *name;
    void *digest;
    int digest_len;
    int64_t frames;
    struct buf places; /* struct place, by frame */
    bool seen;         /* one of them was */
};

struct discrepancies {
    char *path;
    sqlite3 *db;
    sqlite3_stmt *find, *count;
    struct buf captures; /* struct capture */
};

static const char find_sql[] =
    "SELECT c.id, c.count, k.name, c.class, c.field, c.difference, d.element, d.ref_text,"
    " d.sut_text, c.reason, c.cause, r.text, c.is_noise, f.other_source, f.other_frame"
    " FROM main.frame f CROSS JOIN main.discrepancy d ON d.id = f.discrepancy"
    " CROSS JOIN main.discrepancy_group c ON c.id = d.discrepancy_group"
    " LEFT JOIN main.code k ON k.domain = 'kind' AND k.value = c.kind"
    " LEFT JOIN main.rule r ON r.id = c.rule"
    " WHERE f.side = ?1 AND f.source = ?2 AND f.frame = ?3 AND f.xid = ?4"
    " ORDER BY f.discrepancy LIMIT ?5";
static const char count_sql[] =
    "SELECT count(*) FROM main.frame WHERE side = ?1 AND source = ?2 AND frame = ?3 AND xid = ?4";
static const char captures_sql[] =
    "SELECT side, id, name, digest, frames FROM main.source WHERE side IN (1, 2)"
    " ORDER BY side, id";
static const char places_sql[] =
    "SELECT side, source, frame, time FROM main.frame ORDER BY side, source, frame";

static int sqlite_failure(const struct discrepancies *d, struct err *err)
{
    int code = sqlite3_errcode(d->db) & 0xff;
    bool bad = code == SQLITE_CORRUPT || code == SQLITE_NOTADB || code == SQLITE_ERROR ||
               code == SQLITE_TOOBIG;
    return err_set(err, bad ? ERR_INPUT : ERR_SYSTEM, "%s: %s", d->path, sqlite3_errmsg(d->db));
}

static int prepare(struct discrepancies *d, const char *sql, sqlite3_stmt **stmt, struct err *err)
{
    return sqlite3_prepare_v2(d->db, sql, -1, stmt, NULL) == SQLITE_OK ? 0 : sqlite_failure(d, err);
}

static int number(struct discrepancies *d, const char *sql, int64_t *value, struct err *err)
{
    sqlite3_stmt *stmt;
    if (prepare(d, sql, &stmt, err) < 0)
        return -err->code;
    int step = sqlite3_step(stmt);
    int result = step == SQLITE_ROW || step == SQLITE_DONE ? 0 : sqlite_failure(d, err);
    *value = step == SQLITE_ROW ? sqlite3_column_int64(stmt, 0) : 0;
    sqlite3_finalize(stmt);
    return result;
}

/* That it is what it should be, and its tables no views. */
static int check(struct discrepancies *d, struct err *err)
{
    int64_t id, version, tables;
    if (number(d, "PRAGMA application_id", &id, err) < 0 ||
        number(d, "PRAGMA user_version", &version, err) < 0)
        return -err->code;
    if (id != COMPARE_APPLICATION_ID)
        return err_set(err, ERR_INPUT,
                       "%s: not the result of a comparison (nfsdigest compare -o FILE)", d->path);
    if (version != COMPARE_VERSION)
        return err_set(err, ERR_INPUT,
                       "%s: a result of version %lld, and this plugin reads version %d", d->path,
                       (long long)version, COMPARE_VERSION);
    if (number(d,
               "SELECT count(*) FROM main.sqlite_master WHERE type = 'table' AND name IN"
               " ('frame', 'discrepancy', 'discrepancy_group', 'code', 'rule', 'source')",
               &tables, err) < 0)
        return -err->code;
    if (tables != 6)
        return err_set(err, ERR_INPUT, "%s: an incomplete result of a comparison", d->path);
    return 0;
}

static struct capture *captures(const struct discrepancies *d, size_t *count)
{
    *count = d->captures.len / sizeof(struct capture);
    return (struct capture *)d->captures.data;
}

static struct place *places(const struct capture *c, size_t *count)
{
    *count = c->places.len / sizeof(struct place);
    return (struct place *)c->places.data;
}

static struct capture *find_capture(const struct discrepancies *d, int side, int64_t source)
{
    size_t count;
    struct capture *c = captures(d, &count);
    for (size_t i = 0; i < count; i++)
        if (c[i].side == side && c[i].source == source)
            return &c[i];
    return NULL;
}

static int put_capture(struct discrepancies *d, sqlite3_stmt *row, struct err *err)
{
    const char *name = (const char *)sqlite3_column_text(row, 2);
    const void *digest = sqlite3_column_blob(row, 3);
    struct capture c = {
        .side = sqlite3_column_int(row, 0),
        .source = sqlite3_column_int64(row, 1),
        .name = strdup(name ? name : ""),
        .digest_len = sqlite3_column_bytes(row, 3),
        .frames = sqlite3_column_int64(row, 4),
    };
    c.digest = malloc((size_t)c.digest_len + 1);
    if (!c.name || !c.digest || buf_append(&d->captures, &c, sizeof c) < 0) {
        free(c.name);
        free(c.digest);
        return err_memory(err, "discrepancies");
    }
    if (c.digest_len)
        memcpy(c.digest, digest, (size_t)c.digest_len);
    return 0;
}

static int put_place(struct discrepancies *d, sqlite3_stmt *row, struct err *err)
{
    struct capture *c = find_capture(d, sqlite3_column_int(row, 0), sqlite3_column_int64(row, 1));
    int64_t frame = sqlite3_column_int64(row, 2);
    struct place place = {
        .time = sqlite3_column_type(row, 3) == SQLITE_NULL ? NO_TIME : sqlite3_column_int64(row, 3),
        .frame = (uint32_t)frame,
    };
    size_t count;
    if (!c)
        return 0; /* of the noise run */
    if (frame < 1 || frame > UINT32_MAX)
        return err_set(err, ERR_INPUT, "%s: it names frame %lld, which cannot exist", d->path,
                       (long long)frame);
    const struct place *known = places(c, &count);
    if (count && known[count - 1].frame == place.frame)
        return 0;
    return buf_append(&c->places, &place, sizeof place) < 0 ? err_memory(err, "discrepancies") : 0;
}

static int each_row(struct discrepancies *d, const char *sql,
                    int (*put)(struct discrepancies *d, sqlite3_stmt *row, struct err *err),
                    struct err *err)
{
    sqlite3_stmt *stmt;
    int step, result = prepare(d, sql, &stmt, err);
    if (result < 0)
        return result;
    while ((step = sqlite3_step(stmt)) == SQLITE_ROW && result == 0)
        result = put(d, stmt, err);
    if (result == 0 && step != SQLITE_DONE)
        result = sqlite_failure(d, err);
    sqlite3_finalize(stmt);
    return result;
}

/* The places of the other side are not asked for; its captures still name counterparts. */
static void keep_side(struct discrepancies *d, enum side_code side)
{
    size_t count;
    struct capture *c = captures(d, &count);
    for (size_t i = 0; i < count; i++)
        if (side != SIDE_BOTH && c[i].side != (int)side)
            buf_free(&c[i].places);
}

static int open_database(struct discrepancies *d, struct err *err)
{
    struct stat st;
    if (stat(d->path, &st) < 0 || access(d->path, R_OK) < 0)
        return err_set(err, ERR_INPUT, "%s: %s", d->path, strerror(errno));
    if (!S_ISREG(st.st_mode))
        return err_set(err, ERR_INPUT, "%s: not a file", d->path);
    if (sqlite3_open_v2(d->path, &d->db, SQLITE_OPEN_READONLY | SQLITE_OPEN_NOMUTEX, NULL) !=
        SQLITE_OK)
        return d->db ? sqlite_failure(d, err) : err_memory(err, "discrepancies");
    sqlite3_limit(d->db, SQLITE_LIMIT_LENGTH, TEXT_MOST);
    sqlite3_db_config(d->db, SQLITE_DBCONFIG_TRUSTED_SCHEMA, 0, NULL);
    return check(d, err);
}

struct discrepancies *discrepancies_open(const char *path, enum side_code side, struct err *err)
{
    struct discrepancies *d = calloc(1, sizeof *d);
    if (d)
        d->path = strdup(path);
    if (!d || !d->path) {
        err_memory(err, "discrepancies");
    } else if (open_database(d, err) == 0 && prepare(d, find_sql, &d->find, err) == 0 &&
               prepare(d, count_sql, &d->count, err) == 0 &&
               each_row(d, captures_sql, put_capture, err) == 0 &&
               each_row(d, places_sql, put_place, err) == 0) {
        keep_side(d, side);
        return d;
    }
    discrepancies_close(d);
    return NULL;
}

void discrepancies_close(struct discrepancies *d)
{
    size_t count;
    if (!d)
        return;
    struct capture *c = captures(d, &count);
    for (size_t i = 0; i < count; i++) {
        free(c[i].name);
        free(c[i].digest);
        buf_free(&c[i].places);
    }
    buf_free(&d->captures);
    sqlite3_finalize(d->find);
    sqlite3_finalize(d->count);
    sqlite3_close(d->db);
    free(d->path);
    free(d);
}

const char *discrepancies_path(const struct discrepancies *d)
{
    return d->path;
}

/* Index of the first place at |frame| or behind it. */
static size_t lower_bound(const struct capture *c, uint32_t frame)
{
    size_t from = 0, to;
    const struct place *p = places(c, &to);
    while (from < to) {
        size_t middle = from + (to - from) / 2;
        if (p[middle].frame < frame)
            from = middle + 1;
        else
            to = middle;
    }
    return from;
}

static struct place *find_place(const struct capture *c, uint32_t frame)
{
    size_t count, at = lower_bound(c, frame);
    struct place *p = places(c, &count);
    return at < count && p[at].frame == frame ? &p[at] : NULL;
}

static bool same_time(int64_t a, int64_t b)
{
    uint64_t apart = a < b ? (uint64_t)b - (uint64_t)a : (uint64_t)a - (uint64_t)b;
    return a == NO_TIME || apart < TIME_TOLERANCE;
}

void discrepancies_seen(struct discrepancies *d, uint32_t frame, int64_t time)
{
    size_t count;
    struct capture *c = captures(d, &count);
    for (size_t i = 0; i < count; i++) {
        struct place *p = find_place(&c[i], frame);
        if (p && same_time(p->time, time))
            c[i].seen = p->seen = true;
    }
}

bool discrepancies_fit(const struct discrepancies *d, uint32_t last, struct err *text)
{
    size_t count, places_count, all = 0;
    uint32_t first = UINT32_MAX;
    const struct capture *c = captures(d, &count);
    for (size_t i = 0; i < count; i++) {
        const struct place *p = places(&c[i], &places_count);
        if (c[i].seen || (!places_count && c[i].frames == last))
            return true;
        if (places_count && p[0].frame < first)
            first = p[0].frame;
        all += places_count;
    }
    if (!all)
        return true;
    if (first > last)
        err_set(text, ERR_INPUT,
                "%s: says nothing about the %u frames that were read: it begins with "
                "frame %u",
                d->path, last, first);
    else
        err_set(
            text, ERR_INPUT,
            "%s: is about other captures than this one: none of the %zu frames for which it has "
            "discrepancies is here with the same number and time",
            d->path, all);
    return false;
}

static const char *text(sqlite3_stmt *row, int column)
{
    return (const char *)sqlite3_column_text(row, column);
}

static bool same_file(const struct capture *a, const struct capture *b)
{
    return a->digest_len && a->digest_len == b->digest_len &&
           memcmp(a->digest, b->digest, (size_t)a->digest_len) == 0;
}

static struct discrepancy read_row(const struct discrepancies *d, const struct capture *c,
                                   sqlite3_stmt *row)
{
    int64_t other_frame = sqlite3_column_int64(row, 14);
    int other_side = c->side == SIDE_REF ? SIDE_SUT : SIDE_REF;
    const struct capture *other = find_capture(d, other_side, sqlite3_column_int64(row, 13));
    return (struct discrepancy){
        .group = (uint32_t)sqlite3_column_int64(row, 0),
        .count = (uint64_t)sqlite3_column_int64(row, 1),
        .side = c->side == SIDE_REF ? "ref" : "sut",
        .kind = text(row, 2) ? text(row, 2) : "unknown",
        .class = text(row, 3),
        .field = text(row, 4),
        .difference = text(row, 5),
        .element = text(row, 6),
        .ref = text(row, 7),
        .sut = text(row, 8),
        .explanation = text(row, 9),
        .cause = text(row, 10),
        .rule = text(row, 11),
        .is_noise = sqlite3_column_int(row, 12) != 0,
        .other_frame = other_frame > 0 && other_frame <= UINT32_MAX ? (uint32_t)other_frame : 0,
        .other_file = !other                ? "an unknown capture"
                      : same_file(c, other) ? NULL
                                            : other->name,
    };
}

static void bind(sqlite3_stmt *stmt, const struct capture *c, uint32_t frame, uint32_t xid)
{
    sqlite3_bind_int(stmt, 1, c->side);
    sqlite3_bind_int64(stmt, 2, c->source);
    sqlite3_bind_int64(stmt, 3, frame);
    sqlite3_bind_int64(stmt, 4, xid);
}

/* Of one capture; |*shown| goes on from capture to capture. */
static int64_t show_some(struct discrepancies *d, const struct capture *c, uint32_t frame,
                         uint32_t xid, uint32_t *shown, discrepancy_show show, void *ctx)
{
    int64_t all = 0;
    int step;
    bind(d->find, c, frame, xid);
    sqlite3_bind_int(d->find, 5, (int)(DISCREPANCIES_MOST - *shown));
    while ((step = sqlite3_step(d->find)) == SQLITE_ROW) {
        struct discrepancy found = read_row(d, c, d->find);
        found.number = ++*shown;
        all++;
        show(ctx, &found);
    }
    sqlite3_reset(d->find);
    if (step != SQLITE_DONE || *shown < DISCREPANCIES_MOST)
        return step == SQLITE_DONE ? all : -1;
    bind(d->count, c, frame, xid);
    all = sqlite3_step(d->count) == SQLITE_ROW ? sqlite3_column_int64(d->count, 0) : -1;
    sqlite3_reset(d->count);
    return all;
}

int64_t discrepancies_of(struct discrepancies *d, uint32_t frame, uint32_t xid,
                         discrepancy_show show, void *ctx, struct err *err)
{
    size_t count;
    uint32_t shown = 0;
    int64_t all = 0;
    const struct capture *c = captures(d, &count);
    for (size_t i = 0; i < count; i++) {
        const struct place *p = find_place(&c[i], frame);
        if (!p || !p->seen)
            continue;
        int64_t some = show_some(d, &c[i], frame, xid, &shown, show, ctx);
        if (some < 0)
            return sqlite_failure(d, err);
        all += some;
    }
    return all;
}

uint32_t discrepancies_next(const struct discrepancies *d, uint32_t frame)
{
    uint32_t nearest = 0;
    size_t count, places_count;
    const struct capture *c = captures(d, &count);
    for (size_t i = 0; frame < UINT32_MAX && i < count; i++) {
        const struct place *p = places(&c[i], &places_count);
        size_t at = lower_bound(&c[i], frame + 1);
        while (at < places_count && !p[at].seen)
            at++;
        if (at < places_count && (!nearest || p[at].frame < nearest))
            nearest = p[at].frame;
    }
    return nearest;
}

uint32_t discrepancies_previous(const struct discrepancies *d, uint32_t frame)
{
    uint32_t nearest = 0;
    size_t count, places_count;
    const struct capture *c = captures(d, &count);
    for (size_t i = 0; i < count; i++) {
        const struct place *p = places(&c[i], &places_count);
        size_t at = lower_bound(&c[i], frame);
        while (at > 0 && !p[at - 1].seen)
            at--;
        if (at > 0 && p[at - 1].frame > nearest)
            nearest = p[at - 1].frame;
    }
    return nearest;
}
