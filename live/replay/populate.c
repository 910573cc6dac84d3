/* SPDX-License-Identifier: GPL-2.0-or-later */
/* live/replay/populate.c
 *
 * The phases, and what is under way.  Directories that were entered stand on a stack, so the tree
 * is gone through depth first, and few of them are open at a time.  The contract is in populate.h.
 */
#include "base/escape.h"
#include "replay/populate_parts.h"

#include <stdio.h>
#include <stdlib.h>

enum { CONNECTIONS = 4, OUTSTANDING = 256, UDP_MOST = 32768 };

static const int64_t progress_each = 250000000;

/* --- what is known */

int populate_keep(struct item *item, struct bytes handle, struct err *err)
{
    struct place *place = &item->populate->places[item->object];

    free(place->known);
    place->known = malloc(sizeof(*place->known) + handle.len);
    if (!place->known)
        return err_memory(err, "handles");
    place->known->fileid = 0;
    place->known->len = (uint8_t)handle.len;
    memcpy(place->known->handle, handle.data, handle.len);
    return 0;
}

void populate_enter(struct populate *p, uint32_t directory)
{
    p->cursor[directory] = p->plan->first[directory];
    if (p->plan->first[directory] < p->plan->first[directory + 1])
        p->stack[p->stack_count++] = directory;
}

/* --- words */

static const char *item_path(const struct item *item, char text[PLAN_PATH])
{
    const struct populate *p = item->populate;
    const struct rdump_entry *entry;
    char parent[PLAN_PATH], name[PLAN_PATH];

    if (item->link)
        snprintf(text, PLAN_PATH, RDUMP_SCRATCH "/%s", item->name);
    else if (!item->further)
        return plan_path(p->plan, item->object, text);
    else {
        entry = &p->plan->script->entries[item->entry];
        snprintf(text, PLAN_PATH, "%s/%s", plan_path(p->plan, entry->parent, parent),
                 escape_to(name, sizeof(name), entry->name, false));
    }
    return text;
}

int populate_tell(struct item *item, const char *text, struct err *err)
{
    const struct populate_setup *s = item->populate->setup;
    char path[PLAN_PATH];

    item->populate->counts->differences++;
    return s->differs ? s->differs(s->ctx, item_path(item, path), text, err) : 0;
}

int populate_refuse(struct item *item, const char *what, struct err *err)
{
    char path[PLAN_PATH];

    return err_set(err, ERR_INPUT, "%.300s: %s", item_path(item, path), what);
}

int populate_fail(struct item *item, const char *what, uint32_t status, struct err *err)
{
    char text[32], words[128];

    snprintf(words, sizeof(words), "%s: %s", what, pipeline_status(status, text));
    return populate_refuse(item, words, err);
}

/* --- items */

void populate_done(struct item *item)
{
    struct populate *p = item->populate;
    struct place *place = &p->places[item->object];
    uint32_t type = plan_object(p->plan, item->object)->type;

    if (type != NF3DIR && !(place->flags & PLACE_SEVERAL)) {
        free(place->known);
        place->known = NULL;
    }
    item->next = p->free;
    p->free = item;
    p->under_way--;
}

static struct item *take_item(struct populate *p, uint32_t object, uint32_t entry)
{
    struct item *item = p->free;

    p->free = item->next;
    *item = (struct item){
        .call = { .done = populate_take }, .populate = p, .object = object, .entry = entry
    };
    if (entry == PLAN_ROOT)
        rdump_root_name(object, item->name);
    p->under_way++;
    return item;
}

struct item *populate_part(struct item *item)
{
    struct populate *p = item->populate;
    struct item *part = NULL;

    if (p->free && !p->waiting) {
        part = take_item(p, item->object, item->entry);
        part->part_of = item;
    }
    return part;
}

void populate_part_done(struct item *part)
{
    struct populate *p = part->populate;

    part->next = p->free;
    p->free = part;
    p->under_way--;
}

static int on_again(void *ctx, struct err *err)
{
    struct populate *p = ctx;
    struct item *list = p->again;
    int result = 0;

    p->again = NULL;
    while (list && result == 0) {
        struct item *item = list;

        list = item->next;
        result = populate_send(item, err);
    }
    return result;
}

