/* SPDX-License-Identifier: GPL-2.0-or-later */
/* postproc/compare/latency.c
 *
 * Latencies: the sorting is SQLite's, so that memory stays small; all procedures at once and by the
 * latency alone, because its sorting of one number is the fastest.
 */
#include "compare/found.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>

enum { PERCENTILES = 3, BUCKETS = 256 };
static const unsigned percents[PERCENTILES] = { 50, 90, 99 };

struct sums {
    const struct timed *timed;
    uint64_t rank;
    int64_t at[PERCENTILES], max;
    double sum;
    uint64_t buckets[BUCKETS];
};

static uint64_t rank_of(uint64_t n, unsigned percent)
{
    return (n * percent + 99) / 100;
}

static unsigned bucket_of(int64_t ns)
{
    int bucket = ns > 1000 ? (int)floor(4 * log2((double)ns / 1000)) : 0;

    return bucket < 0 ? 0 : bucket >= BUCKETS ? BUCKETS - 1 : (unsigned)bucket;
}

static int write_sums(struct pairs *p, sqlite3_stmt *latency, int side, const struct sums *s,
                      struct err *err)
{
    const struct timed *t = s->timed;
    const int64_t key[3] = { t->program, t->version, t->procedure->number };
    char sql[768], name[64];
    sqlite3_stmt *stmt;
    int result = 0;

    operation_words(t->program, t->procedure, name);
    for (unsigned i = 0; result == 0 && i < BUCKETS; i++) {
        if (!s->buckets[i])
            continue;
        sqlite3_bind_int(latency, 1, db_side(side));
        for (int k = 0; k < 3; k++)
            sqlite3_bind_int64(latency, 2 + k, key[k]);
        sqlite3_bind_int(latency, 5, (int)i);
        sqlite3_bind_int64(latency, 6, (int64_t)s->buckets[i]);
        result = sql_step(latency, err);
    }
    if (result < 0)
        return result;
    if (side == REF)
        snprintf(
            sql, sizeof(sql),
            "INSERT INTO main.performance VALUES (?1,?2,?3,?4,?5,?6,?7,?8,?9,?10,0,0,0,0,0,0)");
    else
        snprintf(sql, sizeof(sql),
                 "UPDATE main.performance SET sut_p50 = ?6, sut_p90 = ?7, sut_p99 = ?8,"
                 " sut_max = ?9, sut_mean = ?10, ratio = CASE WHEN ref_p50 > 0 THEN"
                 " 1.0 * ?6 / ref_p50 ELSE 0 END WHERE program = ?1 AND version = ?2"
                 " AND procedure = ?3 AND ?4 = operation AND ?5 = pairs");
    if (sql_prepare(p->c->db, sql, &stmt, err) < 0)
        return -err->code;
    for (int k = 0; k < 3; k++)
        sqlite3_bind_int64(stmt, 1 + k, key[k]);
    sql_bind_text(stmt, 4, name);
    sqlite3_bind_int64(stmt, 5, (int64_t)t->count);
    for (int k = 0; k < PERCENTILES; k++)
        sqlite3_bind_int64(stmt, 6 + k, s->at[k]);
    sqlite3_bind_int64(stmt, 9, s->max);
    sqlite3_bind_int64(stmt, 10, (int64_t)(s->sum / (double)t->count));
    result = sql_step(stmt, err);
    sqlite3_finalize(stmt);
    return result;
}

static void take(struct sums *s, int64_t ns)
{
    s->rank++;
    for (int k = 0; k < PERCENTILES; k++)
        if (s->rank == rank_of(s->timed->count, percents[k]))
            s->at[k] = ns;
    s->max = ns;
    s->sum += (double)ns;
    s->buckets[bucket_of(ns)]++;
}

/* |sums|: one for each of the procedures that have latencies. */
static int read_sums(struct pairs *p, int side, struct sums *sums, struct err *err)
{
    const struct found *f = p->found;
    sqlite3_stmt *stmt;
    char sql[96];
    int result;

    for (uint32_t i = 0; i < f->timed_count; i++)
        sums[i] = (struct sums){ .timed = &f->timed[i] };
    snprintf(sql, sizeof(sql), "SELECT %s, timed FROM temp.latency ORDER BY 1",
             p->c->side[side].schema);
    if (sql_prepare(p->c->db, sql, &stmt, err) < 0)
        return -err->code;
    while ((result = sql_row(stmt, err)) > 0)
        take(&sums[sqlite3_column_int64(stmt, 1)], sqlite3_column_int64(stmt, 0));
    sqlite3_finalize(stmt);
    return result;
}

static int write_side(struct pairs *p, int side, struct sums *sums, struct err *err)
{
    sqlite3_stmt *stmt;
    int result = read_sums(p, side, sums, err);

    if (result < 0 ||
        sql_prepare(p->c->db, "INSERT INTO main.latency VALUES (?,?,?,?,?,?)", &stmt, err) < 0)
        return -err->code;
    for (uint32_t i = 0; result == 0 && i < p->found->timed_count; i++)
        result = write_sums(p, stmt, side, &sums[i], err);
    sqlite3_finalize(stmt);
    return result;
}

int latency_write(struct pairs *p, struct err *err)
{
    const struct found *f = p->found;
    struct sums *sums = calloc(f->timed_count + 1, sizeof(*sums));
    sqlite3_stmt *stmt;
    int result = sums ? 0 : err_memory(err, "latencies");

    for (int side = 0; result == 0 && side < SIDES; side++)
        result = write_side(p, side, sums, err);
    free(sums);
    if (result < 0 ||
        sql_prepare(p->c->db, "INSERT INTO main.slowest VALUES (NULL,?,?,?,?,?)", &stmt, err) < 0)
        return -err->code;
    for (uint32_t i = 0; result == 0 && i < f->slow_count; i++) {
        const struct slow *s = &f->slowest[i];
        const int64_t values[] = { s->alignment, s->ref, s->sut, s->latency[REF], s->latency[SUT] };

        for (int k = 0; k < 5; k++)
            sqlite3_bind_int64(stmt, 1 + k, values[k]);
        result = sql_step(stmt, err);
    }
    sqlite3_finalize(stmt);
    return result;
}
