/* SPDX-License-Identifier: GPL-2.0-or-later */
/* live/replay/plan.h
 *
 * The order in which the tree of one server of a dump is found or made: roots, directories before
 * what is in them, then further hard links.
 *
 * Memory: 12 bytes for each object and 4 for each entry.
 */
#ifndef NFSDIGEST_REPLAY_PLAN_H
#define NFSDIGEST_REPLAY_PLAN_H

#include "player/script.h"

enum {
    PLAN_ROOT = 0xffffffff,      /* it has no entry */
    PLAN_ELSEWHERE = 0xfffffffe, /* it is of another server */
    PLAN_LINKS_MAX = 65000,      /* of one object; more than the file systems of Linux have */
    PLAN_PATH = 1024,
};

struct plan_extra { /* links that the dump has no name of */
    uint32_t object, count;
};

struct plan {
    const struct script *script; /* with its tree; must stay */
    uint32_t server;
    uint32_t *entry_of; /* by object number: the first entry that names it, or PLAN_ */
    uint32_t *first;    /* by object number: children[first[n]] to children[first[n + 1]] are the */
    uint32_t *children; /* entries in directory n that are the first of their objects */
    uint32_t *further;  /* all other entries, by directory; both in the order of their names */
    struct plan_extra *extras;
    uint32_t object_count, further_count, extra_count, extra_cap;
    uint64_t bytes, largest; /* of files: all together, and of the largest one */
};

/* -ERR_INPUT: more than PLAN_LINKS_MAX links of an object, or more entries than 32 bits count. */
int plan_make(struct plan *plan, const struct script *script, uint32_t server, struct err *err);
void plan_free(struct plan *plan);

static inline const struct rdump_object *plan_object(const struct plan *plan, uint32_t number)
{
    return &plan->script->objects[number - 1];
}

/* True if the dump has this name in this directory. */
bool plan_has_name(const struct plan *plan, uint32_t directory, struct bytes name);

/* Below the export, with slashes: "root-1/etc/passwd"; for messages, so names are escaped
 * (base/escape.h), and it may be cut at its beginning.  Returns where it is in |text|. */
const char *plan_path(const struct plan *plan, uint32_t object, char text[PLAN_PATH]);

#endif
