/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "base/embed.h"
#include "rules/rules.h"

/* schemas/rules, embedded: cmake/embed.cmake. */
#define EMBEDDED(symbol, stem, name, path) EMBED(symbol, path);
#include EMBED_LIST
#undef EMBEDDED

#define EMBEDDED(symbol, stem, name, path) { stem, symbol },
const struct rules_builtin rules_builtins[] = {
#include EMBED_LIST
    { NULL, NULL },
};
