/* SPDX-License-Identifier: GPL-2.0-or-later */
/* model/rules/rules.h
 *
 * Rules for the comparison of fields.  Rule files are in schemas/rules; README.md there explains
 * them.  Each class of the field tables has a rule in default.conf, which always comes first.
 * Single fields (by path, with wildcards) and later files can have other rules.  For a field, the
 * last matching rule of [fields] in all files counts.  If there is none, the last of [classes]
 * counts.
 *
 * If a rule matches several fields, it applies to those for which its kind has a meaning: a mask
 * applies to the numbers among them.  An unknown group, class, field, kind or condition is an error
 * that names file and line.  So is a rule that applies to nothing.
 */
#ifndef NFSDIGEST_RULES_RULES_H
#define NFSDIGEST_RULES_RULES_H

#include "base/bytes.h"
#include "base/err.h"
#include "wire/field.h"

#include <stddef.h>

enum compare_kind {
    COMPARE_UNSET = 0,
    COMPARE_BITWISE,   /* equal */
    COMPARE_MASK,      /* equal in these bits */
    COMPARE_TOLERANCE, /* numbers: not further apart than |amount|, or |percent| of the larger;
                        * times: ns, between the times of the captures that they stand for
                        * (judge/clock.h), on either clock */
    COMPARE_SET,       /* lists: the same elements in any order */
    COMPARE_AT_LEAST,  /* sut's value is not below ref's */
    COMPARE_AT_MOST,   /* sut's value is not above ref's */
    COMPARE_PATTERN,   /* each server chooses its values, but both must change together */
    COMPARE_NOCASE,    /* texts: equal except for the case of ASCII letters */
    COMPARE_IGNORED,
    COMPARE_KIND_MAX
};

/* The scope of a pattern. */
enum pattern_scope {
    PATTERN_SERVER,  /* one value of the whole server: write verifiers */
    PATTERN_OBJECT,  /* one for each object: fileids */
    PATTERN_LISTING, /* one for each listing: cookie verifiers */
    PATTERN_ENTRY,   /* entries of listings: compared with attributes of the same objects */
    PATTERN_VALUE,   /* ref's values stand for sut's, one to one: handles, fsids */
    PATTERN_SCOPE_MAX
};

/* The conditions of a rule; all zeros: it always applies. */
struct rule_case {
    bool has_status, has_type, has_ref, has_sut;
    uint32_t type; /* ftype3 of the object that the field is about */
    uint32_t status;
    uint64_t ref, sut; /* the values themselves */
};

/* Conditions of a rule for whole groups of differences, as reports name them.  Such a rule is
 * applied when a difference was found, and changes nothing else that is compared.  Only comparisons
 * of two servers have groups. */
enum rule_group_word {
    GROUP_OPERATION,  /* "NFS READ"; "": about no operation */
    GROUP_DIFFERENCE, /* "sut later" */
    GROUP_WHEN,       /* "directory", "no directory", "asked", "not asked" */
    GROUP_WORD_MAX
};

struct compare_rule {
    uint32_t id; /* from 1, in the order of precedence */
    uint8_t kind, scope;
    uint8_t percent; /* 1: |amount| is in hundredths of a percent */
    bool duration;   /* |amount| was written as a duration, and is in ns */
    uint64_t amount; /* of MASK and TOLERANCE */
    bool has_case;
    struct rule_case when;
    bool is_of_groups;              /* for whole groups: rules_accept; then |has_case|, too */
    char *of_group[GROUP_WORD_MAX]; /* patterns; NULL: any */
    char *procedure;                /* "READ": only for procedures of this name; NULL: for all */
    uint32_t file, line;            /* |file|: index in rules->files */
    char *text;                     /* "[classes] size = bitwise" */
    char *key;                      /* class or path */
    uint8_t group;                  /* enum rule_group */
    bool of_class;                  /* |key| is a class */
};

enum rule_group { RULES_CLASSES, RULES_FIELDS, RULES_MESSAGES, RULES_REQUESTS, RULES_GROUP_MAX };

/* Things with a rule that are not fields of a result. */
enum rule_event {
    EVENT_RPC_STATUS,     /* "rpc-status" */
    EVENT_MISSING_REPLY,  /* "missing-reply" */
    EVENT_MALFORMED,      /* "malformed": one reply violates its table */
    EVENT_RETRANSMISSION, /* "retransmissions": further calls of a request, tolerance in number */
    EVENT_DISCONNECT,     /* "disconnects": connections of a client, likewise */
    EVENT_OTHER_REPLIES,  /* "other-replies": further replies with other bytes, likewise */
    EVENT_MAX
};

struct rules_file {
    char *name, *text;
    char digest[33]; /* XXH3-128, hex */
};

struct rules {
    struct rules_file *files;
    uint32_t file_count;
    struct compare_rule *rules; /* rules[i].id is i + 1 */
    uint32_t rule_count, rule_cap;
    uint32_t events[EVENT_MAX]; /* rule ids */
    uint32_t credential; /* id of the rule that says if callers count when requests are compared */
    char digest[33], requests_digest[33];
};

/* Loads the built-in "default", then |names|: built-in rules, or files (with a '/' or '.' in the
 * name). */
int rules_load(const char *const *names, uint32_t count, struct rules **rules, struct err *err);
/* Returns true if the name means a file. */
bool rules_is_file(const char *name);
/* Reads rules from texts, for tests and stored results.  |names|: their names in messages. */
int rules_read(const char *const *names, const char *const *texts, uint32_t count,
               struct rules **rules, struct err *err);
void rules_free(struct rules *rules);

const struct compare_rule *rules_at(const struct rules *rules, uint32_t id);

/* Returns the rules that may apply to a field of a result, in the order in which to check them.
 * The last one has no conditions.  The caller frees the list with free().  NULL: no memory. */
const struct compare_rule **rules_for(const struct rules *rules, const struct field_place *place);

/* Returns the first rule of |list| whose conditions hold.  |given| has the known values. */
const struct compare_rule *rules_pick(const struct compare_rule *const *list,
                                      const struct rule_case *given);

/* A group of differences. */
struct rule_found {
    const char *operation, *field, *difference;
    const char *cls;  /* of the field; NULL: none */
    const char *when; /* NULL: no particular case */
    bool is_event;    /* |field| is a word of [messages] */
};

/* Returns the rule that accepts the group, the last one of all files.  NULL: none. */
const struct compare_rule *rules_accept(const struct rules *rules, const struct rule_found *found);

/* Returns true if the rule lets these two numbers be.  Patterns, times (judge/clock.h) and lists
 * need more than two values: they are compared as they are. */
bool rule_allows(const struct compare_rule *rule, uint64_t ref, uint64_t sut);
/* The same for texts and other bytes. */
bool rule_allows_bytes(const struct compare_rule *rule, struct bytes ref, struct bytes sut);

/* Copies the comment above the rule in its file, which says why there is such a rule: the nearest
 * one in its group, without an empty line between them.  "" if there is none.  Cut to |size|.
 * Returns |to|. */
const char *rules_reason(const struct rules *rules, const struct compare_rule *rule, char *to,
                         size_t size);

/* Returns the word for it in rule files. */
const char *rule_event_name(enum rule_event event);

/* Returns true if an argument counts when requests are compared. */
bool rules_request(const struct rules *rules, const struct field_place *place);

const char *compare_kind_name(enum compare_kind kind);

/* The built-in files of schemas/rules, ended by a NULL name: "default", ..., and "causes", which
 * has no rules (explanations.h). */
struct rules_builtin {
    const char *name, *text;
};
extern const struct rules_builtin rules_builtins[];

#endif
