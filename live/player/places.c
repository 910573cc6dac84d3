/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "player/places.h"
#include "wire/nfs3_numbers.h"
#include "wire/walk.h"

enum {
    HANDLE = 4,                  /* bytes of a handle in a dump */
    DATA_MAX = UINT32_C(1) << 30 /* of a WRITE; a record has to hold it (RFC 5531 s11) */
};

struct look {
    struct step *step;
    uint32_t handles;
    uint32_t data_at; /* where the data of a WRITE would begin */
    const char *problem;
};

static int stop(struct look *look, const char *problem)
{
    look->problem = problem;
    return 1;
}

static int look_at_handle(struct look *look, const struct visit *v)
{
    if (v->field->kind != XDR_OPAQUE || v->len != HANDLE)
        return stop(look, "this handle is not the number of an object");
    switch (look->handles++) {
    case 0:
        return v->offset == 4 ? 0 : stop(look, "something stands before the handle");
    case 1:
        look->step->has |= STEP_HAS_SECOND;
        look->step->second_at = v->offset - 4;
        return 0;
    default:
        return stop(look, "a third handle");
    }
}

static int look_at(void *ctx, const struct visit *v)
{
    struct look *look = ctx;
    struct step *step = look->step;

    switch (v->field->cls) {
    case CLASS_HANDLE:
        return look_at_handle(look, v);
    case CLASS_COOKIE: /* its verifier is the next field */
        step->has |= v->value ? STEP_CONTINUES : 0;
        step->value_at = v->offset;
        return 0;
    case CLASS_OFFSET:
        step->value_at = v->offset;
        return 0;
    case CLASS_BOOLEAN: /* the guard; its ctime is the next field */
        if (v->field->role & ROLE_SETS && v->value) {
            step->has |= STEP_GUARDED;
            step->value_at = v->offset + 4;
        }
        return 0;
    case CLASS_DATA:
        if (v->full_len > DATA_MAX)
            return stop(look, "more data than a message has");
        step->data_len = v->full_len;
        look->data_at = v->offset;
        return 0;
    default:
        return 0;
    }
}

static int walk_arguments(struct step *step, struct err *err)
{
    const struct type *type = step->procedure->arguments;
    struct look look = { .step = step };
    const struct visitor visitor = { look_at, &look,
                                     ROLE_OBJECT | ROLE_PARENT | ROLE_PARENT2 | ROLE_SETS |
                                         ROLE_RANGE_START | ROLE_DATA };
    bool data = step->has & STEP_HAS_DATA;
    uint32_t len = step->arguments.len;
    char path[WALK_PATH_MAX];
    struct walk w;
    enum walk_result result =
        walk(&w, type, step->arguments.data, len, data ? UINT32_MAX : len, true, &visitor);

    /* Only the arguments themselves say how long they were with the data, which come last. */
    if (data && result == WALK_MALFORMED && w.surplus && look.data_at == len)
        result = WALK_OK;
    if (result != WALK_OK)
        return err_set(err, ERR_INPUT, "its arguments are not those of %s: at byte %u, %s: %s",
                       step->procedure->name, w.offset, walk_path(&w, NULL, path),
                       look.problem ? look.problem
                       : w.problem  ? w.problem
                                    : "they end before");
    if (!look.handles && !(step->has & STEP_WITHOUT_OBJECT))
        return err_set(err, ERR_INPUT, "its arguments have no handle");
    return 0;
}

int places_find(const struct places *places, struct step *step, struct err *err)
{
    step->procedure = places->of[step->number].procedure;
    step->program = places->of[step->number].program;
    step->has = places->of[step->number].has;
    step->second_at = step->value_at = step->data_len = 0;
    if (!step->unplayable)
        return step->procedure ? walk_arguments(step, err)
                               : err_set(err, ERR_INPUT, "procedure %u", step->number);
    step->has &= STEP_CHANGES | STEP_LISTS | STEP_WITHOUT_OBJECT;
    step->arguments.len = 0;
    return 0;
}

static uint8_t all_steps_have(const struct procedure *procedure)
{
    const uint32_t handles = ROLE_OBJECT | ROLE_PARENT | ROLE_PARENT2;
    const struct type *type = procedure->arguments;
    uint8_t has = 0;

    switch ((enum action)procedure->action) {
    case ACTION_WRITE:
    case ACTION_SET:
    case ACTION_SET_OTHER:
    case ACTION_MAKE:
    case ACTION_REMOVE:
    case ACTION_RENAME:
    case ACTION_LINK:
        has |= STEP_CHANGES;
        break;
    case ACTION_LIST:
        has |= STEP_LISTS;
        break;
    case ACTION_NONE:
    case ACTION_MOUNT:
    case ACTION_ASK:
    case ACTION_ASK_FILE_SYSTEM:
    case ACTION_FIND:
    case ACTION_READ:
    case ACTION_READ_LINK:
    case ACTION_FLUSH:
        break;
    }
    has |= type->has_data ? STEP_HAS_DATA : 0;
    has |= type->roles & handles ? 0 : STEP_WITHOUT_OBJECT;
    return has;
}

void places_init(struct places *places)
{
    memset(places, 0, sizeof(*places));
    for (unsigned number = 0; number < 256; number++) {
        const struct procedure *procedure = rdump_procedure((uint8_t)number);

        if (!procedure)
            continue;
        places->of[number].procedure = procedure;
        places->of[number].program = number < RDUMP_ACL ? NFS3_PROGRAM : NFSACL_PROGRAM;
        places->of[number].has = all_steps_have(procedure);
    }
}
