/* SPDX-License-Identifier: GPL-2.0-or-later */
/* live/player/places.c
 *
 * One walk over the arguments of a step finds the places, and, for arguments that may come again,
 * notes their form.  The contract is in places.h.
 */
#include "player/places.h"
#include "wire/nfs3_numbers.h"
#include "wire/walk.h"

enum {
    HANDLE = 4,                   /* bytes of a handle in a dump */
    DATA_MAX = UINT32_C(1) << 30, /* of a WRITE; a record has to hold it (RFC 5531 s11) */
    LOOKED_AT = ROLE_OBJECT | ROLE_PARENT | ROLE_PARENT2 | ROLE_SETS | ROLE_RANGE_START | ROLE_DATA,
};
_Static_assert(PLACES_FORMS == 256, "8 bits of the hash");

struct look {
    struct step *step;
    struct places_form *form; /* to be noted, from nothing; NULL: it is not wanted */
    uint32_t handles;
    uint32_t data_at; /* where the data of a WRITE would begin */
    const char *problem;
};

/* --- forms */

/* Never 0. */
static inline uint64_t key_of(const struct step *step)
{
    return UINT64_C(1) << 40 | (uint64_t)step->number << 32 | step->arguments.len;
}

/* A form may be at two places, because two that come often would drive each other out of one.  The
 * first of these: */
static inline unsigned place_of(uint64_t key)
{
    return ((uint32_t)(key >> 16) ^ (uint32_t)key) * UINT32_C(0x9e3779b1) >> 24;
}

/* Sets what walk_arguments would set, if the arguments are of this form. */
static inline bool has_form(const struct places_form *form, uint64_t key, struct step *step)
{
    const struct places_word *word = form->words, *end = word + form->word_count;
    const uint8_t *data = step->arguments.data;
    uint32_t data_len = 0;

    if (form->key != key)
        return false;
    for (; word < end; word++) /* as 64 bits: a larger one is far away */
        if ((uint64_t)word->value - load_be32(data + word->at) > word->round)
            return false;
    if (form->has_data) {
        data_len = load_be32(data + step->arguments.len - 4);
        if (data_len > form->data_max)
            return false;
    }
    step->has = form->has;
    step->second_at = form->second_at;
    step->value_at = form->value_at;
    step->data_len = data_len;
    if (form->has_cookie && load_be64(data + form->value_at))
        step->has |= STEP_CONTINUES;
    return true;
}

static void note_word(struct look *look, uint32_t at, uint32_t value, uint32_t round)
{
    struct places_form *form = look->form;

    if (form->word_count == PLACES_WORDS || at > UINT16_MAX)
        look->form = NULL;
    else
        form->words[form->word_count++] =
            (struct places_word){ (uint16_t)at, (uint16_t)round, (value + round) & ~round };
}

static void note_bytes(struct look *look, const struct visit *v)
{
    const struct field *field = v->field;
    uint32_t padded = (v->full_len + 3) & ~3u;

    if (field->cls == CLASS_DATA) {
        look->form->has_data = true;
        look->form->data_max = field->max && field->max < DATA_MAX ? field->max : DATA_MAX;
    } else {
        bool any = field->cls != CLASS_HANDLE && (!field->max || padded <= field->max);

        note_word(look, v->offset - 4, v->full_len, any ? 3 : 0);
    }
}

static void note(struct look *look, const struct visit *v)
{
    if (v->whole)
        return;
    switch (v->field->kind) {
    case XDR_BOOL:
    case XDR_OPTIONAL:
    case XDR_ARRAY:
    case XDR_UNION:
        note_word(look, v->offset, load_be32(v->data), 0);
        break;
    case XDR_OPAQUE:
    case XDR_STRING:
        note_bytes(look, v);
        break;
    case XDR_LIST: /* in no arguments so far */
        look->form = NULL;
        break;
    default:
        break;
    }
    if (look->form && v->field->cls == CLASS_COOKIE && v->field->role & LOOKED_AT)
        look->form->has_cookie = true;
}

static void keep(struct places_form *form, const struct step *step)
{
    form->key = key_of(step);
    form->has = step->has & ~(form->has_cookie ? STEP_CONTINUES : 0);
    form->second_at = step->second_at;
    form->value_at = step->value_at;
}

/* --- places */

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

    if (look->form)
        note(look, v);
    if (!(v->field->role & LOOKED_AT))
        return 0;
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
    case CLASS_SIZE:
        step->has |= STEP_SETS_SIZE;
        step->second_at = v->offset;
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

/* |form|: all zeros, to be set; or NULL. */
static int walk_arguments(struct step *step, struct places_form *form, struct err *err)
{
    const struct type *type = step->procedure->arguments;
    struct look look = { .step = step, .form = form };
    const struct visitor visitor = { look_at, &look, form ? 0 : LOOKED_AT };
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
    if (look.form)
        keep(look.form, step);
    return 0;
}

/* Arguments of no form that is known at |place|. */
static __attribute__((noinline)) int find_places(struct places *places, unsigned place,
                                                 struct step *step, struct err *err)
{
    struct places_form *form = &places->forms[place], *other = &places->forms[place ^ 1];
    struct places_form new = { 0 };
    bool again;
    int result;

    step->has = places->of[step->number].has;
    step->second_at = step->value_at = step->data_len = 0;
    if (!step->procedure)
        return err_set(err, ERR_INPUT, "procedure %u", step->number);
    again = form->next == key_of(step); /* what comes once may never come again */
    result = walk_arguments(step, again ? &new : NULL, err);
    if (new.key)
        *(form->key && !other->key ? other : form) = new;
    form->next = key_of(step);
    return result;
}

int places_find(struct places *places, struct step *step, struct err *err)
{
    const struct places_procedure *of = &places->of[step->number];
    uint64_t key = key_of(step);
    unsigned place = place_of(key);

    step->procedure = of->procedure;
    step->program = of->program;
    if (!step->unplayable)
        return has_form(&places->forms[place], key, step) ||
                       has_form(&places->forms[place ^ 1], key, step)
                   ? 0
                   : find_places(places, place, step, err);
    step->has = of->has & (STEP_CHANGES | STEP_LISTS | STEP_WITHOUT_OBJECT);
    step->second_at = step->value_at = step->data_len = 0;
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
