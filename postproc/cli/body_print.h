/* SPDX-License-Identifier: GPL-2.0-or-later */
/* postproc/cli/body_print.h
 *
 * Decodes the arguments and results of an operation for people and for JSON, by the walker.
 * Paths are those of the field dictionary with the number of the element in lists:
 * "READDIR3res.resok.reply.entries[2].name".
 */
#ifndef NFSDIGEST_CLI_BODY_PRINT_H
#define NFSDIGEST_CLI_BODY_PRINT_H

#include "base/json.h"
#include "record/kept.h"

#include <stdio.h>

struct fields_body {
    const struct type *type;
    struct kept_body kept;
};

/* Prints each field on a line, indented. */
void fields_text(FILE *out, const struct fields_body *body);

/* Writes one JSON object. */
void fields_json(struct json *json, const char *key, const struct fields_body *body);

#endif
