/* SPDX-License-Identifier: GPL-2.0-or-later */
/* live/net/fault.c
 *
 * The list of fault rules, and which of them a request meets.  The contract is in fault.h.
 */
#include "net/fault_parts.h"
#include "base/digest.h"
#include "base/grow.h"

#include <stdlib.h>
#include <sys/socket.h>

struct faults {
    uint64_t seed;
    struct fault_rule **rules;
    uint32_t count, cap, last_number;
    uint64_t procedures[FAULT_PROGRAMS]; /* of all rules */
    uint64_t words;                      /* that rules can have */
    const char *who;
};

struct faults *faults_new(uint64_t seed, struct err *err)
{
    struct faults *faults = calloc(1, sizeof(*faults));

    if (!faults)
        err_memory(err, "faults");
    else
        *faults = (struct faults){ .seed = seed, .words = UINT64_MAX };
    return faults;
}

void faults_limit(struct faults *faults, const char *who, uint64_t effects)
{
    const uint64_t unknown = UINT64_C(1) << WORD_PATH | UINT64_C(1) << WORD_OBJECT;
    const uint64_t others = ~((UINT64_C(1) << FAULT_EFFECTS) - 1);

    faults->who = who;
    faults->words = effects | (others & ~unknown);
}

uint64_t faults_words(const struct faults *faults)
{
    return faults ? faults->words : UINT64_MAX;
}

void faults_clear(struct faults *faults)
{
    for (uint32_t i = 0; i < faults->count; i++)
        free(faults->rules[i]);
    faults->count = 0;
    memset(faults->procedures, 0, sizeof(faults->procedures));
}

void faults_free(struct faults *faults)
{
    if (!faults)
        return;
    faults_clear(faults);
    free(faults->rules);
    free(faults);
}

int faults_add(struct faults *faults, const char *text, uint32_t *number, struct err *err)
{
    struct fault_rule *rule;

    if (faults->count == FAULTS_MAX)
        return err_set(err, ERR_USAGE, "there are %d faults already: remove one", FAULTS_MAX);
    rule = calloc(1, sizeof(*rule));
    if (!rule || GROW(faults->rules, faults->count, faults->cap) < 0) {
        free(rule);
        return err_memory(err, "a fault");
    }
    if (fault_rule_parse(rule, text, err) < 0 ||
        fault_rule_check(rule, faults->words, faults->who, err) < 0) {
        free(rule);
        return err_prefix(err, "fault");
    }
    rule->number = ++faults->last_number;
    rule->dice = XXH3_64bits_withSeed(rule->text, strlen(rule->text), faults->seed);
    for (int i = 0; i < FAULT_PROGRAMS; i++)
        faults->procedures[i] |= rule->procedures[i];
    faults->rules[faults->count++] = rule;
    if (number)
        *number = rule->number;
    return 0;
}

int faults_remove(struct faults *faults, uint32_t number, struct err *err)
{
    uint32_t at = 0;

    while (at < faults->count && faults->rules[at]->number != number)
        at++;
    if (at == faults->count)
        return err_set(err, ERR_USAGE, "there is no fault of number %u", number);
    free(faults->rules[at]);
    faults->count--;
    memmove(faults->rules + at, faults->rules + at + 1,
            (faults->count - at) * sizeof(*faults->rules));
    memset(faults->procedures, 0, sizeof(faults->procedures));
    for (uint32_t i = 0; i < faults->count; i++)
        for (int k = 0; k < FAULT_PROGRAMS; k++)
            faults->procedures[k] |= faults->rules[i]->procedures[k];
    return 0;
}

uint32_t faults_count(const struct faults *faults)
{
    return faults->count;
}

struct fault_info faults_info(const struct faults *faults, uint32_t index)
{
    const struct fault_rule *rule = faults->rules[index];

    return (struct fault_info){ rule->number, rule->text, rule->requests, rule->hits };
}

bool faults_concern(const struct faults *faults, uint32_t program, uint32_t procedure)
{
    int at;

    if (!faults->count || procedure > 63)
        return false;
    at = fault_program(program);
    return at >= 0 && faults->procedures[at] >> procedure & 1;
}

/* --- conditions */

/* The last * that was passed is the only one that need be tried again, so the time is bounded by
 * the product of the two lengths. */
