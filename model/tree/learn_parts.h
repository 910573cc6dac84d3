/* SPDX-License-Identifier: GPL-2.0-or-later */
/* model/tree/learn_parts.h
 *
 * Shared by the files of learn.h: learn.c (takes calls and results), learn_apply.c (applies
 * changes), learn_prove.c (infers operations), learn_explain.c (finds operations that came
 * before).
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

/* The operation that is being learned. */
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

/* Returns true unless the name is "", "." or "..", which say nothing about a directory's entries.
 */
static inline bool is_entry_name(struct bytes name)
{
    return name.len > 2 ||
           (name.len > 0 && (name.data[0] != '.' || name.data[name.len - 1] != '.'));
}

/* learn_apply.c: */

/* Applies the changes of names by a successful operation. */
int learn_apply(struct step *s);
/* Returns the node of a directory that the operation used, or NODE_NONE with |err| filled. */
uint32_t learn_directory(struct step *s, uint32_t object);
/* Returns the entry that an operation removes, and makes it if it was not known.  Returns
 * ENTRY_NONE if the order of the operations is unknown, or a negative code. */
int64_t learn_entry_taken(struct step *s, uint32_t parent, struct bytes name);
/* Notes the caller as the possible owner of the object: in a sticky directory only the owner may
 * remove a name. */
void learn_note_taker(const struct step *s, uint32_t node);
/* Ends an entry with the current operation, and notes that its name is absent. */
int learn_close_entry(struct step *s, uint32_t id, bool moves);

/* learn_explain.c: */

/* Notes an operation without a reply that may have changed names. */
void learn_doubt(struct learn *l, const struct effect *e);
/* Returns the id of such an operation on this name before the current one, or 0. */
int64_t learn_doubtful_id(const struct step *s, uint32_t parent, struct bytes name);

/* Says if a name is known to have been absent, since when, and which operation showed it.  |id| 0:
 * an operation without a reply that tried to make the name. */
struct absence {
    bool known;
    int64_t since, id;
};
struct absence learn_absence_of(const struct step *s, uint32_t parent, struct bytes name);

/* Applies one operation that was called and is not done yet, if it changes this name in the way
 * |how|.  Leaves out operations that came later by the directory's times (wcc_data).  Returns 1 if
 * one was applied, else 0, or a negative code. */
enum explanation {
    IT_BINDS,   /* it binds the name to |object|, or to any object if that is 0 */
    IT_REMOVES, /* it removes the name */
    IT_ENDS,    /* either of these: the name's old object is gone from it */
    IT_PRECEDES /* any operation that came earlier by the directory's times */
};
int learn_explain(struct step *s, uint32_t parent, struct bytes name, enum explanation how,
                  uint32_t object);

/* learn_prove.c: */

/* An operation that must have happened but was not captured.  Nodes may be NODE_NONE, and names may
 * have no data. */
struct unseen {
    enum repair_reason reason;
    int procedure;
    uint32_t node, parent, parent2;
    struct bytes name, name2;
    int64_t witness, precedes; /* struct inference */
};

/* Adds an inferred operation.  Returns its index or a negative code. */
int64_t learn_infer(struct step *s, const struct unseen *unseen);
int learn_making_procedure(uint8_t type);

/* Infers that the entry was removed. */
int learn_infer_removal(struct step *s, uint32_t id, enum repair_reason reason);
/* Infers the removal of all entries of a directory that was removed. */
int learn_empty_directory(struct step *s, uint32_t node);
/* Ends an entry that was removed or replaced.  If it is a directory, empties it first. */
int learn_replace(struct step *s, uint32_t id);

/* Takes proof that |name| stands for |object|, with |attributes| if they are not NULL. */
int prove_found(struct step *s, uint32_t parent, struct bytes name, uint32_t object,
                const struct attributes *attributes);
/* Takes proof that |name| exists.  Its |type| may be unknown (0). */
int prove_exists(struct step *s, uint32_t parent, struct bytes name, uint8_t type);
/* Takes proof that |object| is gone.  This proves nothing for a root or a directory with names in
 * it, because these may only be out of reach. */
int prove_gone(struct step *s, uint32_t object);
/* Takes proof that |name| is absent. */
int prove_absent(struct step *s, uint32_t parent, struct bytes name);

#endif
