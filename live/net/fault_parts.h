/* SPDX-License-Identifier: GPL-2.0-or-later */
/* live/net/fault_parts.h
 *
 * Shared by the files of faults: a rule, and the table of words.
 */
#ifndef NFSDIGEST_NET_FAULT_PARTS_H
#define NFSDIGEST_NET_FAULT_PARTS_H

#include "net/fault.h"
#include "wire/field.h"

enum { FAULT_PROGRAMS = 3, FAULT_WORDS_MAX = 48, FAULT_HANDLE_MAX = 64 };

/* Numbers of words: first the effects, then these conditions. */
enum {
    WORD_PATH = FAULT_EFFECTS,
    WORD_CLIENT,
    WORD_UID,
    WORD_OBJECT,
    WORD_AFTER,
    WORD_EVERY,
    WORD_P, /* thousand millionths */
    WORD_COUNT,
    WORDS
};
_Static_assert((int)WORDS <= (int)FAULT_WORDS_MAX && (int)FAULT_WORDS_MAX <= 64, "bits of a rule");

/* Tokens of a path pattern: a byte, or one of these. */
enum { GLOB_MANY = 256, GLOB_ONE };

struct fault_rule {
    uint32_t number;
    uint64_t procedures[FAULT_PROGRAMS]; /* bits by number */
    uint64_t words;                      /* bits of the words that it has */
    uint8_t order[FAULT_WORDS_MAX];      /* the words in the order given */
    uint8_t word_count;
    uint64_t value[WORDS];
    uint16_t glob[FAULT_TEXT_MAX / 2];
    uint32_t glob_len;
    uint8_t client[16]; /* IPv4 as ::ffff:0:0/96 */
    uint8_t client_bits;
    uint8_t object[FAULT_HANDLE_MAX];
    uint8_t object_len;
    uint64_t dice; /* state of the generator */
    uint64_t requests, hits;
    char text[FAULT_TEXT_MAX];
};

static inline bool rule_has(const struct fault_rule *rule, uint32_t word)
{
    return rule->words >> word & 1;
}

/* The kind of a word's value. */
enum value_kind { NOTHING, TIME, SHIFT, NUMBER, OCTAL, SHARE, NAME, PATH, CLIENT, OBJECT };

struct fault_word {
    const char *name;
    enum value_kind kind;
    const char *value; /* as help shows it */
    const char *help;
    /* A reply must have a field of this name, or optional attributes in this role. */
    const char *field;
    uint32_t role;
    uint64_t least;
};

enum {
    FAULT_ATTRIBUTES = ROLE_ATTRIBUTES | ROLE_ATTRIBUTES_NEW | ROLE_ATTRIBUTES_ENTRY |
                       ROLE_ATTRIBUTES_PARENT | ROLE_ATTRIBUTES_PARENT2
};

extern const struct fault_word fault_words[WORDS];

/* fault_words.c: reads a text into a rule that is all zeros, and writes |rule|->text. */
int fault_rule_parse(struct fault_rule *rule, const char *text, struct err *err);

/* -ERR_USAGE: the rule has a word that is not among |words|. */
int fault_rule_check(const struct fault_rule *rule, uint64_t words, const char *who,
                     struct err *err);
uint64_t faults_words(const struct faults *faults); /* that rules can have; NULL: all */

/* fault_wire.c.  Returns the index of a program in |procedures|, or -1. */
int fault_program(uint32_t program);
int fault_read_procedure(struct fault_rule *rule, const char *text, struct err *err);
/* -ERR_USAGE: no reply of the rule's procedures has what the effect |number| needs. */
int fault_check_effect(const struct fault_rule *rule, uint32_t number, struct err *err);
/* Reads a value of the word |number|: a name or a number. */
int fault_read_name(const struct fault_rule *rule, uint32_t number, const char *text,
                    uint64_t *value, struct err *err);
void fault_print_name(const struct fault_rule *rule, uint32_t number, char *to, size_t room);

/* fault_values.c: values of words.  Each returns 0 or -ERR_USAGE, with what is allowed in |err|. */
int fault_read_path(struct fault_rule *rule, const char *text, struct err *err);
int fault_read_client(struct fault_rule *rule, const char *text, struct err *err);
int fault_read_object(struct fault_rule *rule, const char *text, struct err *err);
bool fault_read_time(const char *text, uint64_t *value);
bool fault_read_share(const char *text, uint64_t *value);
/* Write the same values as text, in |room| bytes at |to|. */
void fault_print_client(const struct fault_rule *rule, char *to, size_t room);
void fault_print_time(uint64_t value, char *to, size_t room);
void fault_print_share(uint64_t value, char *to, size_t room);
/* Gives the address as 16 bytes.  Returns false for another family. */
bool fault_address(const struct sockaddr *from, uint8_t to[16]);

#endif
