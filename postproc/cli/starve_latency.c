/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "cli/starve.h"

#include <stdlib.h>

enum {
    PROCEDURES = 32, /* of NFSv3; the last one stands for all others */
    SIZES = 12,      /* 0, to 1 KiB, 4 KiB, ... */
    EIGHTHS = 3,     /* bits */
    NFS = 100003,    /* RFC 1813 s2.1 */
};

struct cell {
    uint32_t all[STARVE_LATENCIES], alone[STARVE_LATENCIES];
    uint64_t alone_count;
    int64_t service; /* found once; -1: not yet */
};

struct starve_times {
    uint32_t services;
    struct cell **cells;
};

struct starve_times *starve_times_new(uint32_t services, struct err *err)
{
    struct starve_times *t = calloc(1, sizeof(*t));

    if (t)
        t->cells = calloc((size_t)services * PROCEDURES * SIZES + 1, sizeof(*t->cells));
    if (!t || !t->cells) {
        starve_times_free(t);
        err_memory(err, "latencies");
        return NULL;
    }
    t->services = services;
    return t;
}

void starve_times_free(struct starve_times *t)
{
    if (!t)
        return;
    for (size_t i = 0; t->cells && i < (size_t)t->services * PROCEDURES * SIZES; i++)
        free(t->cells[i]);
    free(t->cells);
    free(t);
}

static size_t place(const struct starve_kind *kind)
{
    uint32_t procedure =
        kind->program == NFS && kind->procedure < PROCEDURES - 1 ? kind->procedure : PROCEDURES - 1;
    uint32_t size = 0;

    for (uint64_t rest = kind->size; rest && size + 1 < SIZES; size++)
        rest = size ? rest >> 2 : rest >> 10;
    return ((size_t)kind->service * PROCEDURES + procedure) * SIZES + size;
}

/* Octaves with eight places each, from 1 ns on. */
static unsigned latency_place(int64_t latency)
{
    uint64_t v = latency > 1 ? (uint64_t)latency : 1;
    unsigned octave = 63 - (unsigned)__builtin_clzll(v);
    unsigned eighth = octave >= EIGHTHS ? (unsigned)(v >> (octave - EIGHTHS)) & 7
                                        : (unsigned)(v << (EIGHTHS - octave)) & 7;

    return octave << EIGHTHS | eighth;
}

/* The middle of a place. */
static int64_t latency_of(unsigned place)
{
    unsigned octave = place >> EIGHTHS;
    double low = (double)(8 + (place & 7)) / 8.0 * (double)(UINT64_C(1) << octave);

    return (int64_t)(low + (double)(UINT64_C(1) << octave) / 16.0);
}

void starve_latency_note(uint32_t latencies[STARVE_LATENCIES], int64_t latency)
{
    uint32_t *to = &latencies[latency_place(latency)];

    *to += *to != UINT32_MAX;
}

int64_t starve_latency_at(const uint32_t latencies[STARVE_LATENCIES], unsigned percent)
{
    uint64_t count = 0, sum = 0;

    for (unsigned i = 0; i < STARVE_LATENCIES; i++)
        count += latencies[i];
    for (unsigned i = 0; i < STARVE_LATENCIES; i++) {
        sum += latencies[i];
        if (latencies[i] && sum * 100 >= count * percent)
            return latency_of(i);
    }
    return 0;
}

int starve_times_note(struct starve_times *t, const struct starve_kind *kind, int64_t latency,
                      bool alone, struct err *err)
{
    struct cell **at = &t->cells[place(kind)];

    if (!*at && !(*at = calloc(1, sizeof(**at))))
        return err_memory(err, "latencies");
    (*at)->service = -1;
    starve_latency_note((*at)->all, latency);
    if (alone) {
        starve_latency_note((*at)->alone, latency);
        (*at)->alone_count++;
    }
    return 0;
}

int64_t starve_times_service(const struct starve_times *t, const struct starve_kind *kind)
{
    struct cell *c = t->cells[place(kind)];

    if (!c)
        return 0;
    if (c->service < 0)
        c->service = c->alone_count >= STARVE_ALONE_MIN ? starve_latency_at(c->alone, 50)
                                                        : starve_latency_at(c->all, 10);
    return c->service;
}
