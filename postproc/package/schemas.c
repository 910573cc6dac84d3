/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "base/embed.h"
#include "package/schemas.h"

/* Files of schemas/, embedded: cmake/embed.cmake. */
#define EMBEDDED(symbol, stem, name, path) EMBED(symbol, path);
#include EMBED_LIST
#undef EMBEDDED

#define EMBEDDED(symbol, stem, name, path) { name, symbol, symbol##_end },
const struct schema_file schema_files[] = {
#include EMBED_LIST
    { NULL, NULL, NULL },
};
