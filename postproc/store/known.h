/* SPDX-License-Identifier: GPL-2.0-or-later */
/* postproc/store/known.h
 *
 * Whether an input is in the database already, so that nothing is counted twice.  The first 64 KiB
 * decide whether the question arises, size and digest of all of it what the answer is.
 */
#ifndef NFSDIGEST_STORE_KNOWN_H
#define NFSDIGEST_STORE_KNOWN_H

#include "capture/input.h"
#include "store/store.h"

enum known {
    KNOWN_NOT = 0,
    KNOWN_SAME = 1, /* |err| says as which source */
    /* -ERR_INPUT: it begins like a source, but is not the same: a longer, shorter or changed copy
     */
};

/* Before the input is read: reads it a second time if need be.  Standard input is never known. */
int known_file(struct store *store, struct input *input, struct err *err);

/* After it was read. */
int known_source(struct store *store, const struct input *input, uint64_t size,
                 const uint8_t digest[STORE_DIGEST_LEN], struct err *err);

/* An .nfsr stream, by its first bytes. */
bool known_is_stream(const uint8_t *head, size_t len);

#endif
