/* SPDX-License-Identifier: GPL-2.0-or-later */
/* model/lint/lint_rules.c
 *
 * Reads schemas/lint.conf: the texts of the rules, and which statuses the RFC lists.  The contract
 * is in lint_rules.h.
 */
#include "lint/lint_rules.h"

#include "base/embed.h"
#include "rules/conf.h"
#include "wire/field.h"
#include "wire/nfs3_numbers.h"

#include <stdlib.h>
#include <string.h>

/* schemas/lint.conf, embedded: cmake/embed.cmake. */
#define EMBEDDED(symbol, stem, name, path) EMBED(symbol, path);
#include EMBED_LIST
#undef EMBEDDED
#define EMBEDDED(symbol, stem, name, path) static const char *const builtin = symbol;
#include EMBED_LIST

static const char *const names[LINT_RULES] = {
    [LINT_MALFORMED_REPLY] = "malformed-reply",
    [LINT_MALFORMED_CALL] = "malformed-call",
    [LINT_STATUS_UNDEFINED] = "status-undefined",
    [LINT_STATUS_UNLISTED] = "status-unlisted",
    [LINT_NANOSECONDS] = "nanoseconds",
    [LINT_TYPE_UNDEFINED] = "type-undefined",
    [LINT_TYPE_WRONG] = "type-wrong",
    [LINT_TYPE_CHANGED] = "type-changed",
    [LINT_FILEID_CHANGED] = "fileid-changed",
    [LINT_READ_COUNT] = "read-count",
    [LINT_READ_DATA] = "read-data",
    [LINT_READ_EOF] = "read-eof",
    [LINT_WRITE_COUNT] = "write-count",
    [LINT_WRITE_COMMITTED] = "write-committed",
    [LINT_WRITE_DATA] = "write-data",
    [LINT_VERIFIER_RETURNED] = "verifier-returned",
    [LINT_VERIFIER_CHANGED] = "verifier-changed",
    [LINT_GUARD] = "guard",
    [LINT_GUARD_REFUSED] = "guard-refused",
    [LINT_LISTING_SIZE] = "listing-size",
    [LINT_LISTING_DOUBLE] = "listing-double",
    [LINT_LISTING_NAME] = "listing-name",
    [LINT_SIZE_WRITTEN] = "size-written",
    [LINT_SIZE_SET] = "size-set",
    [LINT_CHANGED_UNSEEN] = "changed-unseen",
    [LINT_LINK_COUNT] = "link-count",
    [LINT_READ_CONTENTS] = "read-contents",
    [LINT_READ_DIFFERS] = "read-differs",
    [LINT_STALE_WORKS] = "stale-works",
    [LINT_LISTING_LOSS] = "listing-loss",
    [LINT_LISTING_AGAIN] = "listing-again",
    [LINT_NAME_LOST] = "name-lost",
    [LINT_NAME_RETURNED] = "name-returned",
    [LINT_NAME_CHANGED] = "name-changed",
    [LINT_HANDLE_CHANGED] = "handle-changed",
    [LINT_MAKE_EXISTS] = "make-exists",
    [LINT_EXECUTED_TWICE] = "executed-twice",
    [LINT_ANSWERS_DIFFER] = "answers-differ",
    [LINT_STABLE_LOST] = "stable-lost",
    [LINT_NOT_SENT_AGAIN] = "not-sent-again",
    [LINT_UNCOMMITTED] = "uncommitted",
    [LINT_FILEID_SHARED] = "fileid-shared",
    [LINT_ACCESS_GRANTED] = "access-granted",
    [LINT_ACCESS_DENIED] = "access-denied",
    [LINT_WRITE_LIMIT] = "write-limit",
    [LINT_XID_REUSED] = "xid-reused",
};

static const char *const levels[] = {
    [LINT_ERROR] = "error", [LINT_SUSPECT] = "suspect", [LINT_NOTE] = "note"
};

const char *lint_level_name(enum lint_level level)
{
    return levels[level];
}

int lint_rule_find(const char *name)
{
    for (int i = 0; i < LINT_RULES; i++)
        if (strcmp(name, names[i]) == 0)
            return i;
    return -1;
}

/* The place of a status among the bits; LINT_STATUS_BITS: there is none. */
static uint32_t bit_of(uint32_t status)
{
    uint32_t bit = status < 10000 ? status : status - 10000 + 100;

    return bit < LINT_STATUS_BITS ? bit : LINT_STATUS_BITS;
}

