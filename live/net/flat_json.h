/* SPDX-License-Identifier: GPL-2.0-or-later */
/* live/net/flat_json.h
 *
 * Reads one JSON object (RFC 8259) whose members are texts, numbers, booleans or null, such as a
 * line of a control socket.  It allocates nothing: the values point into the line, which is
 * changed.  Objects and arrays are refused, so nothing nests and nothing recurses.
 *
 * (The JSON libraries of Debian make trees of any input.  To bound them takes more lines than this
 * reader has.)
 */
#ifndef NFSDIGEST_NET_FLAT_JSON_H
#define NFSDIGEST_NET_FLAT_JSON_H

#include "base/err.h"

#include <stddef.h>
#include <stdint.h>

struct flat_member {
    const char *name;
    const char *value; /* a text without its escapes; a number, "true" or "false" as written; NULL:
                        * null */
};

/* Reads |line|, which has |len| bytes and a NUL after them.  Returns the number of members, or
 * -ERR_INPUT: not such an object, two members with the same name, more than |most| members, or a
 * text with a NUL in it. */
int flat_json_read(char *line, size_t len, struct flat_member *members, uint32_t most,
                   struct err *err);

#endif
