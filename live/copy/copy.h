/* SPDX-License-Identifier: GPL-2.0-or-later */
/* live/copy/copy.h
 *
 * The synchronizer: makes objects on the SUT equal to those of the reference, the most popular ones
 * first, while clients change them on the reference.  It takes objects from the mirror's queue; a
 * directory that it copies gives its children both handles and puts them into the queue.
 *
 *     copy_new, copy_begin with the roots' handles, copy_wake whenever there may be something to do
 *
 * One object, from MIRROR_COPYING to MIRROR_SYNCHRONIZED:
 *
 *   1. Its change set is opened (mirror_changes).  The copy waits until no call is outstanding
 * that began before: such a call may have changed the object already without being noted.
 *   2. It is read from the reference and made so on the SUT.  Changes that the host reads in the
 *      ring meanwhile are noted in the set, and copy_noted is called.
 *   3. The reply to the last call to the reference has a position in the ring (copy_replied).  Once
 *      no call is outstanding that began before it, all that the copy can have seen is in the copy
 *      or in the set; and of the calls that are still outstanding, it has seen nothing.
 *   4. The state becomes MIRROR_SYNCHRONIZED, host.synchronized is called, the set is played on the
 *      SUT, host.played is called.  Until then the host holds duplicates back.
 *
 * A set that became ambiguous or full, one that lacks contents or handles, and an object that
 * changed although nobody changed it through the relay, lead back to step 2, a bounded number of
 * times.
 *
 * Whoever changes an object's state from MIRROR_COPYING, or from MIRROR_SYNCHRONIZED before
 * host.played, ends this copy of it: the set is closed when its last call is answered.  Setting
 * MIRROR_QUEUED thus copies it again.  copy_leave comes before mirror_forget.
 *
 * Names on the SUT that the reference's directory does not have are removed, with all below.  What
 * has another name on the reference by now is not lost: until that name is made, it lies in a
 * directory ".nfstee-" and 16 digits in the SUT's root, which is there only as long as something is
 * in it.  Nothing outside of the SUT's root is touched.
 *
 * An object that cannot be copied has a pause, and is queued again: after 100 ms, twice that, and
 * so on to 60 s.  While it pauses, its state is MIRROR_UNKNOWN.
 *
 * Access control lists of files and directories are copied where both servers have NFSACL, at the
 * port of NFS.
 *
 * Access times on the reference change by copying: a file's and a directory's are not comparable
 * from step 2 on until a client changes them on both sides.  Other times are the reference's when
 * host.played is called, as far as the SUT takes them.  The number of links of a file with several
 * names is the reference's once all directories that have them are synchronized.
 *
 * Memory: |objects| * (COPY_LANES * 1 KiB + 8 * |list_bytes| + 25 KiB for an access control list at
 * most), the clients'; for each directory
 * that is being copied 32 to 64 bytes for each of its names on both sides; for a file whose changes
 * were too many to be kept 16 bytes for each of its extents; 100 KiB.
 */
#ifndef NFSDIGEST_COPY_COPY_H
#define NFSDIGEST_COPY_COPY_H

#include "mirror/change_set.h"
#include "mirror/objects.h"
#include "net/rpc_client.h"
#include "wire/nfs3_structs.h"

enum {
    COPY_LANES = 8, /* calls of one object that are outstanding at once */
    COPY_OBJECTS_MAX = 256,
    COPY_TEXT = 320,
};

/* Why an object is not synchronized. */
enum copy_why {
    COPY_GONE,         /* the reference does not have it any more; its state is MIRROR_GONE */
    COPY_REFERENCE,    /* the reference refuses to show it */
    COPY_SUT,          /* the SUT refuses something */
    COPY_NO_REFERENCE, /* no answer, or one that is none */
    COPY_NO_SUT,
    COPY_LOST,           /* the SUT does not have it any more: its directory is copied first */
    COPY_NO_SPACE,       /* on the SUT: NFS3ERR_NOSPC, NFS3ERR_DQUOT */
    COPY_BUSY,           /* it changes faster than it can be copied */
    COPY_CHANGED_BEHIND, /* it changes, but nobody changes it through the relay */
    COPY_NO_POSITION,    /* the ring did not show the reply to our own call */
    COPY_UNABLE,         /* the SUT cannot have such an object; its state is MIRROR_EXCLUDED */
    COPY_REASONS
};
const char *copy_why_text(enum copy_why why); /* a few words */

/* All are needed.  They may use the mirror, but not free the copy.  Those that return int return 0,
 * or a negative code that ends the loop. */
