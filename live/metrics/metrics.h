/* SPDX-License-Identifier: GPL-2.0-or-later */
/* live/metrics/metrics.h
 *
 * A program's metrics for Prometheus over HTTP (--metrics [ADDR:]PORT), by libmicrohttpd on the
 * program's own loop.  There is no second thread, so |collect| reads the program's numbers between
 * two events.
 *
 * GET /metrics is the page; everything else is refused.
 *
 * Memory: METRICS_CONNECTIONS * (16 KiB and a page).  A connection that does nothing for 10 s is
 * closed.
 */
#ifndef NFSDIGEST_METRICS_METRICS_H
#define NFSDIGEST_METRICS_METRICS_H

#include "metrics/metrics_page.h"
#include "net/address.h"
#include "net/loop.h"

enum { METRICS_CONNECTIONS = 16 };

struct metrics;

struct metrics_setup {
    struct net_address address;
    const struct metric *table; /* lives as long as the struct metrics */
    uint32_t count;
    /* Writes the samples.  An error becomes the answer to this one request. */
    int (*collect)(void *ctx, struct metrics_page *page, struct err *err);
    void *ctx;
};

/* Parses an option's value, as struct arg wants it (show/args.h); |to| is a struct net_address.
 * "PORT" alone means that port of 127.0.0.1. */
int metrics_address(void *to, const char *text, struct err *err);
/* The same for a program that does not say where it listens: port 0 is refused, because nobody
 * would know which one it has become. */
int metrics_known_address(void *to, const char *text, struct err *err);

/* Listens for requests.  -ERR_USAGE: the table is wrong (metrics_check); -ERR_SYSTEM: the address
 * cannot be used. */
struct metrics *metrics_new(struct loop *loop, const struct metrics_setup *setup, struct err *err);
void metrics_free(struct metrics *metrics); /* NULL is allowed */

/* Gives the address where it listens. */
int metrics_listens(const struct metrics *metrics, struct net_address *to, struct err *err);

#endif
