/* SPDX-License-Identifier: GPL-2.0-or-later */
/* model/rules/place.c
 *
 * Makes the list of a procedure's places once, from the tables of engine/wire.  Finds the place of
 * a field by a hash of the fields and arms that led to it; only the first field of each such chain
 * is looked up by its path.  Seconds and their fraction are one time.  For the judge, and for
 * reports of replies.  The contract is in place.h.
 */
#include "base/grow.h"
#include "rules/place.h"

#include <stdlib.h>
#include <string.h>

struct making {
    struct places *places;
    const struct rules *rules;
    uint32_t cap;
    struct err *err;
};

/* A structure of seconds and their fraction is one time. */
static bool is_fraction(const struct place *seconds, const struct field *field)
{
    return seconds->field->cls == CLASS_TIME && seconds->field + 1 == field &&
           field->cls == CLASS_INTERVAL;
}

static int add_place(void *ctx, const struct field_place *place)
{
    struct making *m = ctx;
    struct places *p = m->places;
    struct place *new;

    if (place->program != p->program || place->procedure != p->procedure ||
        place->result != p->result)
        return 0;
    if (GROW(p->places, p->count, m->cap) < 0)
        return err_memory(m->err, "fields");
    new = &p->places[p->count];
    *new = (struct place){ .field = place->field, .path = strdup(place->path), .index = p->count };
    p->count++;
    if (!new->path)
        return err_memory(m->err, "fields");
    new->is_part = new->index &&is_fraction(new - 1, place->field);
    if (new->is_part) {
        new[-1].is_time = true;
        new[-1].scale = strcmp(place->field->name, "useconds") == 0 ? 1000 : 1;
        *strrchr(new[-1].path, '.') = '\0';
    }
    if (p->result)
        new->rules = rules_for(m->rules, place);
    else
        new->counts = rules_request(m->rules, place);
    return p->result && !new->rules ? err_memory(m->err, "fields") : 0;
}

static void find_ends(struct places *p)
{
    for (uint32_t i = 0; i < p->count; i++) {
        struct place *place = &p->places[i];
        size_t len = strlen(place->path);

        place->end = i + 1;
        if (place->field->sub || place->is_time)
            while (place->end < p->count &&
                   strncmp(p->places[place->end].path, place->path, len) == 0 &&
                   p->places[place->end].path[len] == '.')
                place->end++;
    }
}

static int make(struct places *places, const struct rules *rules, const struct places_key *key,
                struct err *err)
{
    struct making m = { .places = places, .rules = rules, .err = err };

    *places = (struct places){ .program = program_find(key->program, key->version),
                               .procedure = key->procedure,
                               .result = key->result };
    if (wire_each_field(add_place, &m) < 0)
        return -err->code;
    find_ends(places);
    return 0;
}

static void release(struct places *places)
{
    for (uint32_t i = 0; i < places->count; i++) {
        free(places->places[i].path);
        free(places->places[i].rules);
    }
    free(places->places);
    table_free(&places->by_chain);
    memset(places, 0, sizeof(*places));
}

/* A hash of the fields and arms that lead to a place. */
static uint64_t chain_of(const struct visit *visit)
{
    const struct walk *walk = visit->walk;
    uint64_t hash = (uintptr_t)visit->field;

    for (uint32_t i = 0; i < walk->depth; i++) {
        hash = hash * 0x9e3779b97f4a7c15u + (uintptr_t)walk->steps[i].field;
        hash = (hash ^ (hash >> 29)) * 0xbf58476d1ce4e5b9u + (uintptr_t)walk->steps[i + 1].arm;
    }
    return hash ^ (hash >> 32);
}

static uint8_t stamp_of(const struct place *place)
{
    static const char *const names[] = {
        [STAMP_ATIME] = ".atime", [STAMP_MTIME] = ".mtime", [STAMP_CTIME] = ".ctime"
    };
    const char *name = strrchr(place->path, '.');

    for (uint8_t i = STAMP_ATIME; place->is_time && name && i <= STAMP_CTIME; i++)
        if (strcmp(name, names[i]) == 0)
            return i;
    return STAMP_NONE;
}

static void note_surroundings(struct place *place, const struct visit *visit)
{
    enum {
        ATTRIBUTES = ROLE_ATTRIBUTES | ROLE_ATTRIBUTES_NEW | ROLE_ATTRIBUTES_ENTRY |
                     ROLE_ATTRIBUTES_PARENT | ROLE_ATTRIBUTES_PARENT2
    };
    const struct walk *walk = visit->walk;

    for (uint32_t i = 0; i <= walk->depth; i++) {
        const struct field *f = i < walk->depth ? walk->steps[i].field : visit->field;
        uint32_t role = f->role;

        place->in_list |= i < walk->depth && (f->kind == XDR_LIST || f->kind == XDR_ARRAY);
        if (role & ROLE_BEFORE) {
            role = f[1].role; /* of whom, the field behind it says */
            place->of_before = true;
        }
        if (!(role & ATTRIBUTES))
            continue;
        place->has_whose = true;
        place->whose = role & ROLE_ATTRIBUTES           ? OF_OBJECT
                       : role & ROLE_ATTRIBUTES_PARENT  ? OF_PARENT
                       : role & ROLE_ATTRIBUTES_PARENT2 ? OF_PARENT2
                       : role & ROLE_ATTRIBUTES_NEW     ? OF_NEW_OBJECT
                                                        : OF_ENTRY;
    }
    place->stamp = stamp_of(place);
    place->seen = true;
}

/* The slow way, once for each chain. */
static struct place *find_place(struct places *places, const struct visit *visit, uint64_t chain)
{
    char path[WALK_PATH_MAX];

    walk_path(visit->walk, visit->field, path);
    for (uint32_t i = 0; i < places->count; i++) {
        struct place *place = &places->places[i];
        size_t len = strlen(place->path);

        if (place->field != visit->field || strncmp(place->path, path, len) != 0 ||
            (path[len] && !(place->is_time && path[len] == '.')))
            continue;
        if (table_add(&places->by_chain, chain, i) < 0)
            return NULL;
        note_surroundings(place, visit);
        return place;
    }
    return NULL;
}

struct place *places_at(struct places *places, const struct visit *visit)
{
    uint64_t chain = chain_of(visit);
    uint32_t at, slot = table_first(&places->by_chain, chain, &at);

    return slot != TABLE_NONE ? &places->places[slot] : find_place(places, visit, chain);
}

int places_get(struct places_set *set, const struct places_key *key, struct places **places,
               struct err *err)
{
    for (uint32_t i = 0; i < set->count; i++)
        if (set->list[i]->procedure == key->procedure && set->list[i]->result == key->result) {
            *places = set->list[i];
            return 0;
        }
    if (GROW(set->list, set->count, set->cap) < 0)
        return err_memory(err, "fields");
    *places = calloc(1, sizeof(**places));
    if (!*places)
        return err_memory(err, "fields");
    set->list[set->count++] = *places;
    return make(*places, set->rules, key, err);
}

void places_set_free(struct places_set *set)
{
    for (uint32_t i = 0; i < set->count; i++) {
        release(set->list[i]);
        free(set->list[i]);
    }
    free(set->list);
    memset(set, 0, sizeof(*set));
}
