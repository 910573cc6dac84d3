/* SPDX-License-Identifier: GPL-2.0-or-later */
/* live/tee/shadow_options.h
 *
 * The options of nfstee shadow.
 */
#ifndef NFSDIGEST_TEE_SHADOW_OPTIONS_H
#define NFSDIGEST_TEE_SHADOW_OPTIONS_H

#include "base/err.h"
#include "net/address.h"
#include "show/args.h"

#include <stdbool.h>
#include <stdint.h>

enum { SHADOW_LIST_MAX = 64 };

struct shadow_list {
    const char *texts[SHADOW_LIST_MAX];
    uint32_t count;
};

/* Texts are those of |argv|; NULL: not given. */
struct shadow_options {
    const char *attach, *relay, *sut, *log, *control, *html, *on_mismatch;
    struct net_address metrics; /* AF_UNSPEC: none */
    struct shadow_list rules, exclude, only;
    uint64_t sync_bytes, sync_objects; /* a second; 0: no limit */
    uint64_t sync_uid, sync_gid;
    uint64_t in_flight, queue_bytes, log_max; /* |log_max| 0: the default */
    int64_t timeout, duration;                /* ns; |duration| 0: until a signal */
    bool record_all, tree_order, overwrite, privileged, json, quiet;
    bool scrubs;
    uint64_t scrub_bytes; /* a second; 0: no limit */
};

/* Fills the table of options, which set |o|, and gives |o| the defaults.  "nfstee run" has the same
 * options. */
enum { SHADOW_ARGS = 32 }; /* at most, with the end */
void shadow_options_begin(struct shadow_options *o, struct arg *args);
/* Returns 1 or -ERR_USAGE. */
int shadow_options_check(const struct shadow_options *o, struct err *err);

/* Returns 1, 0 if only help was wanted and printed, or -ERR_USAGE. */
int shadow_options_parse(struct shadow_options *o, int argc, char **argv, struct err *err);

#endif