int populate_again(struct item *item, struct err *err)
{
    struct populate *p = item->populate;

    item->next = p->again;
    p->again = item;
    return p->again_timer.place
               ? 0
               : loop_set(p->setup->loop, &p->again_timer, loop_clock() + PIPELINE_AGAIN, err);
}

/* --- phases: each begins its next item, if there is one */

/* A child of the directory on top of the stack. */
static struct item *next_child(struct populate *p)
{
    while (p->stack_count) {
        uint32_t directory = p->stack[p->stack_count - 1], entry;
        struct item *item;

        if (p->cursor[directory] == p->plan->first[directory + 1]) {
            p->stack_count--;
            continue;
        }
        entry = p->plan->children[p->cursor[directory]++];
        item = take_item(p, p->plan->script->entries[entry].object, entry);
        item->step = p->setup->mode == POPULATE_MAKE && p->places[directory].flags & PLACE_MADE
                         ? STEP_MAKE
                         : STEP_LOOKUP;
        return item;
    }
    return NULL;
}

static struct item *next_object(struct populate *p)
{
    struct item *item = next_child(p);

    while (!item && p->next < p->plan->script->object_count) {
        uint32_t number = ++p->next;

        if (p->plan->entry_of[number] != PLAN_ROOT)
            continue;
        item = take_item(p, number, PLAN_ROOT);
        item->step = STEP_LOOKUP;
    }
    return item;
}

static struct item *next_link(struct populate *p)
{
    const struct script *script = p->plan->script;
    struct item *item;

    while (p->next < p->plan->further_count) {
        uint32_t entry = p->plan->further[p->next++];
        const struct rdump_entry *e = &script->entries[entry];

        if (!populate_handle(p, e->object).len || !populate_handle(p, e->parent).len)
            continue; /* missing itself */
        item = take_item(p, e->object, entry);
        item->further = true;
        item->step = STEP_LOOKUP;
        p->counts->links++;
        return item;
    }
    while (p->extra < p->plan->extra_count && p->setup->scratch.len) {
        const struct plan_extra *extra = &p->plan->extras[p->extra];

        if (p->extra_link == extra->count || !populate_handle(p, extra->object).len) {
            p->extra++;
            p->extra_link = 0;
            continue;
        }
        item = take_item(p, extra->object, 0);
        item->further = true;
        item->link = ++p->extra_link;
        item->step = STEP_LOOKUP;
        rdump_link_name(item->object, item->link, item->name);
        p->counts->links++;
        return item;
    }
    return NULL;
}

static struct item *next_directory(struct populate *p)
{
    while (p->next < p->plan->script->object_count) {
        uint32_t number = ++p->next;
        const struct place *place = &p->places[number];
        struct item *item;

        if (plan_object(p->plan, number)->type != NF3DIR || !place->known)
            continue;
        if (p->setup->mode == POPULATE_MAKE && !(place->flags & PLACE_CHANGED))
            continue;
        item = take_item(p, number, p->plan->entry_of[number]);
        if (p->setup->mode == POPULATE_MAKE) {
            item->step = STEP_SET;
            item->set = ATTRIBUTE_MODE | ATTRIBUTES_OWNER | ATTRIBUTES_TIMES;
        } else {
            item->step = STEP_LIST;
        }
        return item;
    }
    return NULL;
}

static struct item *next_item(struct populate *p)
{
    return p->phase == PHASE_OBJECTS         ? next_object(p)
           : p->phase == PHASE_LINKS         ? next_link(p)
           : p->setup->mode == POPULATE_FIND ? NULL
                                             : next_directory(p);
}

int populate_go_on(struct populate *p, struct err *err)
{
    int result = 0;

    while (result == 0 && p->phase < PHASE_END && p->free && !p->waiting) {
        struct item *item = next_item(p);

        if (item)
            result = populate_send(item, err);
        else if (p->under_way)
            return 0;
        else {
            p->phase++;
            p->next = 0;
        }
    }
    if (result == 0 && p->phase == PHASE_END) {
        p->ended = true;
        loop_stop(p->setup->loop);
    }
    return result;
}

