/* SPDX-License-Identifier: GPL-2.0-or-later */
/* model/effect/effect.h
 *
 * One operation and its effect on files and names: its objects and names, the values that it asked
 * for, and its result.  The roles of fields decide everything (engine/wire/field.h).  There are no
 * procedure numbers here.
 *
 * The reader of operations owns an effect and the memory behind its pointers.
 */
#ifndef NFSDIGEST_EFFECT_EFFECT_H
#define NFSDIGEST_EFFECT_EFFECT_H

#include "record/kept.h"
#include "wire/nfs3_numbers.h"

enum whose { OF_OBJECT, OF_PARENT, OF_PARENT2, OF_NEW_OBJECT, OF_ENTRY, WHOSE_MAX };

/* fattr3, RFC 1813 s2.6; times in ns since the epoch. */
struct attributes {
    uint8_t type; /* enum object_type */
    uint32_t mode, nlink, uid, gid;
    uint64_t size, fsid, fileid;
    uint32_t rdev[2];
    int64_t atime, mtime, ctime;
    bool is_over; /* one of them has a second or more of nanoseconds */
};

/* wcc_attr */
struct attributes_before {
    uint64_t size;
    int64_t mtime, ctime;
    bool is_over;
};

/* Values that a sattr3 or similar arguments ask for.  Times and guards stay in the arguments. */
enum {
    ASKED_MODE = 1 << 0,
    ASKED_UID = 1 << 1,
    ASKED_GID = 1 << 2,
    ASKED_SIZE = 1 << 3,
    ASKED_TYPE = 1 << 4,
    ASKED_HOW = 1 << 5,
    ASKED_TIMES = 1 << 6, /* to set atime or mtime */
    ASKED_GUARD = 1 << 7, /* to be refused if ctime differs */
};
struct asked {
    uint32_t bits, mode, uid, gid, type;
    uint32_t how; /* createmode3: 0 UNCHECKED, 1 GUARDED, 2 EXCLUSIVE */
    uint64_t size;
    uint64_t cookie; /* for a listing: where it begins */
};

struct effect {
    int64_t id;
    int64_t call_time, done_time; /* ns; |done_time|: of the reply, or of the call without one */
    bool timed; /* both packets have a time; false: the times only give the order */
    uint32_t program, version;
    const struct procedure *procedure; /* NULL: the call was not captured, or there is no table */
    const char *server;                /* lives as long as the reader */
    uint32_t server_number, client_number; /* hosts, numbered from 1 as they appear */
    uint32_t credential;                   /* row of the database, or 0 */
    uint8_t pairing;                       /* enum pairing */
    uint32_t call_flags, reply_flags;      /* SIGHTING_ bits */
    enum walk_result arguments, result;    /* WALK_OK also if more bytes follow the end */
    int64_t rpc_status, status;            /* STATUS_NONE: there is none */
    bool succeeded;                        /* answered, and the status is 0 */
    uint32_t roles;                        /* roles of all fields of the arguments */
    uint32_t result_roles;                 /* roles of all fields of the result */

    uint32_t object, parent, parent2, new_object; /* ids of the database, or 0 */
    uint32_t object_role, name_role, parent2_role, name2_role;
    struct bytes name, name2, root_path, link_text;
    struct bytes handle, handle2; /* of |object| and |parent2|, in the arguments */
    uint64_t offset, count;       /* asked for */
    uint64_t done;                /* read or written, when |has_done| */
    bool has_done, has_eof, eof;
    bool has_granted;
    uint32_t granted; /* ACCESS */
    struct asked asked;
    /* of the contents that were read or written, when |has_digest|: all of them were captured */
    bool has_digest;
    uint8_t digest[16];  /* XXH3-128 */
    struct bytes blocks; /* their digests by blocks (base/blocks.h), when there are any */

    /* only readers that were asked for them set these (effects.h): */
    uint32_t flow, xid;   /* |flow|: 0: not known */
    uint32_t calls_again; /* how many times the call was sent again */
    bool replies_differ;  /* a later reply has other bytes than the first one */

    /* for readers of effects: */
    bool applied; /* its changes of names were applied before it was done */
    uint32_t mark;

    /* their places in the bodies; NULL: not there */
    const uint8_t *fattr3[WHOSE_MAX], *wcc_attr[WHOSE_MAX];
    struct bytes arguments_body, result_body;
    uint32_t arguments_length, result_length; /* on the wire */

