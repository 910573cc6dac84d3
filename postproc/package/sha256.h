/* SPDX-License-Identifier: GPL-2.0-or-later */
/* postproc/package/sha256.h
 *
 * SHA-256 of files, through libgcrypt.
 */
#ifndef NFSDIGEST_PACKAGE_SHA256_H
#define NFSDIGEST_PACKAGE_SHA256_H

#include "base/err.h"

#include <stdbool.h>
#include <stdint.h>

enum { SHA256_HEX = 65 }; /* 64 digits and a zero */

struct sha256 {
    char hex[SHA256_HEX];
    uint64_t size; /* of the file, in bytes */
    bool found;    /* the needle stands in it */
};

/* Reads the file at |path| once.  |needle|: with its zero, 256 bytes at most; or NULL. */
int sha256_file(const char *path, const char *needle, struct sha256 *of, struct err *err);

/* 64 lower-case digits. */
bool sha256_is(const char *text);

#endif
