/* SPDX-License-Identifier: GPL-2.0-or-later */
/* engine/anon/policy_builtin.c
 *
 * The files of schemas/policies, taken in as they are by the assembler.  CMake writes
 * policy_files.h, with a line POLICY(symbol, "name", "path") for each.
 */
#include "anon/policy.h"

/* clang-format off */
#define POLICY(symbol, name, path)                                                                 \
    __asm__(".pushsection .rodata\n"                                                               \
            "nfsdigest_policy_" #symbol ":\n"                                                      \
            ".incbin \"" path "\"\n"                                                               \
            ".byte 0\n"                                                                            \
            ".popsection\n");                                                                      \
    extern const char nfsdigest_policy_##symbol[];
/* clang-format on */
#include "policy_files.h"
#undef POLICY

#define POLICY(symbol, name, path) { name, nfsdigest_policy_##symbol },
const struct policy_builtin policy_builtins[] = {
#include "policy_files.h"
    { NULL, NULL },
};
