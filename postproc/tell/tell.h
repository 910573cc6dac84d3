/* SPDX-License-Identifier: GPL-2.0-or-later */
/* postproc/tell/tell.h
 *
 * Metrics for Prometheus (live/metrics) of a program without an event loop: it calls tell_poll
 * often, and requests are answered in between.
 */
#ifndef NFSDIGEST_TELL_TELL_H
#define NFSDIGEST_TELL_TELL_H

#include "metrics/metrics_page.h"

struct tell;

struct tell_setup {
    const char *address;        /* "[ADDRESS:]PORT", of --metrics */
    const struct metric *table; /* lives as long as the struct tell */
    uint32_t count;
    /* Writes the samples; called by tell_poll alone. */
    int (*collect)(void *ctx, struct metrics_page *page, struct err *err);
    void *ctx;
};

enum { TELL_POLL_MS = 20, TELL_ADDRESS = 80 };

/* Listens.  Writes where into |listens|, for people. */
struct tell *tell_new(const struct tell_setup *setup, char listens[TELL_ADDRESS], struct err *err);
void tell_free(struct tell *tell); /* NULL is allowed, also below */

/* Answers what was asked, without waiting.  Does nothing if it was called within the last
 * TELL_POLL_MS. */
int tell_poll(struct tell *tell, struct err *err);

#endif
