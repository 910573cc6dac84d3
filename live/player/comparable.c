/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "player/comparable.h"
#include "rules/rules_line.h"
#include "wire/nfs3_numbers.h"
#include "wire/nfs3_types.h"

#include <stdio.h>
#include <string.h>

struct search {
    const struct rules *rules;
    bool *comparable;
    char list[256]; /* path of the last list, with a dot */
};

static bool is_size(const struct field *field)
{
    return field->cls == CLASS_SIZE && strcmp(field->name, "size") == 0;
}

/* Of a fattr3 (not of a wcc_attr, from before): the groups of schemas/rdump.md section 5. */
static bool is_attribute(const struct field *field)
{
    const struct field *f = fattr3.fields;

    if (field->cls == CLASS_DEVICE)
        return true;
    while (f->kind != XDR_END && f != field)
        f++;
    return f->kind != XDR_END &&
           (is_size(f) || f->cls == CLASS_TYPE || f->cls == CLASS_MODE || f->cls == CLASS_COUNT ||
            f->cls == CLASS_UID || f->cls == CLASS_GID);
}

static bool is_compared(const struct field_place *place, bool in_list)
{
    uint32_t role = place->field->role;

    if (role & (ROLE_STATUS | ROLE_NEW_OBJECT | ROLE_LINK_TEXT | ROLE_ENTRY | ROLE_ENTRY_OBJECT))
        return true;
    switch (place->procedure->action) {
    case ACTION_READ:
        if (role & (ROLE_RANGE_LENGTH | ROLE_EOF | ROLE_DATA))
            return true;
        break;
    case ACTION_ASK:
        if (role & ROLE_SETS)
            return true;
        break;
    case ACTION_ASK_FILE_SYSTEM:
        return false;
    default:
        break;
    }
    return !in_list && is_attribute(place->field);
}

/* Sizes are compared of files and symbolic links only. */
static bool is_of_type(const struct compare_rule *rule, const struct field *field)
{
    return !is_size(field) || !rule->when.has_type || rule->when.type == NF3REG ||
           rule->when.type == NF3LNK;
}

static int look(void *ctx, const struct field_place *place)
{
    struct search *s = ctx;
    bool in_list;

    if (!place->result || place->program->version != NFS3_VERSION ||
        (place->program->number != NFS3_PROGRAM && place->program->number != NFSACL_PROGRAM))
        return 0;
    in_list = s->list[0] && strncmp(place->path, s->list, strlen(s->list)) == 0;
    if (!in_list && place->field->kind == XDR_LIST)
        snprintf(s->list, sizeof(s->list), "%s.", place->path);
    for (uint32_t i = 0; i < s->rules->rule_count && is_compared(place, in_list); i++) {
        const struct compare_rule *rule = &s->rules->rules[i];

        if ((rule->group == RULES_CLASSES || rule->group == RULES_FIELDS) &&
            rule_names(rule, place) && rule_fits(rule, place->field) &&
            is_of_type(rule, place->field))
            s->comparable[i] = true;
    }
    return 0;
}

void rules_comparable(const struct rules *rules, bool *comparable)
{
    struct search search = { .rules = rules, .comparable = comparable };

    memset(comparable, 0, rules->rule_count * sizeof(*comparable));
    wire_each_field(look, &search);
}
