/* SPDX-License-Identifier: GPL-2.0-or-later */
/* live/tee/shadow_page.h
 *
 * A page about a running shadow (nfstee shadow --html tee.html), which brings itself up to date,
 * and stays as a report.  Three files are written, each under a temporary name first:
 *
 *     tee.html   the page, whole: it can be read without scripts, and kept
 *     tee.js     what changes of it.  The page takes this as a script: a browser does not let a
 * page from a file read another file in any other way tee.json   the same figures for programs:
 * those of the command "statistics", "differences", and "history"
 *
 * They are written at the beginning, at most every SHADOW_PAGE_PERIOD, and at the end.  An error
 * while the shadow runs is told once, and writing goes on.  Nothing is synced to the disk.
 *
 * Memory: that of shadow_history.h, 80 KiB for latencies, and twice the page: about 200 KiB.
 */
#ifndef NFSDIGEST_TEE_SHADOW_PAGE_H
#define NFSDIGEST_TEE_SHADOW_PAGE_H

#include "net/loop.h"
#include "shadow/shadow.h"

#define SHADOW_PAGE_PERIOD INT64_C(2000000000) /* ns */

struct shadow_page;

/* Texts stay the caller's, and live as long as the page. */
struct shadow_page_setup {
    struct loop *loop;
    struct shadow *shadow;
    const char *path;                  /* of the page */
    const char *reference, *sut, *log; /* for people */
    void (*tell)(void *ctx, const char *text);
    void *ctx;
};

/* Writes the page for the first time.  NULL: it cannot be written. */
struct shadow_page *shadow_page_new(const struct shadow_page_setup *setup, struct err *err);
/* Writes it for the last time, after shadow_end. */
int shadow_page_end(struct shadow_page *page, struct err *err);
void shadow_page_free(struct shadow_page *page); /* NULL is allowed */

#endif