bool lint_listed(const struct lint_rules *rules, uint32_t procedure, uint32_t status)
{
    uint32_t bit = bit_of(status);

    return status == NFS3_OK || status == NFS3ERR_JUKEBOX ||
           (procedure < LINT_PROCEDURES && bit < LINT_STATUS_BITS &&
            rules->listed[procedure][bit / 64] >> bit % 64 & 1);
}

static const struct procedure *procedure_named(const char *name)
{
    const struct program *nfs = program_find(NFS3_PROGRAM, NFS3_VERSION);

    for (uint32_t i = 0; i < nfs->procedure_count; i++)
        if (strcmp(nfs->procedures[i].name, name) == 0)
            return &nfs->procedures[i];
    return NULL;
}

static int add_status(struct lint_rules *rules, const struct procedure *procedure, const char *name,
                      struct err *err)
{
    for (uint32_t status = 0; status <= NFS3ERR_JUKEBOX; status++) {
        const char *known = status_name(procedure, status);
        uint32_t bit = bit_of(status);

        if (known && strcmp(known, name) == 0 && bit < LINT_STATUS_BITS) {
            rules->listed[procedure->number][bit / 64] |= UINT64_C(1) << bit % 64;
            return 0;
        }
    }
    return err_set(err, ERR_USAGE, "no status \"%.64s\"", name);
}

static int take_statuses(struct lint_rules *rules, const struct conf_line *line, struct err *err)
{
    const struct procedure *procedure = procedure_named(line->key);
    char *rest = NULL;

    if (!procedure || procedure->number >= LINT_PROCEDURES)
        return err_set(err, ERR_USAGE, "no procedure \"%.64s\"", line->key);
    for (char *name = strtok_r(line->value, " ", &rest); name; name = strtok_r(NULL, " ", &rest))
        if (add_status(rules, procedure, name, err) < 0)
            return -err->code;
    return 0;
}

static int take_level(struct lint_rule *rule, const char *word, struct err *err)
{
    for (enum lint_level level = LINT_ERROR; level <= LINT_NOTE; level++)
        if (strcmp(word, levels[level]) == 0)
            rule->level = level;
    return rule->level ? 0 : err_set(err, ERR_USAGE, "no level \"%.64s\"", word);
}

static int take_text(char **to, const struct conf_line *line, struct err *err)
{
    if (*to)
        return err_set(err, ERR_USAGE, "%s again", line->key);
    *to = strdup(line->value);
    return *to ? 0 : err_memory(err, "rules");
}

static int take(void *ctx, const struct conf_line *line, struct err *err)
{
    struct lint_rules *rules = ctx;
    bool statuses = strcmp(line->group, "statuses") == 0;
    int id = lint_rule_find(line->group);
    struct lint_rule *rule;

    if (id < 0 && !statuses)
        return err_set(err, ERR_USAGE, "no rule \"%.64s\"", line->group);
    if (!line->key)
        return 0;
    if (statuses)
        return take_statuses(rules, line, err);
    rule = &rules->rule[id];
    if (strcmp(line->key, "level") == 0)
        return take_level(rule, line->value, err);
    if (strcmp(line->key, "source") == 0)
        return take_text(&rule->source, line, err);
    if (strcmp(line->key, "text") == 0)
        return take_text(&rule->text, line, err);
    if (strcmp(line->key, "blames") != 0)
        return err_set(err, ERR_USAGE, "unknown key \"%.64s\"", line->key);
    rule->blames_client = strcmp(line->value, "client") == 0;
    if (!rule->blames_client && strcmp(line->value, "server") != 0)
        return err_set(err, ERR_USAGE, "blames is server or client");
    return 0;
}

int lint_rules_read(struct lint_rules *rules, const char *where, const char *text, struct err *err)
{
    memset(rules, 0, sizeof(*rules));
    for (int i = 0; i < LINT_RULES; i++)
        rules->rule[i].name = names[i];
    if (conf_read(where, text, take, rules, err) < 0)
        return -err->code;
    for (int i = 0; i < LINT_RULES; i++)
        if (!rules->rule[i].level || !rules->rule[i].source || !rules->rule[i].text)
            return err_set(err, ERR_USAGE, "%s: [%s] needs level, source and text", where,
                           names[i]);
    return 0;
}

int lint_rules_load(struct lint_rules *rules, struct err *err)
{
    return lint_rules_read(rules, "lint.conf", builtin, err);
}

void lint_rules_free(struct lint_rules *rules)
{
    for (int i = 0; i < LINT_RULES; i++) {
        free(rules->rule[i].source);
        free(rules->rule[i].text);
    }
    memset(rules, 0, sizeof(*rules));
}
