/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "compare/causes.h"

#include "compare/conf.h"
#include "compare/rules.h"

#include <fnmatch.h>
#include <stdlib.h>
#include <string.h>

static int add(struct causes *c, const char *name, struct err *err)
{
    if (c->count == c->cap) {
        uint32_t cap = c->cap ? c->cap * 2 : 64;
        void *grown = realloc(c->causes, cap * sizeof(*c->causes));

        if (!grown)
            return err_set(err, ERR_SYSTEM, "out of memory");
        c->causes = grown;
        c->cap = cap;
    }
    c->causes[c->count] = (struct cause){ .name = strdup(name) };
    return c->causes[c->count++].name ? 0 : err_set(err, ERR_SYSTEM, "out of memory");
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

static int take_severity(struct cause *cause, const char *word, struct err *err)
{
    for (uint8_t i = SEVERITY_OUTCOME; i < SEVERITY_MAX; i++)
        if (strcmp(word, severities[i]) == 0)
            cause->severity = i;
    return cause->severity ? 0 : err_set(err, ERR_USAGE, "no severity \"%.64s\"", word);
}

static int take(void *ctx, const struct conf_line *line, struct err *err)
{
    struct causes *c = ctx;
    struct cause *last;
    char **to;

    if (!line->key)
        return add(c, line->group, err);
    last = &c->causes[c->count - 1];
    if (strcmp(line->key, "severity") == 0)
        return take_severity(last, line->value, err);
    to = strcmp(line->key, "kind") == 0         ? &last->kind
         : strcmp(line->key, "when") == 0       ? &last->when
         : strcmp(line->key, "operation") == 0  ? &last->operation
         : strcmp(line->key, "field") == 0      ? &last->field
         : strcmp(line->key, "difference") == 0 ? &last->difference
         : strcmp(line->key, "text") == 0       ? &last->text
                                                : NULL;
    if (!to)
        return err_set(err, ERR_USAGE, "unknown key \"%.64s\"", line->key);
    if (*to)
        return err_set(err, ERR_USAGE, "%s again", line->key);
    *to = strdup(line->value);
    return *to ? 0 : err_set(err, ERR_SYSTEM, "out of memory");
}

int causes_read(struct causes *c, const char *where, const char *text, struct err *err)
{
    memset(c, 0, sizeof(*c));
    if (conf_read(where, text, take, c, err) < 0)
        return -err->code;
    for (uint32_t i = 0; i < c->count; i++)
        if (!c->causes[i].text)
            return err_set(err, ERR_USAGE, "%s: [%s] has no text", where, c->causes[i].name);
    return 0;
}

int causes_load(struct causes *c, struct err *err)
{
    for (const struct rules_builtin *b = rules_builtins; b->name; b++)
        if (strcmp(b->name, "causes") == 0)
            return causes_read(c, "causes.conf", b->text, err);
    return err_set(err, ERR_SYSTEM, "schemas/rules/causes.conf is not built in");
}

void causes_free(struct causes *c)
{
    for (uint32_t i = 0; i < c->count; i++) {
        free(c->causes[i].name);
        free(c->causes[i].kind);
        free(c->causes[i].operation);
        free(c->causes[i].field);
        free(c->causes[i].difference);
        free(c->causes[i].when);
        free(c->causes[i].text);
    }
    free(c->causes);
    memset(c, 0, sizeof(*c));
}

static bool fits(const char *pattern, const char *text)
{
    return !pattern || fnmatch(pattern, text, FNM_NOESCAPE | FNM_EXTMATCH) == 0;
}

const struct cause *causes_find(const struct causes *c, const struct cause_of *of)
{
    for (uint32_t i = 0; i < c->count; i++)
        if (fits(c->causes[i].kind, of->kind) && fits(c->causes[i].operation, of->operation) &&
            fits(c->causes[i].field, of->field) && fits(c->causes[i].difference, of->difference) &&
            fits(c->causes[i].when, of->when ? of->when : ""))
            return &c->causes[i];
    return NULL;
}
