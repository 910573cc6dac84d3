/* SPDX-License-Identifier: GPL-2.0-or-later */
/* postproc/package/recapture.h
 *
 * Checks whether an anonymized capture holds anything that anonymizing does not write.  Its
 * messages are put into frames again, with values as they are, and zeros where the policy has
 * zeros.  This must give the same file, except for the counters at its end, which are about the
 * original.
 */
#ifndef NFSDIGEST_PACKAGE_RECAPTURE_H
#define NFSDIGEST_PACKAGE_RECAPTURE_H

#include "anon/policy.h"
#include "package/package.h"

/* Writes as |to| what that gives for |capture|.  Changes the rules of |policy|, under which the
 * capture was made, and nothing else of it. */
int recapture(const char *capture, struct policy *policy, const char *to, struct err *err);

/* Reports differences between a capture and one that recapture made of it as findings, in which the
 * capture is called |name|. */
int recapture_compare(const char *capture, const char *again, const char *name,
                      struct package_check *check, struct err *err);

#endif
