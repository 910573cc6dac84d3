/* SPDX-License-Identifier: GPL-2.0-or-later */
/* postproc/package/package_text.h
 *
 * Texts that people write into a package: name, title, license and description.
 */
#ifndef NFSDIGEST_PACKAGE_PACKAGE_TEXT_H
#define NFSDIGEST_PACKAGE_PACKAGE_TEXT_H

#include "package/package.h"

#include <stdbool.h>

/* Returns true for UTF-8 without control characters.  With |lines|, line feeds and tabs are
 * allowed. */
bool text_is_plain(const char *text, size_t len, bool lines);

/* Returns true for a name that Frictionless packages allow: lower case, digits, "._-". */
bool package_name_is_good(const char *name);

/* package_texts_check checks all texts except the description.  package_description_is_good checks
 * the description. */
int package_texts_check(const struct package_options *options, struct err *err);
bool package_description_is_good(const char *text, size_t len);

/* Checks the texts.  If no name was given, makes |name| from that of the output.  Reads the
 * description, which the caller frees. */
int package_texts(const struct package_options *options, char name[PACKAGE_NAME_MAX + 1],
                  char **description, struct err *err);

#endif