/* Connections have room: those that wait come first. */
static int on_room(void *ctx, struct err *err)
{
    struct populate *p = ctx;
    struct item *list = p->waiting;
    int result = 0;

    p->waiting = NULL;
    p->waiting_end = &p->waiting;
    while (list && result == 0) {
        struct item *item = list;

        list = item->next;
        result = populate_send(item, err);
    }
    return result == 0 ? populate_go_on(p, err) : result;
}

static int on_progress(void *ctx, struct err *err)
{
    struct populate *p = ctx;
    int result = p->setup->progress(p->setup->ctx, p->counts, err);

    return result == 0 ? loop_set(p->setup->loop, &p->progress_timer,
                                  loop_now(p->setup->loop) + progress_each, err)
                       : result;
}

/* --- all of it */

static int begin(struct populate *p, struct err *err)
{
    const struct populate_setup *s = p->setup;
    uint32_t outstanding = s->outstanding ? s->outstanding : OUTSTANDING;
    size_t objects = (size_t)p->plan->script->object_count + 1;
    struct pipeline_setup pipeline = { .loop = s->loop,
                                       .target = s->target,
                                       .connections = s->connections ? s->connections : CONNECTIONS,
                                       .room = on_room,
                                       .ctx = p };

    p->places = calloc(objects, sizeof(*p->places));
    p->stack = calloc(objects, sizeof(*p->stack));
    p->cursor = calloc(objects, sizeof(*p->cursor));
    p->items = calloc(outstanding, sizeof(*p->items));
    p->room = malloc(CONTENTS_RUN);
    if (!p->places || !p->stack || !p->cursor || !p->items || !p->room)
        return err_memory(err, "the tree");
    for (uint32_t i = 0; i < outstanding; i++) {
        p->items[i].next = p->free;
        p->free = &p->items[i];
    }
    for (uint32_t i = 0; i < p->plan->further_count; i++)
        p->places[p->plan->script->entries[p->plan->further[i]].object].flags |= PLACE_SEVERAL;
    for (uint32_t i = 0; i < p->plan->extra_count; i++)
        p->places[p->plan->extras[i].object].flags |= PLACE_SEVERAL;
    p->counts->objects = p->plan->object_count;
    p->write_most = s->target->wtmax < CONTENTS_RUN ? s->target->wtmax : CONTENTS_RUN;
    p->read_most = s->target->rtmax < CONTENTS_RUN ? s->target->rtmax : CONTENTS_RUN;
    if (s->target->udp && p->write_most > UDP_MOST)
        p->write_most = UDP_MOST;
    if (s->target->udp && p->read_most > UDP_MOST)
        p->read_most = UDP_MOST;
    p->pipeline = pipeline_new(&pipeline, err);
    if (!p->pipeline)
        return -err->code;
    return s->progress ? loop_set(s->loop, &p->progress_timer, loop_clock() + progress_each, err)
                       : 0;
}

static void end(struct populate *p)
{
    p->ended = true;
    pipeline_free(p->pipeline);
    loop_unset(p->setup->loop, &p->again_timer);
    loop_unset(p->setup->loop, &p->progress_timer);
    for (uint32_t i = 0; p->places && i <= p->plan->script->object_count; i++)
        free(p->places[i].known);
    free(p->places);
    free(p->stack);
    free(p->cursor);
    free(p->items);
    free(p->room);
}

int populate(const struct populate_setup *setup, struct populate_counts *counts, struct err *err)
{
    struct populate p = { .setup = setup, .plan = setup->plan, .counts = counts };
    int result;

    *counts = (struct populate_counts){ 0 };
    p.waiting_end = &p.waiting;
    p.again_timer = (struct timer){ .due = on_again, .ctx = &p };
    p.progress_timer = (struct timer){ .due = on_progress, .ctx = &p };
    result = begin(&p, err);
    if (result == 0)
        result = populate_go_on(&p, err);
    if (result == 0 && !p.ended)
        result = loop_run(setup->loop, err);
    counts->interrupted = result == 0 && !p.ended;
    end(&p);
    return result;
}
