/* SPDX-License-Identifier: GPL-2.0-or-later */
/* model/judge/rules_builtin.c
 *
 * The files of schemas/rules, taken in as they are by the assembler.  CMake writes rule_files.h,
 * with a line RULES(symbol, "name", "path") for each.
 */
#include "judge/judge_rules.h"

/* clang-format off */
#define RULES(symbol, name, path)                                                                  \
    __asm__(".pushsection .rodata\n"                                                               \
            "nfsdigest_rules_" #symbol ":\n"                                                       \
            ".incbin \"" path "\"\n"                                                               \
            ".byte 0\n"                                                                            \
            ".popsection\n");                                                                      \
    extern const char nfsdigest_rules_##symbol[];
/* clang-format on */
#include "rule_files.h"
#undef RULES

#define RULES(symbol, name, path) { name, nfsdigest_rules_##symbol },
const struct rules_builtin rules_builtins[] = {
#include "rule_files.h"
    { NULL, NULL },
};
