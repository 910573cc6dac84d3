/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "replay/plan.h"
#include "base/escape.h"
#include "base/grow.h"
#include "rdump/rdump_place.h"
#include "wire/nfs3_numbers.h"

#include <stdlib.h>
#include <string.h>

static bool is_ours(const struct plan *p, uint32_t number)
{
    return number && number <= p->script->object_count &&
           plan_object(p, number)->server == p->server;
}

/* Finds the first entry of each object, and counts links in |links|. */
static void find_first(struct plan *p, uint32_t *links)
{
    const struct script *s = p->script;

    for (uint32_t n = 1; n <= s->object_count; n++) {
        const struct rdump_object *o = plan_object(p, n);

        p->entry_of[n] = is_ours(p, n) ? PLAN_ROOT : PLAN_ELSEWHERE;
        if (!is_ours(p, n))
            continue;
        p->object_count++;
        if (o->type == NF3REG || !o->type) {
            p->bytes = o->size > UINT64_MAX - p->bytes ? UINT64_MAX : p->bytes + o->size;
            p->largest = o->size > p->largest ? o->size : p->largest;
        }
    }
    for (uint32_t i = 0; i < s->entry_count; i++) {
        uint32_t n = s->entries[i].object;

        if (!is_ours(p, n) || !is_ours(p, s->entries[i].parent))
            continue;
        links[n]++;
        if (p->entry_of[n] == PLAN_ROOT) {
            p->entry_of[n] = i;
            p->first[s->entries[i].parent]++;
        } else {
            p->further_count++;
        }
    }
}

/* --- in the order of names */

static int compare_names(struct bytes a, struct bytes b)
{
    int order = memcmp(a.data, b.data, a.len < b.len ? a.len : b.len);

    return order ? order : (a.len > b.len) - (a.len < b.len);
}

static int compare_places(const struct rdump_entry *e, uint32_t directory, struct bytes name)
{
    return e->parent != directory ? (e->parent > directory) - (e->parent < directory)
                                  : compare_names(e->name, name);
}

static int by_place(const void *a, const void *b, void *ctx)
{
    const struct rdump_entry *entries = ctx;
    const struct rdump_entry *y = &entries[*(const uint32_t *)b];

    return compare_places(&entries[*(const uint32_t *)a], y->parent, y->name);
}

static bool is_among(const struct plan *p, const uint32_t *entries, uint32_t count,
                     uint32_t directory, struct bytes name)
{
    uint32_t low = 0, high = count;

    while (low < high) {
        uint32_t middle = low + (high - low) / 2;
        int order = compare_places(&p->script->entries[entries[middle]], directory, name);

        if (order == 0)
            return true;
        if (order > 0)
            high = middle;
        else
            low = middle + 1;
    }
    return false;
}

bool plan_has_name(const struct plan *p, uint32_t directory, struct bytes name)
{
    uint32_t first = p->first[directory];

    return is_among(p, p->children + first, p->first[directory + 1] - first, directory, name) ||
           is_among(p, p->further, p->further_count, directory, name);
}

/* Turns the counts of |first| into places, and fills |children| and |further|. */
static int sort_entries(struct plan *p, struct err *err)
{
    const struct script *s = p->script;
    uint32_t at = 0, further = 0;

    for (uint32_t n = 1; n <= s->object_count + 1; n++) {
        uint32_t count = p->first[n];

        p->first[n] = at;
        at += count;
    }
    p->children = calloc((size_t)at + 1, sizeof(*p->children));
    p->further = calloc((size_t)p->further_count + 1, sizeof(*p->further));
    if (!p->children || !p->further)
        return err_memory(err, "the order of the tree");
    for (uint32_t i = 0; i < s->entry_count; i++) {
        const struct rdump_entry *e = &s->entries[i];

        if (!is_ours(p, e->object) || !is_ours(p, e->parent))
            continue;
        if (p->entry_of[e->object] == i)
            p->children[p->first[e->parent]++] = i;
        else
            p->further[further++] = i;
    }
    /* each place now stands where the next one began */
    for (uint32_t n = s->object_count + 1; n > 1; n--)
        p->first[n] = p->first[n - 1];
    p->first[1] = 0;
    for (uint32_t n = 1; n <= s->object_count; n++)
        qsort_r(p->children + p->first[n], p->first[n + 1] - p->first[n], sizeof(*p->children),
                by_place, s->entries);
    qsort_r(p->further, p->further_count, sizeof(*p->further), by_place, s->entries);
    return 0;
}

static int find_extras(struct plan *p, const uint32_t *links, struct err *err)
{
    for (uint32_t n = 1; n <= p->script->object_count; n++) {
        const struct rdump_object *o = plan_object(p, n);
        uint32_t further = rdump_further_links(o, links[n]);

        if (!is_ours(p, n) || !further)
            continue;
        if (o->nlink > PLAN_LINKS_MAX)
            return err_set(err, ERR_INPUT,
                           "object %u has %u hard links; more than %d cannot be made", n, o->nlink,
                           PLAN_LINKS_MAX);
        if (GROW(p->extras, p->extra_count, p->extra_cap) < 0)
            return err_memory(err, "links");
        p->extras[p->extra_count++] = (struct plan_extra){ n, further };
    }
    return 0;
}

int plan_make(struct plan *p, const struct script *script, uint32_t server, struct err *err)
{
    size_t count = (size_t)script->object_count + 2;
    uint32_t *links;
    int result;

    *p = (struct plan){ .script = script, .server = server };
    if (script->entry_count >= PLAN_ELSEWHERE)
        return err_set(err, ERR_INPUT, "%s has too many names", script->path);
    p->entry_of = calloc(count, sizeof(*p->entry_of));
    p->first = calloc(count, sizeof(*p->first));
    links = calloc(count, sizeof(*links));
    if (p->entry_of && p->first && links) {
        find_first(p, links);
        result = sort_entries(p, err);
        if (result == 0)
            result = find_extras(p, links, err);
    } else {
        result = err_memory(err, "the order of the tree");
    }
    free(links);
    if (result < 0)
        plan_free(p);
    return result;
}

void plan_free(struct plan *p)
{
    free(p->entry_of);
    free(p->first);
    free(p->children);
    free(p->further);
    free(p->extras);
    *p = (struct plan){ 0 };
}

/* Puts |len| bytes before |*at|, if they fit there. */
static bool put_before(const char *text, const char *part, size_t len, size_t *at)
{
    if (len > *at)
        return false;
    *at -= len;
    memcpy((char *)(uintptr_t)text + *at, part, len);
    return true;
}

const char *plan_path(const struct plan *p, uint32_t object, char text[PLAN_PATH])
{
    char name[RDUMP_NAME_ROOM], shown[PLAN_PATH];
    size_t at = PLAN_PATH - 1;

    text[at] = 0;
    for (uint32_t n = object, depth = 0; depth < PLAN_PATH; depth++) {
        uint32_t entry = p->entry_of[n];

        if (entry >= PLAN_ELSEWHERE) {
            rdump_root_name(n, name);
            put_before(text, name, strlen(name), &at);
            break;
        }
        escape_to(shown, sizeof(shown), p->script->entries[entry].name, false);
        if (!put_before(text, shown, strlen(shown), &at) || !put_before(text, "/", 1, &at))
            break;
        n = p->script->entries[entry].parent;
    }
    return text + at;
}
