/* SPDX-License-Identifier: GPL-2.0-or-later */
/* model/tree/hierarchy.h
 *
 * The hierarchy map (FEUT): it records which object each name of a directory stood for, and when.
 * This file keeps the map.  learn.h says how operations change it, and initial.h keeps attributes.
 *
 * Nodes are objects: those of the database, and objects whose handle was never seen (negative
 * numbers to the outside).  Entries are the names of nodes in other nodes.  Entries and nodes that
 * are gone are forgotten, except those that existed at the moment for which the map is made.  This
 * moment is the beginning, unless another one is asked for.
 *
 * Memory: 128 bytes for each node; 88 for each entry, 21 to 43 for its look-up, and 24 for a name
 * of 20 bytes or less; 4 for each object of the database; and 24 MB for names that are known to be
 * absent.
 */
#ifndef NFSDIGEST_TREE_HIERARCHY_H
#define NFSDIGEST_TREE_HIERARCHY_H

#include "base/bytes.h"
#include "base/err.h"
#include "base/pool.h"
#include "base/table.h"
#include "tree/text.h"

#include <stdbool.h>

#define BEGINNING INT64_MIN /* it was there before the trace */
#define TO_THE_END INT64_MAX

enum { NODE_NONE = 0, ENTRY_NONE = 0, ABSENT_PLACES = 1 << 20 };

enum {
    NODE_GUESSED = 1 << 0,   /* some attributes are from after a change */
    NODE_AT_LEAST = 1 << 1,  /* |size| is what was read so far */
    NODE_MERGED = 1 << 2,    /* the node is the same as |merged_into| */
    NODE_KEPT_NAME = 1 << 3, /* has an entry at the hierarchy's moment */
    NODE_VISITED = 1 << 4,   /* for walks over the tree */
    NODE_NAMELESS = 1 << 5,
    NODE_USED = 1 << 6,
    NODE_PINNED = 1 << 7, /* had entries at the hierarchy's moment */
};

/* Attributes, as bits of |knows|, |guessed| and |tainted| (changed before they were seen). */
enum {
    KNOWS_MODE = 1 << 0,
    KNOWS_UID = 1 << 1,
    KNOWS_GID = 1 << 2,
    KNOWS_SIZE = 1 << 3,
    KNOWS_ATIME = 1 << 4,
    KNOWS_MTIME = 1 << 5,
    KNOWS_CTIME = 1 << 6,
    KNOWS_NLINK = 1 << 7,
    KNOWS_RDEV = 1 << 8,
    KNOWS_LINK = 1 << 9,
    KNOWS_ALL = (1 << 10) - 1,
};

/* An object.  play_node.h has its state while operations are played. */
struct node {
    uint32_t object; /* of the database; its own number when NODE_NAMELESS */
    union {
        uint32_t names;       /* first of its entries that are there now */
        uint32_t merged_into; /* with NODE_MERGED: the node that it is the same as */
    };
    uint32_t children;  /* first of the entries in it that are there now */
    uint32_t inference; /* the inference that removed it, or 0 */
    int64_t born, died; /* BEGINNING, TO_THE_END */
    int64_t first_done; /* when the first operation that used it was done */
    int64_t first_id;   /* that operation */
    /* at the moment: */
    int64_t changed; /* when the first change of it was done; INT64_MAX: none yet */
    uint64_t size;
    int64_t atime, mtime, ctime;
    char *link; /* with a length before it: see text_bytes */
    /* |uid| while it is unknown: a credential that may remove its names, or 0 */
    uint32_t mode, uid, gid, nlink, rdev[2];
    uint16_t knows, tainted;
    uint16_t guessed; /* of |knows|: shown only after a change */
    uint8_t type, flags;
};

struct entry {
    uint32_t parent, node;
    uint32_t next, previous; /* of the same node */
    uint32_t after, before;  /* in the same parent */
    char *name;
    int64_t start, stop;
    int64_t changed; /* when the operation that bound it was done */
    int64_t start_id, seen_id,
        stop_id; /* operations: the first and last that showed it, and the one that removed it */
    uint32_t serial; /* unique among all entries */
    bool is_used;
};

struct hierarchy;

struct hierarchy_host {
    /* Takes an entry that ended, or that is still there at the end. */
    int (*entry)(void *ctx, const struct hierarchy *h, const struct entry *entry, struct err *err);
    /* Says that the nameless node |from| is the object |to|. */
    int (*named)(void *ctx, int64_t from, int64_t to, struct err *err);
    void *ctx;
};

/* Counts of what existed at the hierarchy's moment, as far as it is known. */
struct hierarchy_counts {
    uint64_t subtrees, files, directories, bytes;
};

struct absent {
    uint64_t hash;
    int64_t since; /* when the operation that showed it was done */
    int64_t id;    /* that operation */
};

struct root { /* a MOUNT path */
    uint32_t node;
    char *path;
};

