/* SPDX-License-Identifier: GPL-2.0-or-later */
/* model/effect/expect.h
 *
 * The values that a replay of an operation must show again (schemas/rdump.md section 5): a mask of
 * groups of values, and a digest.  The digest is the XXH3-64 of the values of all groups in the
 * mask, in the order of the bits, each value big-endian as in XDR.  Two kinds of groups are not in
 * the digest: EXPECT_SOME_NAMES, and link counts of directories.  Link counts are stored as they
 * are, because many servers count differently.  These values are in no group: times, fileids,
 * fsids, cookies, verifiers, used space, sizes of directories and devices, and file contents.  The
 * attributes that FSSTAT, FSINFO and PATHCONF show are in no group either, because these operations
 * do not wait for changes of their object.
 *
 * Groups of attributes come four times: for the object of the call, its directory (that of the
 * first name), its second directory, and the object found or made: bits 6 n + 0 ... 5.
 */
#ifndef NFSDIGEST_EFFECT_EXPECT_H
#define NFSDIGEST_EFFECT_EXPECT_H

#include "effect/effect.h"

enum {
    EXPECT_TYPE,  /* type u32; for devices also major u32, minor u32 */
    EXPECT_MODE,  /* u32, its lower 12 bits */
    EXPECT_OWNER, /* uid u32, gid u32 */
    EXPECT_NLINK, /* u32; not of directories */
    EXPECT_SIZE,  /* u64; regular files and symbolic links only */
    EXPECT_LINKS, /* u32: nlink of a directory; not in the digest */
    EXPECT_GROUPS,
    /* bits: */
    EXPECT_IDENTITY = 1 << 24, /* number of the object found or made, u32 */
    EXPECT_ACCESS = 1 << 25,   /* ACCESS: the granted bits, u32 */
    EXPECT_TEXT = 1 << 26,     /* READLINK: length u32, then the bytes */
    EXPECT_READ = 1 << 27,     /* READ: count u32, eof u32 (0 or 1) */
    /* all names of a directory, from one or several listings up to the end: their number u32, and
     * the sum of their hashes u64; without "." and ".." */
    EXPECT_NAMES = 1 << 28,
    EXPECT_BEHIND = 1 << 29,     /* sum of the hashes of these names with their objects, u64 */
    EXPECT_SOME_NAMES = 1 << 30, /* names that the directory must have; not in the digest */
};
/* Bit of a group of attributes; |whose|: 0 object, 1 directory, 2 second directory, 3 found or
 * made. */
#define EXPECT_ATTRIBUTE(whose, group) (UINT32_C(1) << ((whose) * EXPECT_GROUPS + (group)))
/* All groups that are not in the digest. */
#define EXPECT_BESIDE                                                                              \
    (EXPECT_ATTRIBUTE(0, EXPECT_LINKS) | EXPECT_ATTRIBUTE(1, EXPECT_LINKS) |                       \
     EXPECT_ATTRIBUTE(2, EXPECT_LINKS) | EXPECT_ATTRIBUTE(3, EXPECT_LINKS) |                       \
     (uint32_t)EXPECT_SOME_NAMES)

/* The names that a listing has shown so far.  Their order does not change the sums. */
struct expect_names {
    uint32_t count;
    uint64_t sum, behind; /* modulo 2^64 */
    bool has_behind;      /* the objects of all names are known */
};

/* Adds a name.  |object|: the number of its object; 0: not known. */
void expect_name(struct expect_names *names, struct bytes name, uint32_t object);

struct expect {
    const struct effect *effect; /* the values */
    uint32_t mask;
    uint32_t object; /* number of the object found or made */
    const struct expect_names *names;
};

/* Puts the values that the digest covers into |values|, and link counts of directories into
 * |links|.  Empties both first.  Returns 0, or -1 without memory or if attributes of the mask are
 * missing. */
int expect_values(const struct expect *expect, struct buf *values, struct buf *links);
/* The same, with their digest; 0 if it covers nothing of the mask. */
int expect_digest(const struct expect *expect, struct buf *values, struct buf *links,
                  uint64_t *digest);

#endif
