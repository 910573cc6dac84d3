/* SPDX-License-Identifier: GPL-2.0-or-later */
/* model/judge/judge_values.h
 *
 * Describes values of messages (judge_body.h), and differences between two values, in words.
 */
#ifndef NFSDIGEST_JUDGE_JUDGE_VALUES_H
#define NFSDIGEST_JUDGE_JUDGE_VALUES_H

#include "judge/judge_body.h"
#include "judge/difference.h"

/* Writes a value as readable text, at most COMPARE_TEXT_MAX bytes.  |digest|: digest of file
 * contents, which bodies do not have; may be NULL.  Returns |text|. */
const char *values_text(const struct item *item, const struct bytes *digest,
                        char text[COMPARE_TEXT_MAX]);
/* Appends " (VALUE expected)" if |value| can be shown. */
void values_expected(const struct item *item, uint64_t value, char text[COMPARE_TEXT_MAX]);
/* Returns the key that recognizes a value again: a number, 8 bytes, or a digest. */
uint64_t values_key(const struct item *item);
bool values_is_number(const struct item *item);
/* Writes what differs in a few words.  Similar differences have the same words. */
void values_difference(const struct item *ref, const struct item *sut, char text[COMPARE_TEXT_MAX]);

/* alike.c: returns "case" if two names differ only in the case of ASCII letters, "encoding" if only
 * in their encoding (composed or decomposed letters, UTF-8 or Latin 1), else NULL. */
const char *alike_difference(struct bytes a, struct bytes b);

#endif
