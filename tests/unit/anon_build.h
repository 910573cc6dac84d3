/* SPDX-License-Identifier: GPL-2.0-or-later */
/* What tests of engine/anon need: a policy made by hand, texts as digits, the file of vectors. */
#ifndef NFSDIGEST_TESTS_ANON_BUILD_H
#define NFSDIGEST_TESTS_ANON_BUILD_H

#include "anon/mapping.h"

#include <setjmp.h>
#include <stdarg.h>
#include <cmocka.h>

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static inline uint64_t random64(uint64_t *state)
{
    uint64_t z = *state += 0x9e3779b97f4a7c15u; /* SplitMix64 */

    z = (z ^ z >> 30) * 0xbf58476d1ce4e5b9u;
    z = (z ^ z >> 27) * 0x94d049bb133111ebu;
    return z ^ z >> 31;
}

static inline void random_bytes(uint64_t *state, uint8_t *out, size_t len)
{
    for (size_t i = 0; i < len; i++)
        out[i] = (uint8_t)(random64(state) >> 56);
}

/* Bytes of a hexadecimal text; "-" is none. */
static inline size_t hex_bytes(const char *hex, uint8_t *out)
{
    size_t n = 0;

    for (; hex[0] != '-' && hex[2 * n]; n++) {
        unsigned value;

        assert_int_equal(sscanf(hex + 2 * n, "%2x", &value), 1);
        out[n] = (uint8_t)value;
    }
    return n;
}

/* Calls |check| with the words of each line of pseudonyms.txt that begins with |kind|, and asks
 * for as many as there must be. */
static inline void each_vector(const char *kind, unsigned words, unsigned expected,
                               void (*check)(char **words))
{
    char path[512], *line = NULL;
    size_t size = 0;
    unsigned found = 0;
    FILE *file;

    assert_non_null(getenv("SRC"));
    snprintf(path, sizeof(path), "%s/tests/vectors/pseudonyms.txt", getenv("SRC"));
    file = fopen(path, "r");
    assert_non_null(file);
    while (getline(&line, &size, file) > 0) {
        char *word[8] = { 0 }, *save = NULL;
        unsigned n = 0;

        for (char *w = strtok_r(line, " \n", &save); w && n < 8; w = strtok_r(NULL, " \n", &save))
            word[n++] = w;
        if (strcmp(word[0], kind) != 0)
            continue;
        assert_int_equal(n, words);
        check(word);
        found++;
    }
    free(line);
    fclose(file);
    assert_int_equal(found, expected);
}

static char *build_suffixes[] = { (char *)".c", (char *)".gz", (char *)".tar.gz", (char *)"~",
                                  NULL };
static char *build_prefixes[] = { (char *)".nfs", (char *)"lib", NULL };

/* Everything keyed, with the affixes above. */
static inline struct policy build_policy(void)
{
    struct policy p = { .ranges = RANGE_LOOPBACK | RANGE_LINK_LOCAL | RANGE_MULTICAST,
                        .shift_days = 30,
                        .suffixes = build_suffixes,
                        .prefixes = build_prefixes };

    memset(p.rules, RULE_KEYED, sizeof(p.rules));
    memset(p.extras, RULE_KEYED, sizeof(p.extras));
    p.rules[CLASS_TIME] = RULE_SHIFT;
    return p;
}

/* 00 01 ... 1f, and |n| in the place of the first. */
static inline struct key build_key(uint8_t n)
{
    struct key key = { .version = KEY_VERSION };

    for (unsigned i = 0; i < KEY_LEN; i++)
        key.secret[i] = (uint8_t)i;
    key.secret[0] = n;
    return key;
}

static inline struct mapping *build_mapping(const struct policy *policy, uint8_t n)
{
    struct key key = build_key(n);
    struct err err = { 0 };
    struct mapping *m = mapping_new(&key, policy, &err);

    assert_non_null(m);
    return m;
}

#endif
