/* SPDX-License-Identifier: GPL-2.0-or-later */
/* postproc/package/package_text.h
 *
 * Texts that people write into a package: name, title, license and description.
 */
#ifndef NFSDIGEST_PACKAGE_PACKAGE_TEXT_H
#define NFSDIGEST_PACKAGE_PACKAGE_TEXT_H

#include "package/package.h"

#include <stdbool.h>

/* UTF-8 without control characters, but for line feeds and tabs with |lines|. */
bool text_is_plain(const char *text, size_t len, bool lines);

/* As names of Frictionless packages are: lower case, digits, "._-". */
bool package_name_is_good(const char *name);

/* Whether all but the description, and that, may be in a package. */
int package_texts_check(const struct package_options *options, struct err *err);
bool package_description_is_good(const char *text, size_t len);

/* Checks them, makes |name| out of the output's when none was given, and reads the description,
 * which is the caller's to free. */
int package_texts(const struct package_options *options, char name[PACKAGE_NAME_MAX + 1],
                  char **description, struct err *err);

#endif
