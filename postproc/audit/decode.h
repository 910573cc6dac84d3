/* SPDX-License-Identifier: GPL-2.0-or-later */
/* postproc/audit/decode.h
 *
 * Decodes bytes as if they were encoded: lower case, reversed, and decoded from hexadecimal digits,
 * base 64, UTF-16 and percent signs, at every alignment.  If one of these results has a secret in
 * lower case, the secret was encoded in this way.  So the search needs no patterns of encoded
 * secrets.
 *
 * Memory: constant, DECODE_PIECE bytes of input at a time.
 */
#ifndef NFSDIGEST_AUDIT_DECODE_H
#define NFSDIGEST_AUDIT_DECODE_H

#include "base/err.h"

#include <stdint.h>

enum {
    DECODE_PIECE = 2048,
    DECODE_OVERLAP = 128, /* of two pieces; 16 bytes are shorter in any encoding */
    DECODE_LEAST = 6,     /* decoded bytes that a row of digits must give */
};

/* All of them give ASCII letters in lower case. */
enum decode_code {
    DECODE_CASE,
    DECODE_REVERSED,
    DECODE_HEX,     /* either case, mixed as well */
    DECODE_BASE64,  /* RFC 4648 s4 and s5, without line ends */
    DECODE_UTF16,   /* either byte order, characters below U+0800, made UTF-8 */
    DECODE_PERCENT, /* %41; also =41 and \x41 */
    DECODE_CODES
};

const char *decode_name(enum decode_code code);

struct decoded {
    enum decode_code code;
    uint32_t len;
    uint8_t text[DECODE_PIECE];
    uint32_t from[DECODE_PIECE], to[DECODE_PIECE]; /* the bytes of the input that gave each byte */
};

typedef int decode_visit(void *ctx, const struct decoded *decoded, struct err *err);

/* Calls |visit| with each way to decode the |len| bytes, in |room|.  Returns 0, or the first other
 * result of |visit|. */
int decode_each(const uint8_t *data, uint32_t len, struct decoded *room, decode_visit *visit,
                void *ctx, struct err *err);

#endif
