/* SPDX-License-Identifier: GPL-2.0-or-later */
/* postproc/package/counters.h
 *
 * The counters at the end of an anonymized capture, lines "NAME VALUE" (anon_counters).
 */
#ifndef NFSDIGEST_PACKAGE_COUNTERS_H
#define NFSDIGEST_PACKAGE_COUNTERS_H

#include <stdbool.h>

/* Whether |text| holds such lines and nothing else, each once and in their order, and counts of
 * messages, frames and values what |again| does, which are those of anonymizing the result once
 * more.  What was lost and dropped of the original nobody else can count. */
bool counters_agree(const char *text, const char *again);

#endif
