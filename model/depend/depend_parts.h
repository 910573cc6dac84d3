/* SPDX-License-Identifier: GPL-2.0-or-later */
/* model/depend/depend_parts.h
 *
 * Shared by the files of depend.h.  Operations are counted from 1 in here; 0 is no operation.
 *
 *     depend.c         things and names: their last change, and the readers since then
 *     depend_names.c   all names of a directory
 *     depend_data.c    the same for byte ranges, in pieces
 *     depend_pool.c    memory of these, and what expires
 *     depend_reduce.c  which of those are direct dependencies
 *
 * Readers are a chain of marks, the newest first: one chain for each object (its marks say
 * what was read of it), one for each name and one for each piece of a file.  Marks are in a ring in
 * the order of their operations.  So a walk along a chain meets the expired marks last, and their
 * places alone show that they are expired.  If a piece is split, its parts share the rest of a
 * chain.
 */
#ifndef NFSDIGEST_DEPEND_DEPEND_PARTS_H
#define NFSDIGEST_DEPEND_DEPEND_PARTS_H

#include "base/pool.h"
#include "base/table.h"
#include "depend/depend.h"

#include <stddef.h>

enum {
    NO_ID = 0,
    CACHE_LINE = 64,
    REDUCE_STEPS = 1024, /* the most steps of a search */
};

/* Notes that an operation read an object, a name or a piece. */
struct mark {
    uint32_t operation; /* low bits */
    uint32_t before;    /* distance back to the next mark of the chain; 0: none */
    uint32_t owner;     /* struct holder, or struct entry_line with OWNER_NAME */
    uint32_t things;    /* for an object: enum thing as bits; JOINED */
};
enum { OWNER_NAME = 1u << 31 };
/* The mark also stands for the rest of its chain: |operation| depends on all of it. */
enum { JOINED = 1u << 31 };

struct line {
    uint64_t change;  /* the operation that changed it last */
    uint64_t readers; /* readers since then: place of the newest mark; 0: none */
};

/* State of an object that the last |horizon| operations used. */
struct holder {
    uint32_t refs; /* count of marks and entry lines that refer to it */
    uint32_t read; /* things that were read since their last change, as bits */
    uint32_t directory, file;
    uint64_t marks;               /* place of the newest one */
    uint64_t changes[THING_DATA]; /* the operations that changed each thing last */
    uint32_t object;
    uint32_t unused[11];
};
_Static_assert(sizeof(struct holder) == 128, "two cache lines, the second one seldom used");

/* A name of a directory. */
struct entry_line {
    uint64_t name;
    struct line line;
    uint32_t object, holder;
    uint32_t refs;       /* marks */
    uint32_t group;      /* the group of the directory in which it changed last */
    bool is_linked;      /* in the list of that group, */
    uint32_t prev, next; /* in the order of |line.change| */
};

/* The names of a directory change in groups.  Readers of all names separate the groups. */
struct directory {
    uint64_t readers;      /* readers of all names since the group: place of the newest mark */
    uint64_t before;       /* readers of all names before the group */
    uint64_t first_change; /* first change of the group: depends on all |before| */
    uint64_t first_reader; /* first of |readers|: depends on all of the group */
    uint32_t head, tail;   /* names that changed last in this group */
    uint32_t group;
};

struct piece {
    uint64_t start, end;
    struct line line;
};

/* Pieces in order.  A file with many pieces has several blocks. */
struct block {
    struct piece *pieces;
    uint32_t count, cap;
};
struct file {
    struct block *blocks; /* |one| or more */
    uint32_t count, cap;
    uint32_t pieces, swept; /* how many there are; how many the last sweep left */
    struct block one;
};

/* An edge, or an edge that others imply.  Implied edges help to find further implied ones. */
struct edge {
    uint32_t to, from; /* low bits of operations: |from| depends on |to| */
    uint32_t next;     /* distance back to the next edge with the same |to|; 0: none */
};

/* 32 bytes, so that each lies in one cache line.  Places in rings are low bits, too. */
struct operation {
    uint32_t marks_end;
    uint32_t edges;           /* place of the first edge */
    uint32_t edge_count : 26; /* direct edges, which come first */
    uint32_t implied : 5;     /* implied edges, which follow them */
    uint32_t has_dependents : 1;
    uint32_t dependents; /* place of the newest edge that leads here */
    uint32_t level;      /* edges on the longest way to an operation without edges */
    uint32_t met;        /* the newest operation that has this as a candidate */
    uint32_t reached;    /* the newest operation whose candidates are known to depend on this */
    uint32_t seen;       /* number of the search that saw it */
};
_Static_assert(sizeof(struct operation) == 32, "packed");

