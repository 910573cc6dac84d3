/* SPDX-License-Identifier: GPL-2.0-or-later */
/* live/net/fault_wire.c
 *
 * What fault rules know of the protocols, from the tables of engine/wire: procedures, names of
 * statuses and other values, and whether the replies of a procedure have what an effect acts upon.
 */
#include "net/fault_parts.h"
#include "base/values.h"
#include "wire/programs.h"
#include "wire/rpc.h"

#include <stdio.h>

static const struct program *const programs[FAULT_PROGRAMS] = { &wire_nfs3, &wire_mount3,
                                                                &wire_nfsacl3 };

int fault_program(uint32_t program)
{
    for (int i = 0; i < FAULT_PROGRAMS; i++)
        if (programs[i]->number == program)
            return i;
    return -1;
}

/* --- procedures */

static bool has(const struct fault_rule *rule, int program, uint32_t procedure)
{
    return rule->procedures[program] >> procedure & 1;
}

/* Of the rule's procedures, the first one's name and whether there are others. */
static const char *first_procedure(const struct fault_rule *rule)
{
    for (int i = 0; i < FAULT_PROGRAMS; i++)
        for (uint32_t k = 0; k < programs[i]->procedure_count; k++)
            if (has(rule, i, k))
                return programs[i]->procedures[k].name;
    return "?";
}

int fault_read_procedure(struct fault_rule *rule, const char *text, struct err *err)
{
    const char *dot = strchr(text, '.'), *name = dot ? dot + 1 : text;
    bool found = false;

    for (int i = 0; i < FAULT_PROGRAMS; i++) {
        const struct program *p = programs[i];

        if (dot && (strncmp(text, p->name, (size_t)(dot - text)) != 0 || p->name[dot - text]))
            continue;
        for (uint32_t k = 0; k < p->procedure_count; k++)
            if (p->procedures[k].name &&
                (strcmp(name, "*") == 0 || strcmp(name, p->procedures[k].name) == 0)) {
                rule->procedures[i] |= UINT64_C(1) << k;
                found = true;
            }
    }
    if (!found)
        return err_set(err, ERR_USAGE,
                       "\"%.60s\" is not a procedure of NFS, MOUNT or NFSACL: READ, MOUNT.MNT, "
                       "NFS.* or *",
                       text);
    return 0;
}

/* --- what replies have */

struct look {
    const struct fault_rule *rule;
    const struct fault_word *word;
    const char *name; /* of a value, or NULL: the field will do */
    uint64_t value;
};

/* Whether |path|, which begins with the type's name, ends in |name|. */
static bool ends_in(const char *path, const char *name)
{
    size_t len = strlen(path), end = strlen(name);

    return end < len && path[len - end - 1] == '.' && strcmp(path + len - end, name) == 0;
}

/* Stops (1) at a field of one of the rule's replies that the word is about. */
static int look_at(void *ctx, const struct field_place *place)
{
    struct look *look = ctx;
    const struct fault_word *word = look->word;
    const struct field *field = place->field;
    int program = fault_program(place->program->number);
    bool is;

    if (!place->result || program < 0 || place->program != programs[program] ||
        !has(look->rule, program, place->procedure->number))
        return 0;
    if (word == &fault_words[FAULT_STATUS])
        is = field->role & ROLE_STATUS;
    else if (word->role == FAULT_ATTRIBUTES)
        is = field->kind == XDR_OPTIONAL && field->role & FAULT_ATTRIBUTES;
    else if (word->role)
        is = field->role & word->role;
    else
        is = !*word->field || ends_in(place->path, word->field);
    if (!is || !look->name)
        return is;
    for (const struct value_name *n = field->names; n && n->name; n++)
        if (strcmp(n->name, look->name) == 0) {
            look->value = n->value;
            return 1;
        }
    return 0;
}

int fault_check_effect(const struct fault_rule *rule, uint32_t number, struct err *err)
{
    struct look look = { rule, &fault_words[number], NULL, 0 };

    if ((!look.word->field && !look.word->role && number != FAULT_STATUS) ||
        wire_each_field(look_at, &look))
        return 0;
    return err_set(err, ERR_USAGE, "%s: no reply of %s has what it needs", look.word->name,
                   first_procedure(rule));
}

/* A name of the tables, or a number. */
int fault_read_name(const struct fault_rule *rule, uint32_t number, const char *text,
                    uint64_t *value, struct err *err)
{
    struct look look = { rule, &fault_words[number], text, 0 };

    if (number == FAULT_RPC_STATUS) {
        for (uint32_t status = 1; status <= RPC_AUTH_ERROR; status++) {
            const char *name = rpc_status_name(status);

            *value = status;
            if (name && strcmp(name, text) == 0)
                return 0;
        }
        return err_set(err, ERR_USAGE,
                       "rpc-status: \"%.40s\" is not one of PROG_UNAVAIL, PROG_MISMATCH, "
                       "PROC_UNAVAIL, GARBAGE_ARGS, SYSTEM_ERR, RPC_MISMATCH, AUTH_ERROR",
                       text);
    }
    if (parse_number(text, value) && *value <= UINT32_MAX)
        return 0;
    if (wire_each_field(look_at, &look) == 0)
        return err_set(err, ERR_USAGE, "%s: \"%.40s\" is neither a number nor a name that %s has",
                       look.word->name, text, first_procedure(rule));
    *value = look.value;
    return 0;
}

struct names {
    struct look look;
    const char *name;
};

static int name_at(void *ctx, const struct field_place *place)
{
    struct names *names = ctx;

    if (look_at(&names->look, place))
        for (const struct value_name *n = place->field->names; n && n->name; n++)
            if (n->value == names->look.value) {
                names->name = n->name;
                return 1;
            }
    return 0;
}

void fault_print_name(const struct fault_rule *rule, uint32_t number, char *to, size_t room)
{
    uint64_t value = rule->value[number];
    struct names names = { { rule, &fault_words[number], NULL, value }, NULL };

    if (number == FAULT_RPC_STATUS)
        names.name = rpc_status_name((uint32_t)value);
    else
        wire_each_field(name_at, &names);
    if (names.name)
        snprintf(to, room, "%s", names.name);
    else
        snprintf(to, room, "%llu", (unsigned long long)value);
}
