/* SPDX-License-Identifier: GPL-2.0-or-later */
/* engine/anon/mapping_same.h
 *
 * Replaces texts by texts of the same length, one-to-one, by FF1 over the alphabet of the text.
 * The alphabet is the first of these that has all bytes of the text: letters, digits and
 * "._-+=,@~"; printable ASCII without '/'; that and bytes above ASCII; all bytes without '/' and
 * NUL; all without '/'; all.  The pseudonym has the same alphabet.  The caller says which results
 * are not allowed (another suffix, "..", an address).  The text is permuted again until the result
 * is allowed, which is a permutation of the allowed texts.
 */
#ifndef NFSDIGEST_ANON_MAPPING_SAME_H
#define NFSDIGEST_ANON_MAPPING_SAME_H

#include "anon/mapping_wide.h"

#include <stdbool.h>

enum { SAME_KEY_LEN = 32 };

struct same;

/* SAME_CONTROLS_AMONG leaves out the third alphabet, as earlier versions did. */
enum same_kinds { SAME_CONTROLS_AMONG, SAME_CONTROLS_APART };

/* |domain| is passed to |wide|, which must outlive the result. */
struct same *same_new(const uint8_t key[SAME_KEY_LEN], const struct wide *wide, uint32_t domain,
                      enum same_kinds kinds, struct err *err);
void same_free(struct same *same);

/* Returns true if |text| is allowed as a result.  Must be true for every text that is permuted. */
typedef bool same_fits(const void *ctx, const uint8_t *text, uint32_t len);

/* Permutes |stem_len| bytes at |stem| of the |len| bytes at |text|, in place; |fits| (may be NULL)
 * sees the whole text.  Fails for lack of memory only. */
int same_permute(struct same *same, uint8_t *text, uint32_t len, uint32_t stem, uint32_t stem_len,
                 bool back, same_fits *fits, const void *ctx, struct err *err);

#endif
