/* SPDX-License-Identifier: GPL-2.0-or-later */
/* live/player/script.h
 *
 * A replay dump (model/rdump/rdump.h) that is open for playing: what stands before its operations,
 * in memory.
 *
 *     script_open, ... the tree is found or made ..., script_drop_tree, feed_new (feed.h),
 * script_close
 *
 * Memory: hosts and credentials as they are; for the tree about 100 bytes an object and 24 bytes an
 * entry beside names and texts, until script_drop_tree.
 */
#ifndef NFSDIGEST_PLAYER_SCRIPT_H
#define NFSDIGEST_PLAYER_SCRIPT_H

#include "base/err.h"
#include "rdump/rdump.h"
#include "wire/rpc.h"

#include <stdbool.h>

/* By number; element 0 is not used. */
struct script_host {
    struct bytes address;
    bool is_client,
        is_server; /* server: of an object of the tree; clients are learned by playing */
};

struct script_credential {
    struct rpc_auth auth; /* ready to be sent (AUTH_NONE for RPCSEC_GSS, whose user is unknown) */
    uint32_t flavor, uid, gid;
};

struct script {
    const char *path;         /* the caller's */
    struct rdump_trace trace; /* its texts live as long as the script */
    uint64_t identity; /* XXH3 of the dump's header, hosts and tree: for markers and resuming */
    struct script_host *hosts;
    uint32_t host_count;
    struct script_credential *credentials; /* by number; holes are AUTH_NONE */
    uint32_t credential_count;
    /* The tree: object n is objects[n - 1]; entries in the dump's order. */
    struct rdump_object *objects;
    struct rdump_entry *entries;
    uint32_t object_count;
    uint64_t entry_count;
    struct rdump_reader *reader; /* stands before the first operation */
    int fd;
    /* script.c's own: */
    struct arena *texts;
    bool has_first; /* the first operation was read, and is kept for the feed */
};

/* Opens a dump and reads it up to its first operation.  -ERR_INPUT: not a dump, or damaged there
 * (the message names the place), or a tree that rdump_check would refuse. */
int script_open(struct script *script, const char *path, struct err *err);
/* Frees objects and entries. */
void script_drop_tree(struct script *script);
void script_close(struct script *script); /* a script of zeros is allowed */

#endif