struct copy_host {
    /* The entry up to which the ring was read. */
    uint64_t (*position)(void *ctx);
    /* No call of a client is outstanding that touches |object| and whose begin is <= |before|. */
    bool (*is_quiet)(void *ctx, const struct mirror_object *object, uint64_t before);
    /* False: only its name, its type and its first attributes are made, and its state becomes
     * MIRROR_EXCLUDED.  Called when its type is known, for the name |name| in |directory|; NULL:
     * for the name by which the mirror knows it. */
    bool (*is_wanted)(void *ctx, struct mirror_object *object,
                      const struct mirror_object *directory, struct bytes name);
    /* From now on operations on |object| are duplicated (its state is MIRROR_SYNCHRONIZED), but
     * held back until |played|. */
    int (*synchronized)(void *ctx, struct mirror_object *object, struct err *err);
    int (*played)(void *ctx, struct mirror_object *object, struct err *err);
    /* It could not be copied, or was synchronized and has to be copied again.  |tries|: how often
     * in a row.  |text|: for people; without a path. */
    int (*failed)(void *ctx, struct mirror_object *object, enum copy_why why, uint32_t tries,
                  const char *text, struct err *err);
    void *ctx;
    /* May be NULL.  The object was the same on both servers once, and whether it still is shows in
     * the reference's |attributes|; NULL: it is worth asking for them.  True: nothing is read, only
     * the attributes are set on the SUT, and changes are played. */
    bool (*was_same)(void *ctx, const struct mirror_object *object,
                     const struct fattr3 *attributes);
};

/* The pointers must stay. */
struct copy_setup {
    struct loop *loop;
    struct mirror *mirror;
    struct change_pool *pool;
    /* Nobody else uses them.  Each must take |objects| * COPY_LANES calls, and call_bytes of
     * |piece| + 4 KiB for each.  Their |room| may call copy_wake, but need not. */
    struct rpc_client *reference, *sut;
    const struct rpc_auth *credential; /* for both: root's, or --sync-uid's */
    uint32_t objects;                  /* at once; 0: 16 */
    uint32_t piece;                    /* bytes of a READ and a WRITE; 0: 64 KiB */
    uint32_t list_bytes;               /* of a reply with names; 0: 16 KiB */
    uint64_t bytes_per_second;         /* read from the reference; 0: no limit */
    int64_t burst;               /* ns: what this time allows may be read at once; 0: 100 ms */
    uint64_t objects_per_second; /* 0: no limit */
    uint64_t names_max;          /* of a directory; 0: 16 million */
    uint64_t file_max;           /* bytes: longer files are COPY_UNABLE; 0: no limit */
    struct copy_host host;
};

struct copy;

/* -ERR_USAGE: bounds that make no sense.  NULL: |err| says why. */
struct copy *copy_new(const struct copy_setup *setup, struct err *err);
/* Frees it, after the clients, or when none of its calls is outstanding; before the mirror, the
 * pool and the loop.  Sets of objects are closed. */
void copy_free(struct copy *copy);

/* Adds the root to the mirror, with both handles, and queues it.  Called again, with another handle
 * of the SUT: the SUT begins anew; all of its handles are forgotten, and all that was synchronized,
 * queued or copied is MIRROR_UNKNOWN until its directory is copied. */
int copy_begin(struct copy *copy, struct bytes reference_root, struct bytes sut_root,
               struct err *err);

/* Something was queued, or became quiet, or a client has room: looks at it at the end of this
 * round.  The copy looks every few milliseconds by itself while something waits. */
void copy_wake(struct copy *copy);
/* The host read in the ring, at |position|, the reply to the copy's own call |xid|. */
void copy_replied(struct copy *copy, uint32_t xid, uint64_t position);
/* A change was noted in the set of |object|, with this result. */
void copy_noted(struct copy *copy, const struct mirror_object *object, enum changes result);
/* Copies an object whose state is MIRROR_COPYING again from the first step. */
void copy_again(struct copy *copy, const struct mirror_object *object);
/* The object is about to be forgotten: its copy ends, and it has no set then. */
void copy_leave(struct copy *copy, struct mirror_object *object);

struct copy_counts {
    uint64_t files, directories, links, others; /* synchronized */
    uint64_t bytes_read, bytes_written;         /* contents */
    uint64_t holes;                             /* bytes that were zeros, and not written */
    uint64_t reference_calls, sut_calls;
    uint64_t made, linked, moved, removed; /* names on the SUT */
    uint64_t again;                        /* copies that began again */
    uint64_t same;                         /* objects that were not read (host.was_same) */
    uint64_t played;                       /* changes, on the SUT */
    uint64_t refused_names;  /* of the reference: ".", "/" in them, too long, ... (RFC 1813 s3.2) */
    uint64_t refused_owners; /* objects whose owner the SUT does not set */
    uint64_t acls;           /* set, also those that say what the mode says */
    uint64_t refused_acls;   /* those that say more, and were not set */
    uint64_t failed[COPY_REASONS];
    uint32_t at_work; /* objects, now */
    uint32_t pausing; /* objects, now */
    bool has_scratch; /* the SUT's root has a name that the reference's has not; see above */
};
struct copy_counts copy_counts(const struct copy *copy);
/* The name in the SUT's root, for whoever compares listings. */
const char *copy_scratch_name(const struct copy *copy);

#endif
