/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "plan/concurrency_latency.h"
#include "store/sql.h"
#include "store/store.h"
#include "wire/field.h"
#include "wire/nfs3_numbers.h"

#include <math.h>
#include <stdlib.h>

/* Latencies up to 2^40 ns (18 minutes) by their highest 9 bits; longer ones in the last place. */
enum { FINE_BITS = 8, OCTAVES = 33, PLACES = OCTAVES << FINE_BITS };

struct histogram {
    uint64_t count, places[PLACES];
};

static uint32_t place_of(int64_t latency)
{
    uint64_t value = (uint64_t)latency;
    int shift = value < 2 << FINE_BITS ? 0 : 63 - __builtin_clzll(value) - FINE_BITS;
    uint64_t place = ((uint64_t)shift << FINE_BITS) + (value >> shift);

    return place < PLACES ? (uint32_t)place : PLACES - 1;
}

/* The middle of what is counted there. */
static int64_t value_of(uint32_t place)
{
    uint32_t shift = place < 2 << FINE_BITS ? 0 : (place >> FINE_BITS) - 1;
    uint64_t low = (uint64_t)(place - (shift << FINE_BITS)) << shift;

    return (int64_t)(low + ((1ull << shift) - 1) / 2);
}

static void add(struct histogram *h, int64_t latency)
{
    h->count++;
    h->places[place_of(latency)]++;
}

static int64_t median(const struct histogram *h)
{
    uint64_t seen = 0;

    for (uint32_t i = 0; i < PLACES; i++) {
        seen += h->places[i];
        if (seen * 2 >= h->count && seen)
            return value_of(i);
    }
    return 0;
}

static int read_all(sqlite3_stmt *stmt, struct histogram *all, struct histogram *each)
{
    int result;

    while ((result = sqlite3_step(stmt)) == SQLITE_ROW) {
        int64_t procedure = sqlite3_column_int64(stmt, 0), latency = sqlite3_column_int64(stmt, 1);

        if (procedure >= 0 && procedure < LATENCY_PROCEDURES)
            add(&each[procedure], latency);
        add(all, latency);
    }
    return result;
}

int latency_medians(sqlite3 *db, struct latency_medians *medians, struct err *err)
{
    struct histogram *each = calloc(LATENCY_PROCEDURES + 1, sizeof(*each));
    sqlite3_stmt *stmt = NULL;
    int result = 0;

    if (!each)
        return err_memory(err, "latencies");
    result = sql_prepare(db,
                         "SELECT procedure, latency FROM operation"
                         " WHERE program = ?1 AND version = ?2 AND latency >= 0",
                         &stmt, err);
    if (result == 0) {
        sqlite3_bind_int64(stmt, 1, NFS3_PROGRAM);
        sqlite3_bind_int64(stmt, 2, NFS3_VERSION);
        if (read_all(stmt, &each[LATENCY_PROCEDURES], each) != SQLITE_DONE)
            result = sql_fail(db, err);
    }
    if (result == 0) {
        medians->known = each[LATENCY_PROCEDURES].count;
        medians->all = median(&each[LATENCY_PROCEDURES]);
        for (uint32_t i = 0; i < LATENCY_PROCEDURES; i++)
            medians->procedure[i] = each[i].count ? median(&each[i]) : medians->all;
    }
    sqlite3_finalize(stmt);
    free(each);
    return result;
}

bool latency_of_directory(uint32_t procedure)
{
    const struct procedure *p = procedure_find(NFS3_PROGRAM, NFS3_VERSION, procedure);

    return p && (p->arguments->roles & (ROLE_NAME | ROLE_NAME2) || p->result->roles & ROLE_ENTRY);
}

int64_t latency_of(const struct latency_model *model, const struct latency_medians *medians,
                   const struct rdump_operation *operation)
{
    int64_t latency = model->constant;

    if (operation->unplayable)
        return 0;
    if (!latency)
        latency = !operation->inferred && operation->latency >= 0 ? operation->latency
                  : operation->procedure < LATENCY_PROCEDURES
                      ? medians->procedure[operation->procedure]
                      : medians->all;
    if (model->directory_factor != 1 && latency_of_directory(operation->procedure)) {
        double longer = (double)latency * model->directory_factor;

        latency = longer < 0x1p62 ? llround(longer) : INT64_MAX / 2;
    }
    return latency;
}
