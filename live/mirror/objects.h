/* SPDX-License-Identifier: GPL-2.0-or-later */
/* live/mirror/objects.h
 *
 * What the shadow knows of objects: their handles on the reference and on the SUT, how far each is
 * synchronized, where it lies in the tree, and how popular it is (popularity.h).
 *
 * The table owns its objects.  A pointer to one is valid until mirror_forget takes it.
 *
 * Unlike live/player/objects.h, which finds objects by a dump's numbers and keeps 64 bytes for the
 * only handle, this table finds them by two handles and keeps as many bytes as a handle has.
 * Its tables of places are base/compact.h.  What few objects have lies beside them
 * (objects_rare.c).
 *
 * Memory: at most 160 bytes for each of the most objects that were there at the same time, with its
 * places in the tables and the queue, if handles have up to 32 bytes and names up to 16; longer
 * ones cost what they are longer; a handle of the reference and a name that others have, too, cost
 * nothing (mirror_share).  A directory needs 30 in addition; a forgotten one keeps 60 of all that
 * while one of its children is there.  Strings of all lengths come by 1024: at most 9 MB in
 * addition.  Tables need half as much again while they grow.
 */
#ifndef NFSDIGEST_MIRROR_OBJECTS_H
#define NFSDIGEST_MIRROR_OBJECTS_H

#include "base/bytes.h"
#include "base/err.h"

#include <stdbool.h>

enum {
    MIRROR_HANDLE_MAX = 64, /* RFC 1813 s2.4 */
    MIRROR_NAME_MAX = 255,
    MIRROR_DEPTH_MAX = 128, /* of the way up to the root; what is further up is not looked at */
};

enum mirror_state {
    MIRROR_UNKNOWN,
    MIRROR_QUEUED, /* waits for its turn: mirror_take_first */
    MIRROR_COPYING,
    MIRROR_SYNCHRONIZED,
    MIRROR_DIVERGED, /* the SUT did something else with it */
    MIRROR_EXCLUDED, /* the user, or what it is, keeps it from being synchronized */
    MIRROR_GONE,     /* removed on the reference; operations on it may be under way */
    MIRROR_STATES
};

struct change_set;

/* Millions of them are kept, so members share words.  Those without a comment "set" are read only:
 * functions below change them. */
struct mirror_object {
    uint32_t id : 31;     /* from 1 on; given again after mirror_forget */
    bool has_changes : 1; /* mirror_changes */
    uint32_t parent : 31; /* the id of the directory of its known name; 0: not known */
    bool is_root : 1;     /* set: an export's; its path is "/" */
    union {
        uint64_t popularity;
        uint32_t place; /* if it is queued: in the queue, which has its popularity */
    };
    /* Numbers of strings: mirror_handle and so on; those that are shared, of mirror_share's. */
    uint32_t handle, name;
    uint32_t sut_handle : 31;
    bool shares_handle : 1;
    uint32_t handle_len : 7, sut_handle_len : 7, name_len : 8; /* 0: not known */
    uint32_t type : 3;                                         /* ftype3; 0: not known */
    uint32_t state : 3;                                        /* enum mirror_state */
    uint32_t names : 3; /* 0: it is not known to have one; mirror_names */
    bool shares_name : 1;
};
_Static_assert(sizeof(struct mirror_object) <= 32, "the memory of an object");

struct mirror;

/* |half_life|, in ns and at least a second: after this time an access counts half. */
struct mirror *mirror_open(uint64_t half_life, struct err *err);
void mirror_close(struct mirror *mirror);

/* |texts| have most handles of the reference and most names, too, and stay as long as the table:
 * what mirror_add and mirror_add_name get from there is not kept a second time. */
struct texts;
void mirror_share(struct mirror *mirror, const struct texts *texts);

