/* SPDX-License-Identifier: GPL-2.0-or-later */
/* postproc/columns/known.h
 *
 * What records said so far that later rows need: addresses of flows, texts of paths, uids of
 * credentials, and which ids there are.  All numbers of records are checked here, since streams may
 * hold anything.
 *
 * Memory: that of path texts is at most KNOWN_PATHS, and KNOWN_DEPTH times their names above that.
 */
#ifndef NFSDIGEST_COLUMNS_KNOWN_H
#define NFSDIGEST_COLUMNS_KNOWN_H

#include "columns/column.h"
#include "store/ids.h"

enum { KNOWN_PATHS = 64 << 20, KNOWN_DEPTH = 64 };

struct known_text { /* in |path_text| */
    uint64_t at;
    uint32_t len;
};

struct known {
    unsigned wants; /* bits of enum wants */
    struct ids flows, credentials, objects, paths;
    struct hosts hosts;
    struct buf path_text;
    uint64_t name_bytes; /* in it, without those of parents */
    struct known_text *paths_at;
    uint32_t path_count, path_cap;
    int64_t *uids; /* -1: none */
    uint32_t uid_count, uid_cap;
    uint64_t *frames; /* number of frames before each source */
    uint32_t source_count, source_cap;
    struct buf text, text2; /* of the cell that is being made */
};

void known_init(struct known *known, unsigned wants);
void known_free(struct known *known);

/* Begins a source, behind |frames| frames of those before. */
int known_source(struct known *known, uint64_t frames, struct err *err);

/* Returns the source of a frame, and makes *|frame| its number there. */
int64_t known_source_of(const struct known *known, uint64_t *frame);

/* Checks the ids in |record| and learns from it.  Returns 1 if it is a further record of an object
 * that is known, 0, -ERR_INPUT or -ERR_SYSTEM. */
int known_record(struct known *known, const struct record *record, struct err *err);

/* Returns the text of path |id|, which must be known. */
struct bytes known_path(const struct known *known, uint32_t id);

#endif
