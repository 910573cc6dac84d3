/* SPDX-License-Identifier: GPL-2.0-or-later */
/* postproc/compare/sides.c
 *
 * The two trace databases of a comparison: attached, identified by the digests of what they were
 * made of, described in table side, and their clients matched.  Also decides with which side
 * matching begins, whatever the order in which they were named.  For compare.c.  The contract is in
 * compare_parts.h.
 */
#include "compare/compare_parts.h"

#include "store/store.h"

#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <xxhash.h>

static const char *const schemas[SIDES] = { "ref", "sut" };

static int attach(struct compare *c, int side, const char *path, struct err *err)
{
    char *sql = sqlite3_mprintf("ATTACH ?1 AS %s", schemas[side]);
    struct store *store = store_open(path, STORE_READ, err); /* says what is wrong with it */
    sqlite3_stmt *stmt;
    int result;

    if (!store || !sql) {
        sqlite3_free(sql);
        store_close(store);
        return sql ? -err->code : err_memory(err, "a statement");
    }
    store_close(store);
    result = sql_prepare(c->db, sql, &stmt, err);
    sqlite3_free(sql);
    if (result < 0)
        return result;
    sqlite3_bind_text(stmt, 1, path, -1, SQLITE_STATIC);
    result = sql_step(stmt, err);
    sqlite3_finalize(stmt);
    return result < 0 ? err_prefix(err, "%s", path) : 0;
}

static int check_server(struct compare *c, int side, const struct compare_input *input,
                        struct err *err)
{
    sqlite3_stmt *stmt;
    char sql[128];
    int result;

    if (!input->server)
        return 0;
    c->side[side].server = strdup(input->server);
    if (!c->side[side].server)
        return err_memory(err, "a server's name");
    snprintf(sql, sizeof(sql), "SELECT 1 FROM %s.flow WHERE server = ?1 LIMIT 1", schemas[side]);
    if (sql_prepare(c->db, sql, &stmt, err) < 0)
        return -err->code;
    sql_bind_text(stmt, 1, input->server);
    result = sql_row(stmt, err);
    sqlite3_finalize(stmt);
    return result ? (result < 0 ? result : 0)
                  : err_set(err, ERR_USAGE, "%s: no server has the address %s", input->database,
                            input->server);
}

/* What identifies the database: the digests of what it was made of. */
static int digest_sources(struct compare *c, int side, char text[33], struct err *err)
{
    XXH128_hash_t hash = { 0, 0 };
    sqlite3_stmt *stmt;
    char sql[128];
    int result;

    snprintf(sql, sizeof(sql), "SELECT digest FROM %s.source ORDER BY id", schemas[side]);
    if (sql_prepare(c->db, sql, &stmt, err) < 0)
        return -err->code;
    while ((result = sql_row(stmt, err)) > 0) {
        struct bytes digest = sql_column_bytes(stmt, 0);

        hash = XXH3_128bits_withSeed(digest.data, digest.len, hash.low64 ^ hash.high64);
    }
    sqlite3_finalize(stmt);
    snprintf(text, 33, "%016llx%016llx", (unsigned long long)hash.high64,
             (unsigned long long)hash.low64);
    return result;
}

/* When the captures of a side began. */
static int find_begin(struct compare *c, int side, int64_t *time, struct err *err)
{
    const char *server = c->side[side].server;
    char *sql = server ? sqlite3_mprintf("SELECT min(time) FROM %s.flow WHERE server = %Q",
                                         schemas[side], server)
                       : sqlite3_mprintf("SELECT min(time) FROM %s.flow", schemas[side]);
    int result = sql ? sql_number(c->db, sql, 0, time, err) : err_memory(err, "a statement");

    sqlite3_free(sql);
    return result;
}

/* By what the databases are made of, not by what they are called. */
static int find_first(struct compare *c, const struct compare_input input[SIDES], struct err *err)
{
    int64_t begin[SIDES], operations[SIDES];
    char digest[SIDES][33], sql[64], path[SIDES][PATH_MAX];
    int order = 0;

    for (int side = 0; side < SIDES; side++) {
        snprintf(sql, sizeof(sql), "SELECT count(*) FROM %s.operation", schemas[side]);
        if (find_begin(c, side, &begin[side], err) < 0 ||
            digest_sources(c, side, digest[side], err) < 0 ||
            sql_number(c->db, sql, 0, &operations[side], err) < 0)
            return -err->code;
        if (!realpath(input[side].database, path[side]))
            snprintf(path[side], sizeof(path[side]), "%s", input[side].database);
    }
    if (begin[REF] != begin[SUT])
        order = begin[REF] < begin[SUT] ? -1 : 1;
    if (!order)
        order = strcmp(digest[REF], digest[SUT]);
    if (!order && operations[REF] != operations[SUT])
        order = operations[REF] > operations[SUT] ? -1 : 1;
    if (!order && c->side[REF].server && c->side[SUT].server)
        order = strcmp(c->side[REF].server, c->side[SUT].server);
    if (!order)
        order = strcmp(path[REF], path[SUT]);
    c->first = order > 0 ? SUT : REF;
    return 0;
}

