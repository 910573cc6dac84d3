/* SPDX-License-Identifier: GPL-2.0-or-later */
/* postproc/digest/expect.h
 *
 * What a replay of an operation must show again, as a digest (schemas/rdump.md section 5): XXH3-64
 * of the values of all groups whose bit is in the mask, in the order of the bits, each value
 * big-endian as in XDR.  Not in it: times, fileids, fsids, cookies, verifiers, space used, sizes of
 * directories and devices, file contents, and what FSSTAT, FSINFO and PATHCONF show of their
 * object: they wait for nobody who changes it.
 *
 * Groups of attributes come four times, for the object of the call, its directory (the one of the
 * first name), its second directory, and the object found or made: bits 5 n + 0 ... 4.
 */
#ifndef NFSDIGEST_DIGEST_EXPECT_H
#define NFSDIGEST_DIGEST_EXPECT_H

#include "digest/effect.h"

enum {
    EXPECT_TYPE,  /* type u32; of devices also major u32, minor u32 */
    EXPECT_MODE,  /* u32, its lower 12 bits */
    EXPECT_OWNER, /* uid u32, gid u32 */
    EXPECT_NLINK, /* u32 */
    EXPECT_SIZE,  /* u64; regular files and symbolic links only */
    EXPECT_GROUPS,
    /* bits: */
    EXPECT_IDENTITY = 1 << 20, /* number of the object found or made, u32 */
    EXPECT_ACCESS = 1 << 21,   /* ACCESS: what is granted, u32 */
    EXPECT_TEXT = 1 << 22,     /* READLINK: length u32, then the bytes */
    EXPECT_READ = 1 << 23,     /* READ: count u32, eof u32 (0 or 1) */
    EXPECT_NAMES = 1 << 24,    /* a listing that is complete in one reply: number of names u32, then
                                * for each, in the order of their bytes, length u32, bytes, and with
                                * READDIRPLUS the number of the object u32 (0: no handle); without
                                * "." and ".." */
};
/* Bit of a group of attributes; |whose|: 0 object, 1 directory, 2 second directory, 3 found or
 * made. */
#define EXPECT_ATTRIBUTE(whose, group) (UINT32_C(1) << ((whose) * EXPECT_GROUPS + (group)))

struct expect_entry {
    struct bytes name;
    uint32_t object;
};

struct expect {
    const struct effect *effect; /* the values */
    uint32_t mask;
    uint32_t object; /* number of what was found or made */
    bool with_objects;
    struct expect_entry *entries; /* will be sorted */
    uint32_t entry_count;
};

/* 0, or -1: no memory, or the mask asks for attributes that are not there. */
int expect_digest(const struct expect *expect, struct buf *scratch, uint64_t *digest);

#endif
