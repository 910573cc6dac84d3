/* SPDX-License-Identifier: GPL-2.0-or-later */
/* engine/base/embed.h
 *
 * Files of the source tree, taken into the program as they are by the assembler.
 * cmake/embed.cmake says which C file embeds which files.
 *
 *     EMBED(trace_sql, EMBED_ROOT "/schemas/trace.sql");
 *
 * declares trace_sql[], the bytes of that file and a zero, for this C file only.  trace_sql_end
 * points to that zero.
 *
 * EMBED_LIST is a header with a line EMBEDDED(symbol, stem, name, path) for each embedded file. The
 * including file defines EMBEDDED.  |stem| is |name| up to its first dot.
 */
#ifndef NFSDIGEST_BASE_EMBED_H
#define NFSDIGEST_BASE_EMBED_H

#define EMBED(symbol, path)                                                                        \
    __asm__(".pushsection .rodata\n"                                                               \
            ".balign 16\n"                                                                         \
            "embedded_" #symbol ":\n"                                                              \
            ".incbin \"" path "\"\n"                                                               \
            "embedded_" #symbol "_end:\n"                                                          \
            ".byte 0\n"                                                                            \
            ".popsection\n");                                                                      \
    extern const char symbol[] __asm__("embedded_" #symbol);                                       \
    extern const char symbol##_end[] __asm__("embedded_" #symbol "_end")

#endif
