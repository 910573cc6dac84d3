/* SPDX-License-Identifier: GPL-2.0-or-later */
/* engine/anon/policy_parts.h
 *
 * Shared by the files of policy.h, and by code that shows policies in another form: the words that
 * a policy file can have, and their places.
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

/* A rule for one field.  Fields of several versions may have the same path; each has a row.  Rows
 * are sorted by |field|. */
struct policy_override {
    const struct field *field;
    char *path;
    uint8_t rule;
};

/* Sets |*rows| to an array of pointers to rows, one for each path, in the order of paths, which is
 * the same in every run.  |*count| becomes their number.  The caller frees |*rows|. */
int policy_overrides_by_path(const struct policy *policy, const struct policy_override ***rows,
                             uint32_t *count, struct err *err);

/* Returns the rules that a class may have, as bits 1 << RULE_...: only "keep" if other rules would
 * break messages. */
uint32_t policy_allowed(enum field_class cls);

/* Returns the class called |name|, or CLASS_MAX if there is none. */
enum field_class policy_class(const char *name);

/* Returns the number of bits of a class of numbers for which [keep] may list values.  Returns 0 for
 * all other classes. */
unsigned policy_kept_bits(enum field_class cls);

struct policy_word {
    const char *name;
    uint32_t value; /* of an extra: the rules it may have; of a range: its bit */
};
extern const struct policy_word policy_extra_words[EXTRA_MAX];
extern const struct policy_word policy_range_words[]; /* ended by a NULL name */
extern const char *const policy_unread_words[2];      /* by enum policy_unread */

/* Reads the text of a policy file.  |where| names it in messages.  The result does not point into
 * the text. */
int policy_read(const char *where, const char *text, size_t len, struct policy **out,
                struct err *err);

#endif
