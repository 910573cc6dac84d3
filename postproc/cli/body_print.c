/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "cli/body_print.h"
#include "base/escape.h"
#include "base/json.h"
#include "base/values.h"
#include "wire/walk.h"

enum { PATH_MAX_LEN = WALK_PATH_MAX + WALK_DEPTH_MAX * 12 };

struct printer {
    FILE *out;         /* text, or */
    struct json *json; /* members of an object */
    struct buf text;
};

static size_t add(char *path, size_t len, const char *dot, const char *name)
{
    int n = snprintf(path + len, PATH_MAX_LEN - len, "%s%s", dot, name);

    return n < 0 || (size_t)n >= PATH_MAX_LEN - len ? PATH_MAX_LEN - 1 : len + (size_t)n;
}

/* As walk_path, with the indexes of elements. */
static void indexed_path(const struct walk *walk, const struct field *field,
                         char path[PATH_MAX_LEN])
{
    size_t len = add(path, 0, "", walk->root->name);

    for (uint32_t i = 0; i < walk->depth; i++) {
        const struct walk_step *step = &walk->steps[i];
        const char *name = step->field->kind == XDR_UNION ? step[1].arm : step->field->name;

        if (name)
            len = add(path, len, ".", name);
        if (step[1].list) {
            char index[16];

            snprintf(index, sizeof(index), "[%u]", step[1].index);
            len = add(path, len, index, "");
        }
    }
    if (field->name)
        add(path, len, ".", field->name);
}

static void print_bytes(struct printer *p, const struct visit *visit)
{
    if (visit->field->cls == CLASS_DATA) {
        fprintf(p->out, "%u bytes", visit->full_len);
        return;
    }
    p->text.len = 0;
    if (visit->field->kind == XDR_STRING &&
        escape_name((struct bytes){ visit->data, visit->len }, true, &p->text) == 0 &&
        buf_append(&p->text, "", 1) == 0) {
        fputs((const char *)p->text.data, p->out);
    } else {
        for (uint32_t i = 0; i < visit->len; i++)
            fprintf(p->out, "%02x", visit->data[i]);
    }
    if (visit->cut)
        fputs("...", p->out);
}

static void print_number(struct printer *p, const struct visit *visit)
{
    const struct value_name *name = visit->field->names;

    if (visit->field->kind == XDR_BOOL || visit->field->kind == XDR_OPTIONAL) {
        fputs(visit->value ? "true" : "false", p->out);
        return;
    }
    if (visit->field->kind == XDR_I32)
        fprintf(p->out, "%lld", (long long)visit->value);
    else
        fprintf(p->out, "%llu", (unsigned long long)visit->value);
    for (; name && name->name; name++)
        if (name->value == visit->value) {
            fprintf(p->out, " (%s)", name->name);
            break;
        }
}

static bool is_bytes(const struct field *field)
{
    return field->kind == XDR_FIXED || field->kind == XDR_OPAQUE || field->kind == XDR_STRING;
}

static void put_json(struct json *j, const char *path, const struct visit *visit)
{
    const struct bytes bytes = { visit->data, visit->len };
    uint8_t kind = visit->field->kind;

    if (is_bytes(visit->field) && visit->field->cls == CLASS_DATA) {
        json_object(j, path);
        json_u64(j, "length", visit->full_len);
        json_object_end(j);
    } else if (kind == XDR_STRING) {
        json_name(j, path, bytes);
    } else if (is_bytes(visit->field)) {
        json_hex(j, path, bytes);
    } else if (kind == XDR_BOOL || kind == XDR_OPTIONAL) {
        json_bool(j, path, visit->value);
    } else if (kind == XDR_I32) {
        json_i64(j, path, (int64_t)visit->value);
    } else {
        json_u64(j, path, visit->value);
    }
}

static int print_field(void *ctx, const struct visit *visit)
{
    struct printer *p = ctx;
    char path[PATH_MAX_LEN];
    uint8_t kind = visit->field->kind;

    if (visit->whole || kind == XDR_LIST || kind == XDR_ARRAY)
        return 0; /* the elements that follow say it all */
    indexed_path(visit->walk, visit->field, path);
    if (p->json) {
        put_json(p->json, path, visit);
        return 0;
    }
    fprintf(p->out, "    %s = ", path);
    if (is_bytes(visit->field))
        print_bytes(p, visit);
    else
        print_number(p, visit);
    putc('\n', p->out);
    return 0;
}

static void run(struct printer *p, const struct fields_body *body)
{
    static const char *const results[] = {
        [WALK_TRUNCATED] = "the rest was not captured",
        [WALK_MALFORMED] = "malformed",
        [WALK_STOPPED] = "stopped",
    };
    struct visitor visitor = { print_field, p, 0 };
    struct walk w;
    char path[WALK_PATH_MAX];
    enum walk_result result = kept_walk(&w, body->type, &body->kept, &visitor);

    if (result != WALK_OK && p->json)
        json_text(p->json, "incomplete", results[result]);
    else if (result != WALK_OK)
        fprintf(p->out, "    %s: %s%s%s\n", walk_path(&w, NULL, path), results[result],
                w.problem ? ": " : "", w.problem ? w.problem : "");
    buf_free(&p->text);
}

void fields_text(FILE *out, const struct fields_body *body)
{
    struct printer p = { .out = out };

    run(&p, body);
}

void fields_json(struct json *json, const char *key, const struct fields_body *body)
{
    struct printer p = { .json = json };

    json_object(json, key);
    run(&p, body);
    json_object_end(json);
}
