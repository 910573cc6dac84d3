/* SPDX-License-Identifier: GPL-2.0-or-later */
/* postproc/package/schemas.h
 *
 * The files of schemas/ that explain the formats of a package, unchanged.
 */
#ifndef NFSDIGEST_PACKAGE_SCHEMAS_H
#define NFSDIGEST_PACKAGE_SCHEMAS_H

#include <stddef.h>

struct schema_file {
    const char *name; /* "trace.sql" */
    const char *start, *end;
};
extern const struct schema_file schema_files[]; /* the last one has no name */

#endif
