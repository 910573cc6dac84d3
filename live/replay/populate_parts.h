/* SPDX-License-Identifier: GPL-2.0-or-later */
/* live/replay/populate_parts.h
 *
 * Shared by the files of populate: populate.c (phases, and what is under way), populate_send.c (the
 * calls), populate_take.c (their answers).
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
/* Counts and tells a difference. */
int populate_tell(struct item *item, const char *text, struct err *err);
/* -ERR_INPUT with the item's path before the words. */
int populate_fail(struct item *item, const char *what, uint32_t status, struct err *err);
/* The same call again, a little later. */
int populate_again(struct item *item, struct err *err);
/* A directory was found or made: its children come. */
void populate_enter(struct populate *p, uint32_t directory);
int populate_keep(struct item *item, struct bytes handle, struct err *err);

/* populate_send.c: sends the call of |item|->step, or lets it wait for room. */
int populate_send(struct item *item, struct err *err);
struct bytes populate_handle(const struct populate *p, uint32_t object);

/* populate_take.c */
int populate_take(struct bound_call *call, const struct bound_answer *answer, struct err *err);

#endif
