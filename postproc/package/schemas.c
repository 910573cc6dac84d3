/* SPDX-License-Identifier: GPL-2.0-or-later */
/* postproc/package/schemas.c
 *
 * Files of schemas/, taken in as they are by the assembler.  CMake writes schema_files.h, with a
 * line SCHEMA(symbol, "name", "path") for each.
 */
#include "package/schemas.h"

/* clang-format off */
#define SCHEMA(symbol, name, path)                                                                 \
    __asm__(".pushsection .rodata\n"                                                               \
            "nfsdigest_schema_" #symbol ":\n"                                                      \
            ".incbin \"" path "\"\n"                                                               \
            "nfsdigest_schema_end_" #symbol ":\n"                                                  \
            ".byte 0\n"                                                                            \
            ".popsection\n");                                                                      \
    extern const char nfsdigest_schema_##symbol[], nfsdigest_schema_end_##symbol[];
/* clang-format on */
#include "schema_files.h"
#undef SCHEMA

#define SCHEMA(symbol, name, path)                                                                 \
    { name, nfsdigest_schema_##symbol, nfsdigest_schema_end_##symbol },
const struct schema_file schema_files[] = {
#include "schema_files.h"
    { NULL, NULL, NULL },
};
