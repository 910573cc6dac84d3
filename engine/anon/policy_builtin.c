/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "anon/policy.h"
#include "base/embed.h"

/* schemas/policies, embedded: cmake/embed.cmake. */
#define EMBEDDED(symbol, stem, name, path) EMBED(symbol, path);
#include EMBED_LIST
#undef EMBEDDED

#define EMBEDDED(symbol, stem, name, path) { stem, symbol },
const struct policy_builtin policy_builtins[] = {
#include EMBED_LIST
    { NULL, NULL },
};
