/* SPDX-License-Identifier: GPL-2.0-or-later */
/* model/align/align_again.h
 *
 * Requests that a client sent again because the server had failed them (struct align_element).  If
 * the other side has one of them, that is the counterpart of the first: were it taken for that of a
 * repetition, which comes at nearly the same time, the failure would not be found.  For align.c.
 */
#ifndef NFSDIGEST_ALIGN_ALIGN_AGAIN_H
#define NFSDIGEST_ALIGN_ALIGN_AGAIN_H

#include "align/align_doubt.h"

/* Pairs first requests instead of their repetitions where these alone have a counterpart in order,
 * and where nothing that is paired lies between.  |passed_back|: |passed| by the sut's elements. */
void align_again_pair_first(const struct align_pairs *pairs, const int32_t *passed_back);

#endif
