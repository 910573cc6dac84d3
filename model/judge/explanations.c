/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "base/grow.h"
#include "judge/explanations.h"

#include "rules/conf.h"
#include "rules/rules.h"

#include <fnmatch.h>
#include <stdlib.h>
#include <string.h>

static int add(struct explanations *c, const char *name, struct err *err)
{
    if (GROW(c->list, c->count, c->cap) < 0)
        return err_memory(err, "explanations");
    c->list[c->count] = (struct explanation){ .name = strdup(name) };
    return c->list[c->count++].name ? 0 : err_memory(err, "explanations");
}

static const char *const severities[SEVERITY_MAX] = {
    [SEVERITY_OUTCOME] = "outcome",         [SEVERITY_REPLIES] = "replies",
    [SEVERITY_ATTRIBUTES] = "attributes",   [SEVERITY_LIMITS] = "limits",
    [SEVERITY_PERFORMANCE] = "performance",
};

const char *severity_name(enum severity severity)
{
    return severities[severity];
}

static int take_severity(struct explanation *explanation, const char *word, struct err *err)
{
    for (uint8_t i = SEVERITY_OUTCOME; i < SEVERITY_MAX; i++)
        if (strcmp(word, severities[i]) == 0)
            explanation->severity = i;
    return explanation->severity ? 0 : err_set(err, ERR_USAGE, "no severity \"%.64s\"", word);
}

static int take(void *ctx, const struct conf_line *line, struct err *err)
{
    struct explanations *c = ctx;
    struct explanation *last;
    char **to;

    if (!line->key)
        return add(c, line->group, err);
    last = &c->list[c->count - 1];
    if (strcmp(line->key, "severity") == 0)
        return take_severity(last, line->value, err);
    to = strcmp(line->key, "kind") == 0         ? &last->kind
         : strcmp(line->key, "when") == 0       ? &last->when
         : strcmp(line->key, "operation") == 0  ? &last->operation
         : strcmp(line->key, "field") == 0      ? &last->field
         : strcmp(line->key, "difference") == 0 ? &last->difference
         : strcmp(line->key, "title") == 0      ? &last->title
         : strcmp(line->key, "text") == 0       ? &last->text
                                                : NULL;
    if (!to)
        return err_set(err, ERR_USAGE, "unknown key \"%.64s\"", line->key);
    if (*to)
        return err_set(err, ERR_USAGE, "%s again", line->key);
    *to = strdup(line->value);
    return *to ? 0 : err_memory(err, "explanations");
}

int explanations_read(struct explanations *c, const char *where, const char *text, struct err *err)
{
    memset(c, 0, sizeof(*c));
    if (conf_read(where, text, take, c, err) < 0)
        return -err->code;
    for (uint32_t i = 0; i < c->count; i++)
        if (!c->list[i].text)
            return err_set(err, ERR_USAGE, "%s: [%s] has no text", where, c->list[i].name);
    return 0;
}

int explanations_load(struct explanations *c, struct err *err)
{
    for (const struct rules_builtin *b = rules_builtins; b->name; b++)
        if (strcmp(b->name, "causes") == 0)
            return explanations_read(c, "causes.conf", b->text, err);
    return err_set(err, ERR_SYSTEM, "schemas/rules/causes.conf is not built in");
}

void explanations_free(struct explanations *c)
{
    for (uint32_t i = 0; i < c->count; i++) {
        free(c->list[i].name);
        free(c->list[i].kind);
        free(c->list[i].operation);
        free(c->list[i].field);
        free(c->list[i].difference);
        free(c->list[i].when);
        free(c->list[i].title);
        free(c->list[i].text);
    }
    free(c->list);
    memset(c, 0, sizeof(*c));
}

static bool fits(const char *pattern, const char *text)
{
    return !pattern || fnmatch(pattern, text, FNM_NOESCAPE | FNM_EXTMATCH) == 0;
}

const struct explanation *explanations_find(const struct explanations *c,
                                            const struct explained *of)
{
    for (uint32_t i = 0; i < c->count; i++)
        if (fits(c->list[i].kind, of->kind) && fits(c->list[i].operation, of->operation) &&
            fits(c->list[i].field, of->field) && fits(c->list[i].difference, of->difference) &&
            fits(c->list[i].when, of->when ? of->when : ""))
            return &c->list[i];
    return NULL;
}
