/* SPDX-License-Identifier: GPL-2.0-or-later */
/* live/tee/shadow_page.c
 *
 * The files of a shadow's page, and when they are written.  For cmd_shadow.c; the contract is in
 * shadow_page.h.
 */
#include "tee/shadow_page.h"
#include "base/embed.h"
#include "tee/shadow_page_parts.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/random.h>
#include <time.h>

EMBED(script, EMBED_ROOT "/live/tee/shadow_page.js");

enum { TICKS = 4 }; /* points of the history for each time that the files are written */

struct shadow_page {
    struct shadow_page_setup setup;
    char *script_path, *json_path;
    char *script_name; /* from the page, as an address */
    uint64_t nonce[2]; /* of the page's script: no other one runs */
    struct shadow_history history;
    struct timer timer;
    int64_t began, began_wall;
    uint64_t ticks;
    bool was_told; /* of an error */
};

static const char style[] = "td.t{overflow-wrap:anywhere;min-width:6em}\n"
                            "td.t:last-child{min-width:12em}\n";

static int64_t wall_clock(void)
{
    struct timespec now;

    clock_gettime(CLOCK_REALTIME, &now);
    return (int64_t)now.tv_sec * 1000000000 + now.tv_nsec;
}

/* --- files */

static int write_file(const char *path, const struct buf *text, struct err *err)
{
    struct output *output = output_open(path, err);
    int result;

    if (!output)
        return -err->code;
    result = output_write(output, text->data, text->len, err);
    if (result == 0)
        result = output_commit(output, err);
    output_close(output);
    return result;
}

static int write_json(struct shadow_page *p, const struct page_view *view, struct err *err)
{
    struct buf text = { 0 };
    struct json j = { .to = &text };
    uint32_t count;
    uint64_t further;
    const struct teelog_group *g = shadow_differences(p->setup.shadow, &count, &further);
    int result;

    json_object(&j, NULL);
    json_i64(&j, "time", view->now);
    json_i64(&j, "began", view->began);
    json_bool(&j, "ended", view->ended);
    json_text(&j, "reference_address", p->setup.reference);
    json_text(&j, "sut_address", p->setup.sut);
    json_bool(&j, "synchronized", shadow_is_synchronized(p->setup.shadow));
    shadow_json(p->setup.shadow, &j);
    json_array(&j, "differences");
    for (uint32_t i = 0; i < count; i++)
        teelog_group_json(&g[i], &j);
    json_array_end(&j);
    shadow_history_json(&p->history, &j);
    json_object_end(&j);
    json_end(&j);
    result = j.failed ? err_memory(err, "a page") : write_file(p->json_path, &text, err);
    buf_free(&text);
    return result;
}

static int append(void *ctx, const void *data, size_t len, struct err *err)
{
    return buf_append(ctx, data, len) < 0 ? err_memory(err, "a page") : 0;
}

/* The contents as the page has them. */
static int draw(const struct page_view *view, struct buf *to, struct err *err)
{
    struct page page = { .write = append, .ctx = to, .err = err };

    shadow_page_draw(&page, view);
    return page_flush(&page);
}

static int write_script(struct shadow_page *p, const struct page_view *view,
                        const struct buf *contents, struct err *err)
{
    struct buf text = { 0 };
    struct json j = { .to = &text };
    int result = buf_append(&text, "nfstee(", 7);

    json_object(&j, NULL);
    json_i64(&j, "time", view->now / 1000000);
    json_bool(&j, "ended", view->ended);
    json_text(&j, "html", (const char *)contents->data);
    json_object_end(&j);
    if (result < 0 || j.failed || buf_append(&text, ")\n", 2) < 0)
        result = err_memory(err, "a page");
    else
        result = write_file(p->script_path, &text, err);
    buf_free(&text);
    return result;
}

static void put_address(struct page *page, const char *address)
{
    page_put(page, "<code>");
    page_text(page, address);
    page_put(page, "</code>");
}

static int write_page(struct shadow_page *p, const struct page_view *view,
                      const struct buf *contents, struct err *err)
{
    struct output *output = output_open(p->setup.path, err);
    char policy[80];
    const struct page_head head = { "nfstee shadow", style, policy };
    struct page page = { 0 };
    int result;

    if (!output)
        return -err->code;
    snprintf(policy, sizeof(policy), "'nonce-%016" PRIx64 "%016" PRIx64 "' 'strict-dynamic'",
             p->nonce[0], p->nonce[1]);
    page_begin(&page, &head, output_write, output, err);
    page_put(&page, "<h1>Requests to ");
    put_address(&page, p->setup.reference);
    page_put(&page, ", compared with ");
    put_address(&page, p->setup.sut);
    page_put(&page,
             "</h1>\n<p id=\"state\" class=\"note\">The page shows %s.</p>\n"
             "<main data-time=\"%" PRId64 "\" data-ended=\"%d\">\n",
             view->ended ? "the shadow at its end" : "the shadow when it was written",
             view->now / 1000000, view->ended);
    page_raw(&page, contents->data, contents->len - 1);
    page_put(&page, "</main>\n<script nonce=\"%016" PRIx64 "%016" PRIx64 "\" data-from=\"%s\">\n",
             p->nonce[0], p->nonce[1], p->script_name);
    page_raw(&page, script, (size_t)(script_end - script));
    page_put(&page, "</script>\n");
    result = page_end(&page);
    if (result == 0)
        result = output_commit(output, err);
    output_close(output);
    return result;
}