int sides_attach(struct compare *c, const struct compare_options *o,
                 const struct compare_input input[SIDES], struct err *err)
{
    for (int side = 0; side < SIDES; side++) {
        const char *file = input[side].database;

        c->side[side].schema = schemas[side];
        if ((o->find && o->find(o->find_ctx, input[side].database, &file, err) < 0) ||
            attach(c, side, file, err) < 0 || check_server(c, side, &input[side], err) < 0)
            return -err->code;
    }
    if (find_first(c, input, err) < 0)
        return -err->code;
    return sql_run(c->db, "PRAGMA ref.cache_size = -16384; PRAGMA sut.cache_size = -16384;", err);
}

int sides_check(struct compare *c, struct err *err)
{
    for (int side = 0; side < SIDES; side++) {
        char sql[128], digest[33];
        int64_t same;

        if (digest_sources(c, side, digest, err) < 0)
            return -err->code;
        snprintf(sql, sizeof(sql), "SELECT digest = '%s' FROM main.side WHERE id = %d", digest,
                 db_side(side));
        if (sql_number(c->db, sql, 0, &same, err) < 0)
            return -err->code;
        if (!same)
            return err_set(err, ERR_INPUT,
                           "the %s database has changed since: compare the databases again",
                           schemas[side]);
    }
    return 0;
}

static int put_side(struct compare *c, int side, const struct compare_input *input, struct err *err)
{
    const struct compare_side *s = &c->side[side];
    char path[PATH_MAX], digest[33], sql[256];
    sqlite3_stmt *stmt;
    int result;

    if (!realpath(input->database, path))
        snprintf(path, sizeof(path), "%s", input->database);
    if (digest_sources(c, side, digest, err) < 0 ||
        sql_prepare(c->db, "INSERT INTO main.side VALUES (?,?,?,?,?,?,?,?,?,?,?,?)", &stmt, err) <
            0)
        return -err->code;
    sqlite3_bind_int(stmt, 1, db_side(side));
    sql_bind_text(stmt, 2, schemas[side]);
    sql_bind_text(stmt, 3, input->database);
    sql_bind_text(stmt, 4, path);
    sql_bind_text(stmt, 5, s->server);
    sql_bind_text(stmt, 6, digest);
    sqlite3_bind_int64(stmt, 7, s->operations);
    sql_bind_unless(stmt, 8, s->first_time, INT64_MAX);
    sql_bind_unless(stmt, 9, s->last_time, INT64_MIN);
    if (s->has_clock) {
        sqlite3_bind_int64(stmt, 10, s->clock_offset);
        sqlite3_bind_int64(stmt, 11, s->clock_error);
        sqlite3_bind_int64(stmt, 12, s->granularity);
    }
    result = sql_step(stmt, err);
    sqlite3_finalize(stmt);
    snprintf(sql, sizeof(sql),
             "INSERT INTO main.source SELECT %d, id, name, digest, frames FROM %s.source",
             db_side(side), schemas[side]);
    if (result < 0 || steps_write(&s->steps, c->db, side, err) < 0)
        return -err->code;
    return sql_run(c->db, sql, err);
}

int sides_put(struct compare *c, const struct compare_input input[SIDES], struct err *err)
{
    for (int side = 0; side < SIDES; side++)
        if (put_side(c, side, &input[side], err) < 0)
            return -err->code;
    return 0;
}

/* --- clients */

static int put_client(struct compare *c, const char *ref, const char *sut, struct err *err)
{
    sqlite3_stmt *stmt;
    int result;

    if (sql_prepare(c->db, "INSERT INTO main.client (ref, sut) VALUES (?,?)", &stmt, err) < 0)
        return -err->code;
    sql_bind_text(stmt, 1, ref);
    sql_bind_text(stmt, 2, sut);
    result = sql_step(stmt, err);
    sqlite3_finalize(stmt);
    return result;
}

