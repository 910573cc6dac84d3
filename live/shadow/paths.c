/* SPDX-License-Identifier: GPL-2.0-or-later */
/* live/shadow/paths.c
 *
 * What the user wants to be synchronized.
 */
#include "shadow/paths.h"
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

/* |path| becomes a text. */
static bool wants_path(const struct shadow *s, struct buf *path, bool is_directory)
{
    const struct shadow_paths *exclude = &s->setup.exclude, *only = &s->setup.only;
    char *text;

    if (buf_append(path, "", 1) < 0)
        return true;
    text = (char *)path->data;
    return !any_matches(exclude, text) &&
           (!only->count || any_matches(only, text) || (is_directory && any_leads_to(only, text)));
}

static bool has_patterns(const struct shadow *s)
{
    return s->setup.exclude.count || s->setup.only.count;
}

bool paths_hide_links(const struct shadow *s, uint32_t object)
{
    return has_patterns(s) && object < s->known_end && known_of(s, object)->was_linked;
}

bool paths_want(const struct shadow *s, const struct mirror_object *object)
{
    struct buf path = { 0 };
    bool wants = true;

    if (!has_patterns(s))
        return true;
    if (mirror_path(s->mirror, object, &path) == 0)
        wants = wants_path(s, &path, object->type == OBJECT_DIR);
    buf_free(&path);
    return wants;
}

static bool wants_name(const struct shadow *s, const struct mirror_object *directory,
                       struct bytes name, bool is_directory)
{
    struct buf path = { 0 };
    bool wants = true;

    if (!has_patterns(s))
        return true;
    if (mirror_path(s->mirror, directory, &path) == 0 &&
        (directory->is_root || buf_append(&path, "/", 1) == 0) &&
        buf_append(&path, name.data, name.len) == 0)
        wants = wants_path(s, &path, is_directory);
    buf_free(&path);
    return wants;
}

static bool is_unwanted(const struct shadow *s, const struct mirror_object *object)
{
    return object->state == MIRROR_EXCLUDED && object->id < s->known_end &&
           known_of(s, object->id)->is_unwanted;
}

/* One of several names is enough. */
static bool wants_another(const struct shadow *s, const struct mirror_object *object)
{
    if (object->type == OBJECT_DIR || mirror_names(s->mirror, object) < 2)
        return false;
    return (object->state != MIRROR_UNKNOWN && object->state != MIRROR_EXCLUDED) ||
           (object->id < s->known_end && known_of(s, object->id)->is_wanted) ||
           (object->name_len && paths_want(s, object));
}

int paths_decide(struct shadow *s, struct mirror_object *object,
                 const struct mirror_object *directory, struct bytes name, bool *wants,
                 struct err *err)
{
    struct known *k;

    *wants = directory ? wants_name(s, directory, name, object->type == OBJECT_DIR) ||
                             wants_another(s, object)
                       : paths_want(s, object);
    if (*wants && !is_unwanted(s, object))
        return 0;
    k = known_get(s, object->id, err);
    if (!k)
        return -err->code;
    k->is_unwanted = !*wants;
    return *wants ? mirror_set_state(s->mirror, object, MIRROR_UNKNOWN, err) : 0;
}

void paths_named(struct shadow *s, const struct mirror_object *object,
                 const struct mirror_object *parent, const struct record_name *record)
{
    if (!has_patterns(s))
        return;
    s->names_changed |=
        (record->event == NAME_MOVED && object->type == OBJECT_DIR) || is_unwanted(s, object);
    known_of(s, object->id)->is_wanted |=
        object->type != OBJECT_DIR && wants_name(s, parent, record->name, false);
}

void paths_nameless(struct shadow *s, const struct mirror_object *object)
{
    known_of(s, object->id)->is_wanted = false;
}

/* What the SUT has no handle for is made by its directory. */
static int queue(struct shadow *s, struct mirror_object *object, struct err *err)
{
    struct mirror_object *parent = mirror_at(s->mirror, object->parent);

    known_of(s, object->id)->is_unwanted = false;
    if (mirror_set_state(s->mirror, object, MIRROR_UNKNOWN, err) < 0)
        return -err->code;
    copy_wake(s->copy);
    if (object->sut_handle_len && object->type)
        return mirror_set_state(s->mirror, object, MIRROR_QUEUED, err);
    return parent && parent->state == MIRROR_SYNCHRONIZED
               ? dispatch_again(s, parent, s->position, err)
               : 0;
}

int paths_look(struct shadow *s, struct err *err)
{
    if (!s->names_changed)
        return 0;
    s->names_changed = false;
    for (struct mirror_object *o = mirror_next(s->mirror, NULL); o; o = mirror_next(s->mirror, o))
        if (is_unwanted(s, o) &&
            (known_of(s, o->id)->is_wanted || (o->name_len && paths_want(s, o))) &&
            queue(s, o, err) < 0)
            return -err->code;
    return 0;
}