struct hierarchy {
    int64_t moment;
    struct hierarchy_host host; /* callbacks may be NULL */
    struct pool nodes, entries;
    struct table by_name;
    uint32_t *node_of; /* by object id; UINT32_MAX: it was made here and is gone */
    uint32_t object_cap;
    uint32_t nameless, serial;
    uint32_t *dying; /* nodes that are no longer needed, until hierarchy_sweep */
    uint32_t dying_count, dying_cap;
    struct absent *absent;
    struct root *roots;
    uint32_t root_count, root_cap;
    struct table by_root; /* of nodes */
    struct hierarchy_counts counts;
    uint64_t live_nodes, peak_nodes;
};

int hierarchy_init(struct hierarchy *h, int64_t moment, const struct hierarchy_host *host,
                   struct err *err);
void hierarchy_free(struct hierarchy *h);

static inline struct node *node_at(const struct hierarchy *h, uint32_t id)
{
    return pool_at(&h->nodes, id);
}
static inline struct entry *entry_at(const struct hierarchy *h, uint32_t id)
{
    return pool_at(&h->entries, id);
}

/* Returns true if |id| is still the entry with this serial number, and has not ended. */
static inline bool entry_is(const struct hierarchy *h, uint32_t id, uint32_t serial)
{
    return entry_at(h, id)->is_used && entry_at(h, id)->serial == serial &&
           entry_at(h, id)->stop == TO_THE_END;
}

static inline bool node_is_directory(const struct node *n)
{
    return n->type == 2; /* OBJECT_DIR */
}

/* Follows merged nodes.  Returns the node that remains. */
uint32_t node_final(const struct hierarchy *h, uint32_t id);
/* Returns the node's number for the outside: the id in the database, or a number below 0. */
int64_t node_number(const struct hierarchy *h, uint32_t id);
/* Return true if the node or entry existed at the hierarchy's moment. */
static inline bool node_at_moment(const struct hierarchy *h, const struct node *n)
{
    return !(n->flags & NODE_MERGED) && n->born <= h->moment && n->died > h->moment;
}
static inline bool entry_at_moment(const struct hierarchy *h, const struct entry *e)
{
    return e->start <= h->moment && e->stop > h->moment;
}

/* Returns the node of a database object, and makes it if needed.  |born|, |done| and |id| are for a
 * new node.  NODE_NONE: no memory. */
uint32_t node_get(struct hierarchy *h, uint32_t object, int64_t born, int64_t done, int64_t id);
/* Returns the node of a database object, or NODE_NONE if there is none. */
uint32_t node_find(const struct hierarchy *h, uint32_t object);
/* Returns true if the object was made during the trace, is gone, and its node is forgotten. */
bool node_is_gone(const struct hierarchy *h, uint32_t object);
uint32_t node_nameless(struct hierarchy *h, int64_t born, int64_t done, int64_t id);
/* Records that the nameless node |id| is |object|.  Sets *|is| to the remaining node. */
int node_is(struct hierarchy *h, uint32_t id, uint32_t object, uint32_t *is, struct err *err);

/* Makes a node live again that was gone. */
void node_revive(struct hierarchy *h, uint32_t id);
/* Records that the node did not exist before |born|. */
void node_was_made(struct hierarchy *h, uint32_t id, int64_t born);

/* Keep the counts right: call node_uncount before and node_count after every change of a node's
 * type, size, life or names. */
void node_uncount(struct hierarchy *h, uint32_t id);
void node_count(struct hierarchy *h, uint32_t id);

uint32_t entry_find(const struct hierarchy *h, uint32_t parent, struct bytes name);
/* Binds |name| in |parent|, which is free, to |node|.  The node lives again if it was gone.
 * |start| is moved to the birth of either if it is earlier.  |id| may be NULL. */
int entry_open(struct hierarchy *h, uint32_t parent, struct bytes name, uint32_t node,
               int64_t start, int64_t changed, int64_t by, uint32_t *id, struct err *err);
/* Ends an entry.  If it was the node's last name, the node is gone, too, unless |moves|. */
int entry_close(struct hierarchy *h, uint32_t id, int64_t stop, int64_t by, bool moves,
                struct err *err);
/* Forgets nodes that are gone.  Call it between operations, when no caller holds a node. */
void hierarchy_sweep(struct hierarchy *h);
/* Passes the remaining entries to the host. */
int hierarchy_end(struct hierarchy *h, struct err *err);

/* Restores the hierarchy as it was at its moment.  From then on it keeps nothing that ends, notes
 * no absent names, and has no host.  Numbers of nodes stay the same. */
int hierarchy_rewind(struct hierarchy *h, struct err *err);

/* For the parts of this module.  entry_hang puts an entry into the lists of its node and its
 * parent. name_hash returns the hash under which the entry is found. */
void entry_hang(struct hierarchy *h, uint32_t id);
uint64_t name_hash(uint32_t parent, struct bytes name);

/* Note and find names that are known to be absent.  absent_find returns NULL if nothing is known.
 */
void absent_note(struct hierarchy *h, uint32_t parent, struct bytes name, int64_t since,
                 int64_t id);
const struct absent *absent_find(const struct hierarchy *h, uint32_t parent, struct bytes name);

/* Records |path| as the MOUNT path of |node|. */
int hierarchy_root(struct hierarchy *h, uint32_t node, struct bytes path, struct err *err);
/* Returns the node's MOUNT path, or NULL. */
const char *root_path(const struct hierarchy *h, uint32_t node);

#endif