/* The object with this handle of the reference, or of the SUT; NULL: there is none. */
struct mirror_object *mirror_find(const struct mirror *mirror, struct bytes handle);
struct mirror_object *mirror_find_sut(const struct mirror *mirror, struct bytes handle);
/* The object with this id; NULL: there is none. */
struct mirror_object *mirror_at(const struct mirror *mirror, uint32_t id);
/* The object after |after| (NULL: the first one), by id; NULL: no further one.  Objects that are
 * added meanwhile may be left out; to forget |after| is allowed once the next one is known. */
struct mirror_object *mirror_next(const struct mirror *mirror, const struct mirror_object *after);

/* Finds the object, or adds it: state MIRROR_UNKNOWN.  NULL: the handle has 0 or more than 64 bytes
 * (ERR_INPUT), or there is no memory. */
struct mirror_object *mirror_add(struct mirror *mirror, struct bytes handle, struct err *err);
/* Forgets it.  Its children stay, and their place in the tree is not known any more. */
void mirror_forget(struct mirror *mirror, struct mirror_object *object);

/* Sets its handle on the SUT; 0 bytes: not known.  Another object with the same handle loses it:
 * servers may give the handle of a removed file again.  -ERR_INPUT: more than 64 bytes. */
int mirror_set_sut_handle(struct mirror *mirror, struct mirror_object *object, struct bytes handle,
                          struct err *err);

/* What no ftype3 has is noted as not known. */
static inline void mirror_set_type(struct mirror_object *object, uint32_t type)
{
    object->type = type < 8 ? type & 7 : 0;
}

/* The file id is noted of directories alone, whose type has to be known before.  Fails only without
 * memory. */
int mirror_set_fileid(struct mirror *mirror, const struct mirror_object *object, uint64_t fileid,
                      struct err *err);
/* True if the directory has this file id.  Different ones look alike once in 2^32. */
bool mirror_has_fileid(const struct mirror *mirror, const struct mirror_object *directory,
                       uint64_t fileid);

/* The set of an object that is being copied; NULL: it has none.  The caller owns it, and takes it
 * away, by NULL, before mirror_forget.  Few objects have one at the same time: each look-up takes
 * as long as the list of them. */
struct change_set *mirror_changes(const struct mirror *mirror, const struct mirror_object *object);
int mirror_set_changes(struct mirror *mirror, struct mirror_object *object,
                       struct change_set *changes, struct err *err);

/* MIRROR_QUEUED puts it into the queue, anything else takes it out.  Fails only without memory for
 * the queue. */
int mirror_set_state(struct mirror *mirror, struct mirror_object *object, enum mirror_state state,
                     struct err *err);

/* It has this name.  The first one is known, by which its path is found; further ones are counted.
 * The same name again changes nothing.  A name is counted, but not known, if it has more than 255
 * bytes, or none, or if |parent| stands below the object (no tree has that). */
int mirror_add_name(struct mirror *mirror, struct mirror_object *object,
                    struct mirror_object *parent, struct bytes name, struct err *err);
/* It lost this name.  If that was the known one, no name is known until the next mirror_add_name.
 * Returns the number of names that are left: 0 of a file whose last name went. */
uint32_t mirror_remove_name(struct mirror *mirror, struct mirror_object *object,
                            const struct mirror_object *parent, struct bytes name);

/* The number of names that it is known to have; at most UINT16_MAX are counted. */
uint32_t mirror_names(const struct mirror *mirror, const struct mirror_object *object);

/* Valid until the object's next change. */
struct bytes mirror_handle(const struct mirror *mirror, const struct mirror_object *object);
struct bytes mirror_sut_handle(const struct mirror *mirror, const struct mirror_object *object);
struct bytes mirror_name(const struct mirror *mirror, const struct mirror_object *object);

/* Appends its path, as bytes of the clients (base/escape.h for people).  Returns 0; 1: begins with
 * "?" in the place of directories that are not known; -ERR_SYSTEM: no memory. */
int mirror_path(const struct mirror *mirror, const struct mirror_object *object, struct buf *to);

uint64_t mirror_count(const struct mirror *mirror);
uint64_t mirror_count_state(const struct mirror *mirror, enum mirror_state state);
uint64_t mirror_memory(const struct mirror *mirror); /* bytes */

#endif
