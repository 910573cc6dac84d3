/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "teelog/teelog.h"

#include <stdlib.h>
#include <string.h>

struct record_operation *tee_operation_keep(const struct record_operation *operation)
{
    size_t arguments = operation->arguments.len, result = operation->result.len;
    struct record_operation *kept = malloc(sizeof(*kept) + arguments + result);
    uint8_t *at = (uint8_t *)(kept + 1);

    if (!kept)
        return NULL;
    *kept = *operation;
    if (arguments)
        kept->arguments.data = memcpy(at, operation->arguments.data, arguments);
    if (result)
        kept->result.data = memcpy(at + arguments, operation->result.data, result);
    return kept;
}
