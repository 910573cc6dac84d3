/* SPDX-License-Identifier: GPL-2.0-or-later */
/* live/player/script.h
 *
 * A replay dump (model/rdump/rdump.h) that is open for playing: what stands before its operations,
 * in memory.
 *
 *     script_open
 *     script_drop_tree      when the tree was found or made
 *     feed_new (feed.h)
 *     script_close
 *
 * Memory: hosts and credentials as they are; for the tree about 120 bytes an object and 24 bytes an
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
    bool is_client, is_server; /* server: of an object of the tree; script_open does not know the
                                * clients */
};

/* By place in the dump, from 1; element 0 is AUTH_NONE.  Steps have that place, not the number,
 * because numbers may have gaps of any width. */
struct script_credential {
    /* Ready to be sent, with a verifier of AUTH_NONE behind it.  AUTH_NONE for all flavors but
     * AUTH_SYS, because their users are unknown. */
    struct bytes encoded;
    uint32_t number, flavor, uid, gid; /* of the dump */
};

struct script {
    const char *path;         /* the caller's */
    struct rdump_trace trace; /* its texts live as long as the script */
    uint64_t identity; /* XXH3 of the trace record, hosts and tree: for markers and resuming */
    struct script_host *hosts;
    uint32_t host_count; /* hosts[host_count] is the last one */
    struct script_credential *credentials;
    uint32_t credential_count; /* credentials[credential_count] is the last one */
    /* The tree: object n is objects[n - 1]; entries in the dump's order. */
    struct rdump_object *objects;
    struct rdump_entry *entries;
    uint32_t object_count;
    uint64_t entry_count;
    /* For the feed: */
    struct rdump_reader *reader;
    /* The record behind the tree: the first operation, or the end.  It is the reader's, until the
     * next one is read. */
    const void *first;
    enum rdump_kind first_kind;
    int fd, stop; /* |stop|: an eventfd; written to, it ends waiting for more of a pipe */
    bool is_pipe;
    void (*before_read)(void *ctx); /* called before each read; NULL: nothing */
    void *before_read_ctx;
    struct arena *texts, *tree_texts;
};

/* Opens a dump and reads it up to its first operation.  -ERR_INPUT: not a dump, or damaged there
 * (the message names the place), or a tree that rdump_check would refuse.  Call wire_init before.
 * The script must not be moved. */
int script_open(struct script *script, const char *path, struct err *err);
/* Frees objects and entries. */
void script_drop_tree(struct script *script);
void script_close(struct script *script); /* a script of zeros is allowed */

#endif
