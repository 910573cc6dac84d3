/* SPDX-License-Identifier: GPL-2.0-or-later */
/* model/tree/learn_parts.h
 *
 * What the files of learn.h share: learn.c (an operation that is called, and done), learn_apply.c
 * (what it does), learn_prove.c (what it proves), learn_explain.c (which of others came before).
 */
#ifndef NFSDIGEST_TREE_LEARN_PARTS_H
#define NFSDIGEST_TREE_LEARN_PARTS_H

#include "tree/learn.h"

/* Procedures that can be inferred, RFC 1813 s3.3. */
enum {
    NFS3_CREATE = 8,
    NFS3_MKDIR = 9,
    NFS3_SYMLINK = 10,
    NFS3_MKNOD = 11,
    NFS3_REMOVE = 12,
    NFS3_RMDIR = 13,
    NFS3_RENAME = 14,
    NFS3_LINK = 15,
};

/* An operation at work. */
struct step {
    struct learn *l;
    struct hierarchy *h;
    struct effect *e;
    struct err *err;
};

int learn_no_node(struct err *err);

static inline bool overlaps(const struct step *s, int64_t done)
{
    return done >= s->e->call_time;
}

/* Not "", "." and "..", which say nothing about what stands in a directory. */
static inline bool is_entry_name(struct bytes name)
{
    return name.len > 2 ||
           (name.len > 0 && (name.data[0] != '.' || name.data[name.len - 1] != '.'));
}

/* learn_apply.c: */

/* Takes in what a success changes of names. */
int learn_apply(struct step *s);
/* The node of a directory that was used, or none with |err| filled. */
uint32_t learn_directory(struct step *s, uint32_t object);
/* The entry that an operation takes away, made if it was not known: ENTRY_NONE when the order of
 * things is unknown, or negative. */
int64_t learn_entry_taken(struct step *s, uint32_t parent, struct bytes name);
/* In sticky directories, whoever may take a name away owns the object. */
void learn_note_taker(const struct step *s, uint32_t node);
/* The entry ends, with the operation; its name is known to be absent then. */
int learn_close_entry(struct step *s, uint32_t id, bool moves);

/* learn_explain.c: */

/* The operation was called and may have changed names; nobody knows. */
void learn_doubt(struct learn *l, const struct effect *e);
/* Such an operation that came before this one, or 0. */
int64_t learn_doubtful_id(const struct step *s, uint32_t parent, struct bytes name);

/* Whether a name is known to have stood for nothing, since when, and what operation showed it (0:
 * one without a reply, which set out to make it). */
struct absence {
    bool known;
    int64_t since, id;
};
struct absence learn_absence_of(const struct step *s, uint32_t parent, struct bytes name);

/* Takes in one operation that was called and is not done, if it changes this name as is asked for:
 * 1, else 0.  Not one that came later by the directory's times (wcc_data). */
enum explanation {
    IT_BINDS,   /* it makes the name stand for |object|, or for anything when that is 0 */
    IT_REMOVES, /* it takes the name away */
    IT_ENDS,    /* either, so that what it stood for is gone */
    IT_PRECEDES /* whatever it does, it came earlier by the directory's times */
};
int learn_explain(struct step *s, uint32_t parent, struct bytes name, enum explanation how,
                  uint32_t object);

/* learn_prove.c: */

/* An operation that must have happened unseen.  Nodes may be none, names without data. */
struct unseen {
    enum repair_reason reason;
    int procedure;
    uint32_t node, parent, parent2;
    struct bytes name, name2;
    int64_t witness, precedes; /* struct inference */
};

/* Adds it to the inferences. Returns its index or a negative code. */
int64_t learn_infer(struct step *s, const struct unseen *unseen);
int learn_making_procedure(uint8_t type);

/* The entry was taken away unseen. */
int learn_infer_removal(struct step *s, uint32_t id, enum repair_reason reason);
/* A directory that goes has no entries left. */
int learn_empty_directory(struct step *s, uint32_t node);
/* The entry is removed, or gives way to another one, with nothing left in it. */
int learn_replace(struct step *s, uint32_t id);

/* |name| stands for |object|, with |attributes| if they are not NULL. */
int prove_found(struct step *s, uint32_t parent, struct bytes name, uint32_t object,
                const struct attributes *attributes);
/* It stands for something, of a type that may be unknown. */
int prove_exists(struct step *s, uint32_t parent, struct bytes name, uint8_t type);
/* |object| is no more.  A directory with names in it, or a root, may also be out of reach: of those
 * nothing is proved. */
int prove_gone(struct step *s, uint32_t object);
/* It stands for nothing. */
int prove_absent(struct step *s, uint32_t parent, struct bytes name);

#endif