    /* only effect_decode_reply sets these: */
    struct bytes new_handle; /* of the object found or made */
    struct bytes contents;   /* what was read */
};

/* Reads the 84 bytes of a fattr3. */
void effect_load_attributes(const uint8_t *fattr3, struct attributes *to);

/* Return the bodies.  They live as long as the effect. */
static inline struct kept_body effect_arguments(const struct effect *e)
{
    return (struct kept_body){ e->arguments_body, e->arguments_length, e->call_flags };
}

static inline struct kept_body effect_result(const struct effect *e)
{
    return (struct kept_body){ e->result_body, e->result_length, e->reply_flags };
}

/* Returns the kind of the operation, from its procedure's row (engine/wire/field.h). */
static inline enum action effect_action(const struct effect *e)
{
    return e->procedure ? (enum action)e->procedure->action : ACTION_NONE;
}

/* Return true if success removes or makes this name (field.h), and the name was captured. */
static inline bool effect_takes_name(const struct effect *e)
{
    return e->name.data && action_takes_name(effect_action(e));
}

static inline bool effect_makes_name(const struct effect *e)
{
    return e->name.data && action_makes_name(effect_action(e));
}

static inline bool effect_makes_name2(const struct effect *e)
{
    return e->name2.data && action_makes_name2(effect_action(e));
}

/* Returns true for a RENAME with both names. */
static inline bool effect_moves(const struct effect *e)
{
    return e->name.data && e->name2.data && effect_action(e) == ACTION_RENAME;
}

/* Returns true if the operation looks |name| up. */
static inline bool effect_finds_name(const struct effect *e)
{
    return e->name.data && effect_action(e) == ACTION_FIND;
}

/* Reads the attributes of one object in the result.  Returns false if there are none. */
bool effect_attributes(const struct effect *effect, enum whose whose, struct attributes *to);
/* Returns true if the operation reads the object's contents (data, entries, link text), so that its
 * access time changes. */
bool effect_reads_contents(const struct effect *effect);
/* Returns true if it sets the object's attributes.  Outcomes of later requests depend on these. */
bool effect_changes_rights(const struct effect *effect);
/* Returns true if it changes names, and at least one of them was captured, whole or cut. */
bool effect_changes_names(const struct effect *effect);
bool effect_before(const struct effect *effect, enum whose whose, struct attributes_before *to);
/* The ctime that the request gave the object, or the name's directory.  False: it is not known, or
 * nothing was changed, as by a WRITE of no bytes. */
bool effect_change_time(const struct effect *effect, int64_t *ctime);

/* An entry of a listing. */
struct effect_entry {
    struct bytes name, handle; /* no handle: READDIR */
    uint64_t cookie;           /* the place after the entry; 0: not there */
    struct attributes attributes;
    bool has_attributes;
};

/* Calls |entry| for each entry of a listing, also "." and "..".  Stops at a result that is not 0,
 * and returns it. */
int effect_entries(const struct effect *effect,
                   int (*entry)(void *ctx, const struct effect_entry *entry), void *ctx);
/* The same for callers that do not look at attributes, which may be missing then. */
int effect_names(const struct effect *effect,
                 int (*entry)(void *ctx, const struct effect_entry *entry), void *ctx);

/* Returns the effect of a record, with its bodies, for effect_decode. */
struct effect effect_of_record(const struct record_operation *op);

/* Reads the bodies into the rest of |effect|.  Bodies, lengths and procedure must be set. */
void effect_decode(struct effect *effect);
/* Forgets the result: all that effect_decode_reply sets, and what it wants set but the procedure.
 */
static inline void effect_clear_reply(struct effect *e)
{
    memset(e->fattr3, 0, sizeof(e->fattr3));
    memset(e->wcc_attr, 0, sizeof(e->wcc_attr));
    e->result_body = e->link_text = e->new_handle = e->contents = (struct bytes){ 0 };
    e->result_length = e->result_roles = e->granted = 0;
    e->result = WALK_OK;
    e->rpc_status = e->status = 0;
    e->done = 0;
    e->succeeded = e->has_done = e->has_eof = e->eof = e->has_granted = false;
}

/* Reads only the result, from the body of a message: with the contents of files, which records do
 * not keep.  |result_body|, |rpc_status|, |status| and procedure must be set. */
void effect_decode_reply(struct effect *effect);

#endif
