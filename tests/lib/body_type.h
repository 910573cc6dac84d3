/* SPDX-License-Identifier: GPL-2.0-or-later */
/* tests/lib/body_type.h
 *
 * For fuzz targets: bytes of the input choose a body of the tables.
 */
#ifndef NFSDIGEST_TESTS_BODY_TYPE_H
#define NFSDIGEST_TESTS_BODY_TYPE_H

#include "wire/programs.h"

#include <stdbool.h>
#include <stdint.h>

/* The result or the arguments of a procedure; NULL: there is none of that number.  |program| is an
 * index into wire_programs. */
static inline const struct type *body_type(uint8_t program, uint8_t number, bool result)
{
    const struct procedure *procedure;
    const struct program *of;
    uint32_t programs = 0;

    wire_init();
    while (wire_programs[programs])
        programs++;
    of = wire_programs[program % programs];
    procedure = &of->procedures[number % of->procedure_count];
    return !procedure->name ? NULL : result ? procedure->result : procedure->arguments;
}

#endif
