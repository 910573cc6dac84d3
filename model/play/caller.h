/* SPDX-License-Identifier: GPL-2.0-or-later */
/* model/play/caller.h
 *
 * Callers, and whether mode and owner of a directory let them change its names (POSIX; sticky
 * directories).  If it is not certain, the answer is that they may: attributes that were not seen,
 * callers without AUTH_SYS, and uid 0, which a server may or may not squash.
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
    struct caller *by_id; /* numbers are those of the reader of operations */
    uint32_t count;
};

/* Room for a credential of number |id|: its place, zeroed when it is new; NULL: no memory. */
struct caller *callers_place(struct callers *callers, uint32_t id);
/* |id|, which nobody has, becomes uid 0. */
int callers_add_root(struct callers *callers, uint32_t id, struct err *err);
void callers_free(struct callers *callers);
/* NULL: nobody knows. */
const struct caller *caller_of(const struct callers *callers, uint32_t credential);

enum may { MAY_NOT, MAY_BE, MAY };

/* To change what is in a file. */
enum may may_write(const struct caller *caller, const struct node *file);
/* To make or take names in a directory. */
enum may may_change(const struct caller *caller, const struct node *directory);
/* To take a name of |object| away, as far as a sticky directory has a say. */
enum may may_take(const struct caller *caller, const struct node *directory,
                  const struct node *object);

#endif