static int write_all(struct shadow_page *p, bool ended, struct err *err)
{
    const struct page_view view = { &p->setup, &p->history, p->began_wall, wall_clock(), ended };
    struct buf contents = { 0 };
    int result = draw(&view, &contents, err);

    if (result == 0 && buf_append(&contents, "", 1) < 0)
        result = err_memory(err, "a page");
    if (result == 0)
        result = write_json(p, &view, err);
    if (result == 0)
        result = write_script(p, &view, &contents, err);
    if (result == 0)
        result = write_page(p, &view, &contents, err);
    buf_free(&contents);
    return result;
}

/* --- time */

static int on_tick(void *ctx, struct err *err)
{
    struct shadow_page *p = ctx;
    int64_t now = loop_now(p->setup.loop);
    struct err mine = { 0 };

    shadow_history_take(&p->history, p->setup.shadow, now - p->began);
    if (++p->ticks % TICKS == 0 && write_all(p, false, &mine) < 0 && !p->was_told) {
        p->was_told = true;
        p->setup.tell(p->setup.ctx, mine.text);
    }
    return loop_set(p->setup.loop, &p->timer, now + SHADOW_PAGE_PERIOD / TICKS, err);
}

/* --- names */

/* The page's name with another end. */
static char *beside(const char *path, const char *end)
{
    size_t len = strlen(path), size = len + strlen(end) + 1;
    char *name = malloc(size);

    if (len > 5 && strcmp(path + len - 5, ".html") == 0)
        len -= 5;
    if (name)
        snprintf(name, size, "%.*s%s", (int)len, path, end);
    return name;
}

/* The last part of a path as an address (RFC 3986 s2.1). */
static char *address_of(const char *path)
{
    const char *slash = strrchr(path, '/'), *name = slash ? slash + 1 : path;
    char *text = malloc(3 * strlen(name) + 1), *to = text;

    for (; text && *name; name++) {
        unsigned char c = (unsigned char)*name;

        if ((c >= '0' && c <= '9') || ((c | 0x20) >= 'a' && (c | 0x20) <= 'z') || strchr("-._~", c))
            *to++ = (char)c;
        else
            to += snprintf(to, 4, "%%%02X", c);
    }
    if (text)
        *to = '\0';
    return text;
}

struct shadow_page *shadow_page_new(const struct shadow_page_setup *setup, struct err *err)
{
    struct shadow_page *p = calloc(1, sizeof(*p));

    if (p) {
        p->setup = *setup;
        p->script_path = beside(setup->path, ".js");
        p->json_path = beside(setup->path, ".json");
        p->script_name = p->script_path ? address_of(p->script_path) : NULL;
    }
    if (!p || !p->script_path || !p->json_path || !p->script_name) {
        err_memory(err, "a page");
        shadow_page_free(p);
        return NULL;
    }
    p->timer = (struct timer){ .due = on_tick, .ctx = p };
    p->began = loop_clock();
    p->began_wall = wall_clock();
    if (getrandom(p->nonce, sizeof(p->nonce), 0) != sizeof(p->nonce))
        err_set(err, ERR_SYSTEM, "the system has no random numbers");
    else {
        shadow_history_take(&p->history, setup->shadow, 0);
        if (write_all(p, false, err) == 0 &&
            loop_set(setup->loop, &p->timer, p->began + SHADOW_PAGE_PERIOD / TICKS, err) == 0)
            return p;
    }
    shadow_page_free(p);
    return NULL;
}

int shadow_page_end(struct shadow_page *p, struct err *err)
{
    loop_unset(p->setup.loop, &p->timer);
    shadow_history_take(&p->history, p->setup.shadow, loop_clock() - p->began);
    return write_all(p, true, err);
}

void shadow_page_free(struct shadow_page *p)
{
    if (!p)
        return;
    if (p->timer.due)
        loop_unset(p->setup.loop, &p->timer);
    free(p->script_path);
    free(p->json_path);
    free(p->script_name);
    free(p);
}
