/* SPDX-License-Identifier: GPL-2.0-or-later */
/* tests/lib/nfs3_statuses.h
 *
 * Which statuses the procedures of NFSv3 may have: the lists "ERRORS" of RFC 1813 s3.3.1 to
 * s3.3.21, and some that Linux's server has, too, and our server as it (live/fs/fs.h).  Independent
 * of engine/wire and live.
 */
#ifndef NFSDIGEST_TESTS_NFS3_STATUSES_H
#define NFSDIGEST_TESTS_NFS3_STATUSES_H

#include "wire/nfs3_numbers.h"

#include <stdbool.h>

/* With any handle, but for those that ask only for constants. */
#define STATUSES_OF_ALL NFS3ERR_IO, NFS3ERR_STALE, NFS3ERR_BADHANDLE, NFS3ERR_SERVERFAULT
#define STATUSES_OF_MAKING                                                                         \
    STATUSES_OF_ALL, NFS3ERR_ACCES, NFS3ERR_EXIST, NFS3ERR_NOTDIR, NFS3ERR_NOSPC, NFS3ERR_ROFS,    \
        NFS3ERR_NAMETOOLONG, NFS3ERR_DQUOT, NFS3ERR_NOTSUPP

enum { STATUSES_MAX = 24, STATUSES_PROCEDURES = 22 };

static const uint32_t statuses_listed[STATUSES_PROCEDURES][STATUSES_MAX] = {
    [1] = { STATUSES_OF_ALL },
    [2] = { STATUSES_OF_ALL, NFS3ERR_PERM, NFS3ERR_ACCES, NFS3ERR_INVAL, NFS3ERR_NOSPC,
            NFS3ERR_ROFS, NFS3ERR_DQUOT, NFS3ERR_NOT_SYNC },
    [3] = { STATUSES_OF_ALL, NFS3ERR_NOENT, NFS3ERR_ACCES, NFS3ERR_NOTDIR, NFS3ERR_NAMETOOLONG },
    [4] = { STATUSES_OF_ALL },
    [5] = { STATUSES_OF_ALL, NFS3ERR_INVAL, NFS3ERR_ACCES, NFS3ERR_NOTSUPP },
    [6] = { STATUSES_OF_ALL, NFS3ERR_NXIO, NFS3ERR_ACCES, NFS3ERR_INVAL },
    [7] = { STATUSES_OF_ALL, NFS3ERR_ACCES, NFS3ERR_FBIG, NFS3ERR_DQUOT, NFS3ERR_NOSPC,
            NFS3ERR_ROFS, NFS3ERR_INVAL },
    [8] = { STATUSES_OF_MAKING },
    [9] = { STATUSES_OF_MAKING },
    [10] = { STATUSES_OF_MAKING },
    [11] = { STATUSES_OF_MAKING, NFS3ERR_BADTYPE },
    [12] = { STATUSES_OF_ALL, NFS3ERR_NOENT, NFS3ERR_ACCES, NFS3ERR_NOTDIR, NFS3ERR_NAMETOOLONG,
             NFS3ERR_ROFS },
    [13] = { STATUSES_OF_ALL, NFS3ERR_NOENT, NFS3ERR_ACCES, NFS3ERR_INVAL, NFS3ERR_EXIST,
             NFS3ERR_NOTDIR, NFS3ERR_NAMETOOLONG, NFS3ERR_ROFS, NFS3ERR_NOTEMPTY, NFS3ERR_NOTSUPP },
    [14] = { STATUSES_OF_MAKING, NFS3ERR_NOENT, NFS3ERR_XDEV, NFS3ERR_ISDIR, NFS3ERR_INVAL,
             NFS3ERR_MLINK, NFS3ERR_NOTEMPTY },
    [15] = { STATUSES_OF_MAKING, NFS3ERR_XDEV, NFS3ERR_INVAL, NFS3ERR_MLINK },
    [16] = { STATUSES_OF_ALL, NFS3ERR_ACCES, NFS3ERR_NOTDIR, NFS3ERR_BAD_COOKIE, NFS3ERR_TOOSMALL },
    [17] = { STATUSES_OF_ALL, NFS3ERR_ACCES, NFS3ERR_NOTDIR, NFS3ERR_BAD_COOKIE, NFS3ERR_TOOSMALL,
             NFS3ERR_NOTSUPP },
    [18] = { STATUSES_OF_ALL },
    [19] = { NFS3ERR_STALE, NFS3ERR_BADHANDLE, NFS3ERR_SERVERFAULT },
    [20] = { NFS3ERR_STALE, NFS3ERR_BADHANDLE, NFS3ERR_SERVERFAULT },
    [21] = { STATUSES_OF_ALL },
};

/* Beyond the RFC: those of Linux's server where the RFC has none that fits. */
static const uint32_t statuses_beyond[STATUSES_PROCEDURES][STATUSES_MAX] = {
    [2] = { NFS3ERR_FBIG },
    [8] = { NFS3ERR_INVAL, NFS3ERR_FBIG }, /* a time with 10^9 ns */
    [9] = { NFS3ERR_INVAL },
    [10] = { NFS3ERR_INVAL },
    [11] = { NFS3ERR_INVAL, NFS3ERR_PERM }, /* only root makes devices */
    [12] = { NFS3ERR_ISDIR },
    [21] = { NFS3ERR_INVAL }, /* not a file */
};

static inline bool statuses_have(const uint32_t list[STATUSES_MAX], uint32_t status)
{
    for (int i = 0; i < STATUSES_MAX && list[i]; i++)
        if (list[i] == status)
            return true;
    return false;
}

/* JUKEBOX may come from every procedure (s2.6). */
static inline bool status_is_listed(uint32_t procedure, uint32_t status)
{
    return status == NFS3_OK || status == NFS3ERR_JUKEBOX ||
           (procedure < STATUSES_PROCEDURES && (statuses_have(statuses_listed[procedure], status) ||
                                                statuses_have(statuses_beyond[procedure], status)));
}

#endif
