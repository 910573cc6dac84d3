/* SPDX-License-Identifier: GPL-2.0-or-later */
/* engine/anon/policy_parts.h
 *
 * Shared by the files of policy.h, and by code that shows policies in another form: which words a
 * policy file can have where.
 */
#ifndef NFSDIGEST_ANON_POLICY_PARTS_H
#define NFSDIGEST_ANON_POLICY_PARTS_H

#include "anon/policy.h"

enum {
    POLICY_FILE_MAX = 1 << 20, /* bytes of a policy file */
    POLICY_NAME_MAX = 32,
    POLICY_DESCRIPTION_MAX = 200,
    POLICY_AFFIX_MAX = 16, /* bytes of a suffix or prefix */
    POLICY_LIST_MAX = 4096,
    POLICY_SHIFT_MAX = 10950, /* days: 30 years, so that no capture begins before 1970 */
};

/* A rule for one field.  Several fields may have one path (of several versions): each has a row.
 * Rows are sorted by |field|. */
struct policy_override {
    const struct field *field;
    char *path;
    uint8_t rule;
};

/* Pointers to the rows, one for each path and in the order of paths, which is the same in every
 * run.
 * |*count| says how many; release |*rows| with free. */
int policy_overrides_by_path(const struct policy *policy, const struct policy_override ***rows,
                             uint32_t *count, struct err *err);

/* The rules a class may have, 1 << RULE_... each: where others would break messages, only "keep".
 */
uint32_t policy_allowed(enum field_class cls);

/* The class called |name|; CLASS_MAX: there is none. */
enum field_class policy_class(const char *name);

/* A class of numbers of this many bits for which [keep] may list values; 0: it may not. */
unsigned policy_kept_bits(enum field_class cls);

struct policy_word {
    const char *name;
    uint32_t value; /* of an extra: the rules it may have; of a range: its bit */
};
extern const struct policy_word policy_extra_words[EXTRA_MAX];
extern const struct policy_word policy_range_words[]; /* ended by a NULL name */
extern const char *const policy_unread_words[2];      /* by enum policy_unread */

/* Reads the text of a policy file; |where| names it in messages.  Owns nothing of the text. */
int policy_read(const char *where, const char *text, size_t len, struct policy **out,
                struct err *err);

#endif
