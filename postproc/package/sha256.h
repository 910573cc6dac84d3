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
    bool found;    /* the needle is in the file */
};

/* Reads the file at |path| once.  |needle|: a text to look for, at most 256 bytes with its zero; or
 * NULL. */
int sha256_file(const char *path, const char *needle, struct sha256 *of, struct err *err);

/* Returns true for 64 hexadecimal digits in lower case. */
bool sha256_is(const char *text);

#endif
