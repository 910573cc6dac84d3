/* SPDX-License-Identifier: GPL-2.0-or-later */
/* live/shadow/paths.c
 *
 * What the user wants to be synchronized.
 */
#include "shadow/shadow_parts.h"

#include <fnmatch.h>
#include <string.h>

/* The path, or the name, of an ancestor matches the pattern. */
static bool matches(const char *pattern, char *path)
{
    bool is_name = !strchr(pattern, '/');
    char *end = path, kept;
    bool found = false;

    while (!found && *end) {
        char *name = end + 1;

        end = name + strcspn(name, "/");
        kept = *end;
        *end = 0;
        found = fnmatch(pattern, is_name ? name : path, FNM_PATHNAME) == 0;
        *end = kept;
    }
    return found;
}

/* The directory |path| may have something below it that the pattern names. */
static bool leads_to(const char *pattern, const char *path)
{
    char begin[1024];
    const char *end = pattern;

    if (!strchr(pattern, '/') || strcmp(path, "/") == 0)
        return true;
    for (const char *at = path; *at; at++) /* as many parts as the path has */
        if (*at == '/' && *end)
            end += 1 + strcspn(end + 1, "/");
    if ((size_t)(end - pattern) >= sizeof(begin))
        return true;
    memcpy(begin, pattern, (size_t)(end - pattern));
    begin[end - pattern] = 0;
    return fnmatch(begin, path, FNM_PATHNAME) == 0;
}

static bool any_matches(const struct shadow_paths *paths, char *path)
{
    for (uint32_t i = 0; i < paths->count; i++)
        if (matches(paths->patterns[i], path))
            return true;
    return false;
}

static bool any_leads_to(const struct shadow_paths *paths, const char *path)
{
    for (uint32_t i = 0; i < paths->count; i++)
        if (leads_to(paths->patterns[i], path))
            return true;
    return false;
}

bool paths_want(const struct shadow *s, const struct mirror_object *object)
{
    const struct shadow_paths *exclude = &s->setup.exclude, *only = &s->setup.only;
    struct buf path = { 0 };
    bool wants = true;
    char *text;

    if (!exclude->count && !only->count)
        return true;
    if (mirror_path(s->mirror, object, &path) == 0 && buf_append(&path, "", 1) == 0) {
        text = (char *)path.data;
        wants = !any_matches(exclude, text) &&
                (!only->count || any_matches(only, text) ||
                 (object->type == OBJECT_DIR && any_leads_to(only, text)));
    }
    buf_free(&path);
    return wants;
}

int paths_decide(struct shadow *s, const struct mirror_object *object, bool *wants,
                 struct err *err)
{
    struct known *k;

    *wants = paths_want(s, object);
    if (*wants)
        return 0;
    k = known_get(s, object->id, err);
    if (!k)
        return -err->code;
    k->is_unwanted = true;
    return 0;
}

static bool is_unwanted(const struct shadow *s, const struct mirror_object *object)
{
    return object->state == MIRROR_EXCLUDED && object->id < s->known_end &&
           known_of(s, object->id)->is_unwanted;
}

void paths_named(struct shadow *s, const struct mirror_object *object, bool moved)
{
    bool has_patterns = s->setup.exclude.count || s->setup.only.count;

    s->names_changed |=
        has_patterns && ((moved && object->type == OBJECT_DIR) || is_unwanted(s, object));
}

/* What the SUT has no handle for is made by its directory. */
static int queue(struct shadow *s, struct mirror_object *object, struct err *err)
{
    struct mirror_object *parent = mirror_at(s->mirror, object->parent);

    known_of(s, object->id)->is_unwanted = false;
    if (mirror_set_state(s->mirror, object, MIRROR_UNKNOWN, err) < 0)
        return -err->code;
    if (!parent || parent->state != MIRROR_SYNCHRONIZED)
        return 0;
    if (!object->sut_handle_len || !object->type)
        return dispatch_again(s, parent, s->position, err);
    copy_wake(s->copy);
    return mirror_set_state(s->mirror, object, MIRROR_QUEUED, err);
}

int paths_look(struct shadow *s, struct err *err)
{
    if (!s->names_changed)
        return 0;
    s->names_changed = false;
    for (struct mirror_object *o = mirror_next(s->mirror, NULL); o; o = mirror_next(s->mirror, o))
        if (is_unwanted(s, o) && o->name_len && paths_want(s, o) && queue(s, o, err) < 0)
            return -err->code;
    return 0;
}
