/* SPDX-License-Identifier: GPL-2.0-or-later */
/* model/judge/judge_values.h
 *
 * Describes values of messages (judge_body.h) in words, and how two of them differ.
 */
#ifndef NFSDIGEST_JUDGE_JUDGE_VALUES_H
#define NFSDIGEST_JUDGE_JUDGE_VALUES_H

#include "judge/judge_body.h"
#include "judge/difference.h"

/* A value as a person reads it, at most COMPARE_TEXT_MAX bytes.  |digest|: of contents, which no
 * body has; may be NULL.  Returns |text|. */
const char *values_text(const struct item *item, const struct bytes *digest,
                        char text[COMPARE_TEXT_MAX]);
/* Adds " (VALUE expected)", where |value| can be shown. */
void values_expected(const struct item *item, uint64_t value, char text[COMPARE_TEXT_MAX]);
/* What is kept of a value to know it again: a number, 8 bytes, or a digest. */
uint64_t values_key(const struct item *item);
bool values_is_number(const struct item *item);
/* What differs, in a few words that like differences share. */
void values_difference(const struct item *ref, const struct item *sut, char text[COMPARE_TEXT_MAX]);

/* alike.c: whether two names differ only in the case of ASCII letters, or in how they are encoded
 * (composed or decomposed letters, UTF-8 or Latin 1): "case", "encoding", or NULL. */
const char *alike_difference(struct bytes a, struct bytes b);

#endif
