/* SPDX-License-Identifier: GPL-2.0-or-later */
/* model/rdump/rdump_format.h
 *
 * The replay dump as a format of engine/record: for its writer, its reader and its text form.
 */
#ifndef NFSDIGEST_RDUMP_FORMAT_H
#define NFSDIGEST_RDUMP_FORMAT_H

#include "rdump/rdump.h"
#include "record/format.h"

#define RDUMP_MAGIC "\x89NFRD\r\n\x1a"
enum { RDUMP_MARKER = 0x4244464e }; /* "NFDB" */

extern const struct format rdump_format;

#endif