static bool glob_matches(const uint16_t *glob, uint32_t glob_len, const char *path, uint32_t len)
{
    uint32_t g = 0, p = 0, star = UINT32_MAX, again = 0;

    while (p < len) {
        if (g < glob_len && glob[g] == GLOB_MANY) {
            star = g++;
            again = p;
        } else if (g < glob_len && (glob[g] == GLOB_ONE || glob[g] == (uint8_t)path[p])) {
            g++;
            p++;
        } else if (star != UINT32_MAX) {
            g = star + 1;
            p = ++again;
        } else {
            return false;
        }
    }
    while (g < glob_len && glob[g] == GLOB_MANY)
        g++;
    return g == glob_len;
}

static bool client_matches(const struct fault_rule *rule, const struct sockaddr *client)
{
    uint8_t address[16];
    uint32_t bytes = rule->client_bits / 8, bits = rule->client_bits % 8;

    return fault_address(client, address) && memcmp(address, rule->client, bytes) == 0 &&
           (!bits || (address[bytes] ^ rule->client[bytes]) >> (8 - bits) == 0);
}

/* What does not depend on earlier requests. */
static bool meets(const struct fault_rule *rule, int program, const struct fault_request *request)
{
    if (!(rule->procedures[program] >> request->procedure & 1))
        return false;
    if (rule_has(rule, WORD_UID) && (!request->has_uid || request->uid != rule->value[WORD_UID]))
        return false;
    if (rule_has(rule, WORD_CLIENT) && !client_matches(rule, request->client))
        return false;
    if (rule_has(rule, WORD_OBJECT) &&
        (request->object.len != rule->object_len ||
         memcmp(request->object.data, rule->object, rule->object_len) != 0))
        return false;
    return !rule_has(rule, WORD_PATH) ||
           (request->path &&
            glob_matches(rule->glob, rule->glob_len, request->path, request->path_len));
}

/* SplitMix64: a small generator whose whole state is one number. */
static uint64_t draw(uint64_t *state)
{
    uint64_t z = *state += UINT64_C(0x9e3779b97f4a7c15);

    z = (z ^ z >> 30) * UINT64_C(0xbf58476d1ce4e5b9);
    z = (z ^ z >> 27) * UINT64_C(0x94d049bb133111eb);
    return z ^ z >> 31;
}

/* Whether the rule's turn has come. */
static bool hit(struct fault_rule *rule)
{
    uint64_t number = ++rule->requests;

    if (rule_has(rule, WORD_AFTER)) {
        if (number <= rule->value[WORD_AFTER])
            return false;
        number -= rule->value[WORD_AFTER];
    }
    if (rule_has(rule, WORD_EVERY) && number % rule->value[WORD_EVERY])
        return false;
    if (rule_has(rule, WORD_P) && draw(&rule->dice) % 1000000000 >= rule->value[WORD_P])
        return false;
    if (rule_has(rule, WORD_COUNT) && rule->hits >= rule->value[WORD_COUNT])
        return false;
    rule->hits++;
    return true;
}

static void add_effects(const struct fault_rule *rule, struct fault_effects *effects)
{
    for (uint32_t i = 0; i < rule->word_count; i++) {
        uint32_t word = rule->order[i];
        uint64_t value = rule->value[word];

        if (word >= FAULT_EFFECTS)
            continue;
        if (!fault_has(effects, word)) {
            effects->set |= UINT64_C(1) << word;
            effects->value[word] = value;
        } else if (word == FAULT_DELAY || word == FAULT_SHIFT_TIMES) {
            int64_t sum;

            /* both ends of the range are too long to be seen anyway */
            if (__builtin_add_overflow((int64_t)effects->value[word], (int64_t)value, &sum))
                sum = (int64_t)value < 0 ? INT64_MIN : INT64_MAX;
            effects->value[word] = (uint64_t)sum;
        } else if (word == FAULT_MODE_BITS) {
            effects->value[word] ^= value;
        }
    }
}

bool faults_apply(struct faults *faults, const struct fault_request *request,
                  struct fault_effects *effects)
{
    int program;

    effects->set = 0;
    if (!faults_concern(faults, request->program, request->procedure))
        return false;
    program = fault_program(request->program);
    for (uint32_t i = 0; i < faults->count; i++)
        if (meets(faults->rules[i], program, request) && hit(faults->rules[i]))
            add_effects(faults->rules[i], effects);
    return effects->set;
}