struct depend {
    uint64_t now; /* the operation under way */
    uint64_t horizon;
    struct operation *operations;               /* a ring of |horizon| */
    struct mark *marks;                         /* a ring; places count from 1 */
    uint64_t marks_begin, marks_own, marks_end; /* |marks_own|: first of |now| */
    uint32_t marks_mask;
    struct edge *edges; /* likewise a ring */
    uint64_t edges_begin, edges_end;
    uint32_t edges_mask;
    struct pool holders, names, directories, files; /* ids keep a bit for OWNER_NAME */
    struct table by_object, by_name;
    uint32_t *ids; /* of the uses: struct holder, or struct entry_line */
    uint32_t id_cap;
    uint64_t *candidates;
    uint32_t candidate_count, candidate_cap;
    uint32_t *stack, *queue; /* of searches */
    uint32_t *distances;
    uint32_t distance_cap;
    uint32_t search;
    uint32_t holder, holder_object; /* the holder that was asked for last */
    bool failed;                    /* no memory */
    struct depend_counts counts;
};

static inline bool is_live(const struct depend *d, uint64_t operation)
{
    return operation + d->horizon > d->now && operation;
}
static inline struct operation *operation_at(const struct depend *d, uint64_t operation)
{
    return &d->operations[operation & (d->horizon - 1)];
}
/* Returns the number of the latest operation with these low bits. */
static inline uint64_t widen(const struct depend *d, uint32_t low)
{
    return d->now - (uint32_t)((uint32_t)d->now - low);
}
static inline struct mark *mark_at(const struct depend *d, uint64_t place)
{
    return &d->marks[place & d->marks_mask];
}
static inline bool mark_is_live(const struct depend *d, uint64_t place)
{
    return place >= d->marks_begin;
}
static inline bool mark_is_own(const struct depend *d, uint64_t place)
{
    return place >= d->marks_own;
}
/* Returns the next place of a chain.  A place that is not live ends the chain. */
static inline uint64_t mark_next(const struct depend *d, uint64_t place)
{
    uint32_t before = mark_at(d, place)->before;

    return before ? place - before : 0;
}
static inline struct edge *edge_at(const struct depend *d, uint32_t place)
{
    return &d->edges[place & d->edges_mask];
}
static inline struct holder *holder_at(const struct depend *d, uint32_t id)
{
    return pool_at(&d->holders, id);
}
static inline struct entry_line *name_at(const struct depend *d, uint32_t id)
{
    return pool_at(&d->names, id);
}
static inline struct directory *directory_at(const struct depend *d, uint32_t id)
{
    return pool_at(&d->directories, id);
}

static inline uint64_t object_hash(uint32_t object) /* different for each object */
{
    object *= UINT32_C(0x9e3779b1);
    return (uint64_t)(object ^ object >> 16) << 32;
}
static inline uint64_t name_hash(uint32_t object, uint64_t name)
{
    name = (name ^ object_hash(object)) * UINT64_C(0x9e3779b97f4a7c15);
    return name ^ name << 32;
}

/* Without memory all of these set |failed|, and return NO_ID or nothing. */

/* depend_pool.c */
uint32_t depend_holder_of(struct depend *d, uint32_t object);
uint32_t depend_name_of(struct depend *d, uint32_t object, uint64_t name, uint32_t holder);
void mark_put(struct depend *d, uint32_t owner, uint64_t *chain);
void depend_expire(struct depend *d, uint64_t operation);
void *depend_grow_ring(void *ring, uint32_t *mask, uint64_t begin, uint64_t end, size_t size);

/* depend.c */
void candidate_put(struct depend *d, uint64_t operation);
uint32_t candidates_of_chain(struct depend *d, uint64_t chain);
void line_read(struct depend *d, struct line *line, uint32_t owner);
void line_change(struct depend *d, struct line *line);
void holder_mark(struct depend *d, uint32_t holder, uint32_t things);

/* depend_names.c */
void names_read(struct depend *d, uint32_t holder);
void name_change(struct depend *d, uint32_t id);
void names_prune(struct depend *d, uint32_t id); /* after depend_reduce() */
void name_unlink(struct depend *d, uint32_t id);

/* depend_data.c */
void data_use(struct depend *d, uint32_t holder, const struct use *use);
void file_forget(struct depend *d, uint32_t file);

/* depend_reduce.c: makes |candidates| the edges of |now|. Returns their number. */
uint32_t depend_reduce(struct depend *d);

#endif