static int has_client(struct compare *c, int side, const char *address, struct err *err)
{
    sqlite3_stmt *stmt;
    char sql[128];
    int result;

    snprintf(sql, sizeof(sql), "SELECT 1 FROM temp.client%d WHERE address = ?1", db_side(side));
    if (sql_prepare(c->db, sql, &stmt, err) < 0)
        return -err->code;
    sql_bind_text(stmt, 1, address);
    result = sql_row(stmt, err);
    sqlite3_finalize(stmt);
    return result;
}

/* Each client has one counterpart. */
static int check_mapped(struct compare *c, const char *map, int side, const char *address,
                        struct err *err)
{
    sqlite3_stmt *stmt;
    int result;

    if (sql_prepare(c->db,
                    side == REF ? "SELECT 1 FROM main.client WHERE ref = ?1"
                                : "SELECT 1 FROM main.client WHERE sut = ?1",
                    &stmt, err) < 0)
        return -err->code;
    sql_bind_text(stmt, 1, address);
    result = sql_row(stmt, err);
    sqlite3_finalize(stmt);
    return result > 0 ? err_set(err, ERR_USAGE,
                                "--client-map %.130s: the client %.64s of %s is mapped already",
                                map, address, side == REF ? "REF" : "SUT")
                      : result;
}

static int put_mapped(struct compare *c, const char *map, struct err *err)
{
    const char *equals = strchr(map, '=');
    char ref[64];
    int found[SIDES];

    if (!equals || equals == map || !equals[1] || (size_t)(equals - map) >= sizeof(ref))
        return err_set(err, ERR_USAGE, "--client-map takes REF=SUT, not \"%.100s\"", map);
    snprintf(ref, sizeof(ref), "%.*s", (int)(equals - map), map);
    found[REF] = has_client(c, REF, ref, err);
    found[SUT] = has_client(c, SUT, equals + 1, err);
    if (found[REF] < 0 || found[SUT] < 0)
        return -err->code;
    if (!found[REF] || !found[SUT])
        return err_set(err, ERR_USAGE, "--client-map: no client has the address %.64s",
                       found[REF] ? equals + 1 : ref);
    if (check_mapped(c, map, REF, ref, err) < 0 || check_mapped(c, map, SUT, equals + 1, err) < 0)
        return -err->code;
    return put_client(c, ref, equals + 1, err);
}

/* Clients come in the order of their first frames. */
static const char find_clients[] =
    "CREATE TEMP TABLE client%d (number INTEGER PRIMARY KEY, address TEXT NOT NULL);"
    "INSERT INTO temp.client%d (address) SELECT client FROM %s.flow WHERE %s GROUP BY client"
    " ORDER BY min(ifnull(time, 0)), client;";

int clients_match(struct compare *c, const struct compare_options *options, struct err *err)
{
    for (int side = 0; side < SIDES; side++) {
        char *where = c->side[side].server ? sqlite3_mprintf("server = %Q", c->side[side].server)
                                           : sqlite3_mprintf("1");
        char *sql = where ? sqlite3_mprintf(find_clients, db_side(side), db_side(side),
                                            schemas[side], where)
                          : NULL;
        int result = sql ? sql_run(c->db, sql, err) : err_memory(err, "a statement");

        sqlite3_free(where);
        sqlite3_free(sql);
        if (result < 0)
            return result;
    }
    for (uint32_t i = 0; i < options->client_count; i++)
        if (put_mapped(c, options->clients[i], err) < 0)
            return -err->code;
    return sql_run(
        c->db,
        "INSERT INTO main.client (ref, sut) SELECT r.address, s.address FROM temp.client1 r"
        " JOIN temp.client2 s ON s.address = r.address WHERE r.address NOT IN"
        " (SELECT ref FROM main.client) AND s.address NOT IN (SELECT sut FROM main.client)"
        " ORDER BY min(r.number, s.number), r.address;"
        /* what is left, in pairs */
        "WITH r AS (SELECT address, row_number() OVER (ORDER BY number) AS n FROM temp.client1"
        "  WHERE address NOT IN (SELECT ref FROM main.client)),"
        " s AS (SELECT address, row_number() OVER (ORDER BY number) AS n FROM temp.client2"
        "  WHERE address NOT IN (SELECT sut FROM main.client))"
        " INSERT INTO main.client (ref, sut) SELECT r.address, s.address FROM r"
        " FULL JOIN s ON s.n = r.n ORDER BY ifnull(r.n, s.n);",
        err);
}
