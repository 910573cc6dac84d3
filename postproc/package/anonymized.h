/* SPDX-License-Identifier: GPL-2.0-or-later */
/* postproc/package/anonymized.h
 *
 * Captures as one anonymized capture.
 */
#ifndef NFSDIGEST_PACKAGE_ANONYMIZED_H
#define NFSDIGEST_PACKAGE_ANONYMIZED_H

#include "anon/anon.h"
#include "capture/progress.h"

struct anonymizing {
    const char *to; /* a new file */
    const struct engine_options *engine;
    const struct policy *policy;
    const struct key *key;
    const struct progress *progress; /* or NULL */
};

/* Writes the captures as one anonymized capture.  Returns the same as convert_captures. */
int anonymize_captures(const struct anonymizing *what, int count, char **paths, struct err *err);

#endif
