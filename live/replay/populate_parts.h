/* SPDX-License-Identifier: GPL-2.0-or-later */
/* live/replay/populate_parts.h
 *
 * Shared by the files of populate: populate.c (phases, and what is under way), populate_send.c (the
 * calls), populate_take.c (their answers), populate_contents.c (those about contents).
 */
#ifndef NFSDIGEST_REPLAY_POPULATE_PARTS_H
#define NFSDIGEST_REPLAY_POPULATE_PARTS_H

#include "replay/attributes.h"
#include "replay/populate.h"

/* What is known of an object. */
struct place {
    struct known {
        uint64_t fileid;
        uint8_t len;
        uint8_t handle[];
    } *known; /* NULL: not found, or no longer needed */
    uint8_t flags;
};

enum {
    PLACE_THERE = 1 << 0,   /* found or made */
    PLACE_MADE = 1 << 1,    /* by this run: a directory is empty */
    PLACE_CHANGED = 1 << 2, /* a directory whose attributes must be set */
    PLACE_SEVERAL = 1 << 3, /* further links follow: the handle is kept */
};

/* The next call for an object. */
enum step {
    STEP_LOOKUP,
    STEP_GETATTR,
    STEP_MAKE,
    STEP_WRITE,
    STEP_COMMIT,
    STEP_SET,
    STEP_LINK,
    STEP_READLINK,
    STEP_READ,
    STEP_LIST
};

enum phase { PHASE_OBJECTS, PHASE_LINKS, PHASE_DIRECTORIES, PHASE_END };

/* An object under way. */
struct item {
    struct bound_call call; /* first */
    struct populate *populate;
    struct item *next; /* free, or waiting for room, or for |again| */
    uint32_t object;
    uint32_t entry;      /* PLAN_ROOT: it is named as a root; */
    uint32_t link;       /* not 0: the number of a link in the scratch directory */
    uint8_t step, tries; /* |tries|: SETATTRs */
    uint8_t empty;       /* WRITEs and READs in a row that moved nothing */
    bool further;        /* this is not the object's first name */
    bool unstable, written, has_verifier;
    uint32_t set; /* ATTRIBUTE_ of the SETATTR */
    uint64_t offset;
    /* WRITEs of a file go out several at a time, as far as items are free.  Each writer, the file's
     * own item and its parts, has a piece of the file from |offset| to |end|. */
    struct item *part_of;     /* NULL: this is the file's own */
    uint64_t end, unassigned; /* |unassigned|: what no writer has begins there; of the file's own */
    uint8_t writers;          /* the same */
    bool lost;                /* the same: the server lost something, so all is written again */
    uint16_t losses;          /* the same: how often that was */
    uint8_t verifier[NFS3_WRITEVERFSIZE];
    bool has_attributes;
    struct fattr3 attributes;
    char name[RDUMP_NAME_ROOM]; /* if it is not an entry's */
    uint64_t cookie;            /* STEP_LIST */
    uint8_t cookie_verifier[NFS3_COOKIEVERFSIZE];
};

struct populate {
    const struct populate_setup *setup;
    const struct plan *plan;
    struct populate_counts *counts;
    struct pipeline *pipeline;
    struct place *places; /* by object number */
    struct item *items;
    struct item *free, *waiting, **waiting_end, *again;
    struct timer again_timer, progress_timer;
    uint32_t under_way;
    uint32_t
        *stack; /* directories whose children are to come; their number is at most the objects' */
    uint32_t stack_count;
    uint32_t *cursor; /* by object number: the next child of a directory */
    uint32_t next;    /* of the phase: root object, further entry, directory */
    uint32_t extra, extra_link;
    enum phase phase;
    uint32_t write_most, read_most;
    uint8_t *room; /* contents.h */
    bool ended;
};

/* populate.c */
/* The item is done: takes the next one. */
void populate_done(struct item *item);
int populate_go_on(struct populate *p, struct err *err);
/* Another item for the same object; NULL: none is free, or something waits for room. */
struct item *populate_part(struct item *item);
void populate_part_done(struct item *part);
/* Counts and tells a difference. */
int populate_tell(struct item *item, const char *text, struct err *err);
/* -ERR_INPUT with the item's path before the words. */
int populate_refuse(struct item *item, const char *what, struct err *err);
int populate_fail(struct item *item, const char *what, uint32_t status, struct err *err);
/* The same call again, a little later. */
int populate_again(struct item *item, struct err *err);
/* A directory was found or made: its children come. */
void populate_enter(struct populate *p, uint32_t directory);
int populate_keep(struct item *item, struct bytes handle, struct err *err);

/* populate_send.c: sends the call of |item|->step, or lets it wait for room. */
int populate_send(struct item *item, struct err *err);
struct bytes populate_handle(const struct populate *p, uint32_t object);

static inline const struct rdump_object *populate_object(const struct item *item)
{
    return plan_object(item->populate->plan, item->object);
}

/* populate_contents.c: writes the whole file of |item|, then sets its attributes. */
int populate_write(struct item *item, struct err *err);
/* The answers to WRITE, COMMIT and READ. */
int populate_written(struct item *item, struct bytes body, struct err *err);
int populate_committed(struct item *item, struct bytes body, struct err *err);
int populate_was_read(struct item *item, struct bytes body, struct err *err);

/* populate_take.c */
/* Goes on with this step. */
int populate_step(struct item *item, enum step step, struct err *err);
int populate_take(struct bound_call *call, const struct bound_answer *answer, struct err *err);

#endif
