/* SPDX-License-Identifier: GPL-2.0-or-later */
/* postproc/package/recapture.h
 *
 * Checks whether an anonymized capture has anything that anonymizing does not write.  Its messages
 * are put into frames again, with the same values, and zeros where the policy has zeros.  This must
 * give the same file, except for the counters at its end, which are about the original.
 */
#ifndef NFSDIGEST_PACKAGE_RECAPTURE_H
#define NFSDIGEST_PACKAGE_RECAPTURE_H

#include "anon/policy.h"
#include "package/package.h"

/* Writes the result for |capture| to |to|.  |policy| is the one under which the capture was made.
 * Only its rules are changed. */
int recapture(const char *capture, struct policy *policy, const char *to, struct err *err);

/* Reports differences between a capture and the one that recapture made from it, as findings. They
 * call the capture |name|. */
int recapture_compare(const char *capture, const char *again, const char *name,
                      struct package_check *check, struct err *err);

#endif
