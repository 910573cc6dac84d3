/* SPDX-License-Identifier: GPL-2.0-or-later */
/* live/mirror/change_set.h
 *
 * What clients changed on the reference in one file or directory while it was copied to the SUT.
 * When the copy is complete, the changes are played on it, and both are equal: whether the copy saw
 * a change, saw it in part, or did not see it.
 *
 * Only successful operations are noted, in the order of their replies.  A note that the set cannot
 * take empties the set, which then takes nothing more until change_set_restart: the object has to
 * be copied again.  Two reasons:
 *
 *   CHANGES_AMBIGUOUS  the operation changes what another one changed too while both were under way
 *                      at once; so the order in which the reference executed them is not known
 *   CHANGES_FULL       a bound, no memory, or an operation that this object cannot have had
 *
 * What an operation changes: the bytes that it writes; all from the new end on, where it sets a
 * size; the attributes that it sets; names.  Changes of contents and of names also change mtime: so
 * mtime that was set before them is not played, and is ambiguous if it was set at the same time.
 *
 * Memory: the pool's bounds hold for all its sets together.  Beyond the one for contents, written
 * bytes are not kept and have to be read again from the reference.  In addition, each set has up to
 * 1 KiB, and CHANGES_RIVALS * 56 bytes for recent operations.
 */
#ifndef NFSDIGEST_MIRROR_CHANGE_SET_H
#define NFSDIGEST_MIRROR_CHANGE_SET_H

#include "base/bytes.h"
#include "base/err.h"
#include "wire/nfs3_structs.h"

enum {
    CHANGES_BLOCK = 256 << 10,  /* kept contents are not merged across multiples of this */
    CHANGES_EXTENTS_MAX = 4096, /* of one file */
    CHANGES_NAMES_MAX = 65536,  /* of one directory */
    CHANGES_RIVALS = 256,       /* recent operations that are known; see change_set_open */
    CHANGES_NAME_MAX = 255,
};

struct change_pool;
struct change_set;

/* Bounds in bytes: of contents, and of what is noted beside them. */
struct change_pool *change_pool_open(uint64_t contents_max, uint64_t notes_max, struct err *err);
void change_pool_close(struct change_pool *pool); /* after its sets */
uint64_t change_pool_contents(const struct change_pool *pool);
uint64_t change_pool_notes(const struct change_pool *pool);

enum changes { CHANGES_NOTED, CHANGES_AMBIGUOUS, CHANGES_FULL };

/* Positions of an operation's call and reply in the stream.  Equal |begin|: the same operation. */
struct change_time {
    uint64_t begin, end;
};

/* What operations that ended before |since| changed is not known to the set: an operation that
 * began before it and is noted is ambiguous.  0: nothing was missed. The set knows its last
 * CHANGES_RIVALS changes; it takes one that began before the end of an older one for ambiguous,
 * too. */
struct change_set *change_set_open(struct change_pool *pool, bool is_directory, uint64_t since,
                                   struct err *err);
void change_set_close(struct change_set *set);
/* Forgets the changes, when copying begins again.  Recent operations stay known: one of them may
 * still have an ambiguous order with one that is noted later. */
void change_set_restart(struct change_set *set);
enum changes change_set_state(const struct change_set *set);
bool change_set_is_empty(const struct change_set *set);

/* SETATTR, and UNCHECKED CREATE of a file that is there. */
enum changes change_note_attributes(struct change_set *set, struct change_time time,
                                    const struct sattr3 *attributes);
/* |data| NULL: not known.  |count|: what the server wrote. */
enum changes change_note_write(struct change_set *set, struct change_time time, uint64_t offset,
                               uint32_t count, const uint8_t *data);

struct change_child {
    struct bytes handle; /* of the reference; 0 bytes: the reply had none */
    uint8_t type;        /* ftype3 */
    struct bytes link_text;
    struct specdata3 device;
};
/* CREATE of a new file, MKDIR, SYMLINK, MKNOD, LINK.  Another object that had the name has lost it.
 * RENAME is change_note_removed with |is_moved| of the old name, and then this with the same child
 * and the same time, in the set of each directory. */
enum changes change_note_made(struct change_set *set, struct change_time time, struct bytes name,
                              const struct change_child *child);
/* REMOVE, RMDIR. */
enum changes change_note_removed(struct change_set *set, struct change_time time, struct bytes name,
                                 bool is_moved);

/* What is to be played.  All of it says how things are to be afterwards: they may be so already. */
struct change {
    enum change_kind {
        CHANGE_SIZE,  /* |size|, by SETATTR: first the lowest end that the file had, at last its own
                       */
        CHANGE_WRITE, /* |offset|, |data| */
        CHANGE_READ_AGAIN, /* |offset|, |length|: as they are on the reference now, which may be
                              less */
        CHANGE_REMOVE, /* |name|: nothing has it.  |is_moved|: what had it was renamed, maybe into
                        * another directory; it must not die if this is its last name on the SUT */
        CHANGE_MAKE,   /* |name| stands for |child| alone */
        CHANGE_ATTRIBUTES, /* |attributes|, without a size */
    } kind;
    uint64_t size, offset, length;
    struct bytes data, name;
    bool is_moved;
    struct change_child child;
    struct sattr3 attributes;
};

struct change_cursor { /* all zeros: the beginning */
    uint32_t stage, at;
};

/* Gives the changes one after the other, in the order in which they are to be played: sizes and
 * contents, or first all names that go and then those that come; attributes last.  Pointers are
 * valid until the set changes.  Returns false after the last one. */
bool change_set_next(const struct change_set *set, struct change_cursor *cursor,
                     struct change *change);

#endif
