/* SPDX-License-Identifier: GPL-2.0-or-later */
/* engine/anon/policy.h
 *
 * A policy says what happens to each kind of value in an anonymized capture.  It is a GLib key
 * file.  schemas/policies has the built-in ones, and its README explains the words.  Every class of
 * the field tables has a rule, and single fields can have another one.  A class without a rule, and
 * an unknown group, key or value, is an error that names the line.
 */
#ifndef NFSDIGEST_ANON_POLICY_H
#define NFSDIGEST_ANON_POLICY_H

#include "base/bytes.h"
#include "base/err.h"
#include "wire/field.h"

enum rule {
    RULE_UNSET = 0,
    RULE_KEEP,
    RULE_KEYED, /* numbers, addresses: a keyed permutation; bytes: keyed, of the same length */
    RULE_TOKEN, /* texts: a token of fixed size for each component of a path; bytes: 16 bytes */
    RULE_SAME,  /* texts: a token of the same length for each component; bytes: as KEYED */
    RULE_ZERO,
    RULE_NOISE, /* file contents: keyed bytes; equal contents stay equal */
    RULE_SHIFT, /* times: shifted by the policy's offset */
    RULE_OWNER, /* modes: only the file type and the owner's bits are kept */
    RULE_MAX
};

/* Values that are in no field table. */
enum policy_extra {
    EXTRA_STAMP,      /* AUTH_SYS: an arbitrary number, often the boot time */
    EXTRA_CREDENTIAL, /* bodies of credentials and verifiers that are not AUTH_SYS */
    EXTRA_XID,
    EXTRA_PORT, /* of TCP and UDP, and therefore also in PORTMAP and RPCBIND */
    EXTRA_MAX
};

/* Says what is written for a message whose body cannot be read (another program or version,
 * encrypted, its call not captured). */
enum policy_unread { UNREAD_HEADER, UNREAD_DROP };

/* Ranges of addresses within which pseudonyms stay. */
enum policy_range {
    RANGE_LOOPBACK = 1,
    RANGE_LINK_LOCAL = 2,
    RANGE_MULTICAST = 4,
    RANGE_PRIVATE = 8
};

/* Numbers that stay as they are, for classes with RULE_KEYED; sorted. */
struct policy_kept {
    uint64_t *values;
    uint32_t count;
};

struct policy {
    char *name, *description;
    uint8_t rules[CLASS_MAX]; /* enum rule; CLASS_NONE: program numbers and the like */
    uint8_t extras[EXTRA_MAX];
    uint8_t unread;      /* enum policy_unread */
    uint32_t ranges;     /* RANGE_ bits */
    uint32_t shift_days; /* RULE_SHIFT: at most this many in either direction */
    struct policy_kept kept[CLASS_MAX];
    char **suffixes, **prefixes; /* of names, kept beside the token (".c", ".nfs"); end with NULL */
    struct policy_override *overrides; /* by field */
    uint32_t override_count;
    uint8_t digest[32]; /* SHA-256 of the policy as policy_print writes it */
};

/* |what| is the name of a built-in policy, or a file.  A file has a '/' or '.' in its name. */
bool policy_is_file(const char *what);
int policy_load(const char *what, struct policy **out, struct err *err);
void policy_free(struct policy *policy);

/* The built-in policies: name and text of the file.  A NULL name ends the list. */
struct policy_builtin {
    const char *name, *text;
};
extern const struct policy_builtin policy_builtins[];

/* Appends the effective policy to |out| as a key file, with every rule, in a fixed order. */
int policy_print(const struct policy *policy, struct buf *out, struct err *err);

/* Appends a line to |out| for each thing in this policy that weakens privacy (a sensitive class
 * with "keep", ...).  Returns how many there are, or a negative code. */
int policy_warn(const struct policy *policy, struct buf *out, struct err *err);

const char *rule_name(enum rule rule); /* "keyed" */

struct walk;

/* Returns the rule for a field at the place where a walk is (the slow part of policy_rule). */
enum rule policy_override(const struct policy *policy, const struct walk *walk,
                          const struct field *field);

static inline enum rule policy_rule(const struct policy *policy, const struct walk *walk,
                                    const struct field *field)
{
    return policy->override_count ? policy_override(policy, walk, field)
                                  : (enum rule)policy->rules[field->cls];
}

/* Returns true if the policy hides the lengths of names.  The lengths of cut messages must then be
 * hidden, too. */
static inline bool policy_hides_lengths(const struct policy *policy)
{
    return policy->rules[CLASS_NAME] == RULE_TOKEN;
}

#endif
