/* SPDX-License-Identifier: GPL-2.0-or-later */
/* model/play/caller.h
 *
 * Callers, and what modes and owners let them do (POSIX; sticky directories).  In doubt the answer
 * is MAY_BE: for attributes that were not seen, callers without AUTH_SYS, and uid 0, which a server
 * may squash or not.
 *
 * Memory: 88 bytes for each credential, and as much again in reserve.
 */
#ifndef NFSDIGEST_PLAY_CALLER_H
#define NFSDIGEST_PLAY_CALLER_H

#include "tree/hierarchy.h"

struct caller {
    bool known; /* AUTH_SYS */
    uint8_t gid_count;
    uint32_t uid, gid, gids[16]; /* RFC 5531 appendix A: at most 16 */
};

struct callers {
    struct caller *by_id; /* by the credential numbers of the reader of operations */
    uint32_t count;
};

/* Returns the place of credential |id|, and makes it if needed, with zeros.  NULL: no memory. */
struct caller *callers_place(struct callers *callers, uint32_t id);
/* Adds a caller with uid 0 as |id|, which must not be in use. */
int callers_add_root(struct callers *callers, uint32_t id, struct err *err);
void callers_free(struct callers *callers);
/* Returns the caller with this credential, or NULL if it is not known. */
const struct caller *caller_of(const struct callers *callers, uint32_t credential);

enum may { MAY_NOT, MAY_BE, MAY };

/* May the caller change the contents of the file? */
enum may may_write(const struct caller *caller, const struct node *file);
/* May the caller make or remove names in the directory? */
enum may may_change(const struct caller *caller, const struct node *directory);
/* May the caller remove a name of |object|?  Checks only the rule for sticky directories. */
enum may may_take(const struct caller *caller, const struct node *directory,
                  const struct node *object);

#endif
