/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "columns/gathered.h"
#include "base/digest.h"
#include "base/grow.h"

#include <stdlib.h>

bool gathered_takes(const struct record *record)
{
    return record->kind == RECORD_OBJECT || record->kind == RECORD_COUNTER;
}

/* Keeps |bytes|.  While records come, an offset stands in the place of the address. */
static int keep(struct gathered *g, struct bytes *bytes)
{
    size_t at = g->bytes.len;

    if (buf_append(&g->bytes, bytes->data, bytes->len) < 0)
        return -ERR_SYSTEM;
    bytes->data = (const uint8_t *)(uintptr_t)at;
    return 0;
}

static struct bytes kept(const struct gathered *g, struct bytes bytes)
{
    if (!bytes.len)
        return (struct bytes){ (const uint8_t *)"", 0 };
    return (struct bytes){ g->bytes.data + (uintptr_t)bytes.data, bytes.len };
}

static int put_object(struct gathered *g, const struct record_object *object, struct err *err)
{
    struct record_object *there;

    if (object->id <= g->object_count) {
        there = &g->objects[object->id - 1];
        if (object->type)
            there->type = object->type;
        if (object->fileid) {
            there->fsid = object->fsid;
            there->fileid = object->fileid;
        }
        return 0;
    }
    if (GROW(g->objects, g->object_count, g->object_cap) < 0)
        return err_memory(err, "objects");
    there = &g->objects[g->object_count];
    *there = *object;
    if (keep(g, &there->handle) < 0)
        return err_memory(err, "objects");
    g->object_count++;
    return 0;
}

static bool is_name(const struct gathered *g, const struct gathered_counter *there,
                    struct bytes name)
{
    struct bytes own = kept(g, there->counter.name);

    return own.len == name.len && memcmp(own.data, name.data, name.len) == 0;
}

static int put_counter(struct gathered *g, const struct record_counter *counter, int64_t source,
                       struct err *err)
{
    uint64_t hash = XXH3_64bits(counter->name.data, counter->name.len) + (uint64_t)source;
    struct gathered_counter *there;
    uint32_t at;

    for (uint32_t i = table_first(&g->by_name, hash, &at); i != TABLE_NONE;
         i = table_next(&g->by_name, hash, &at)) {
        there = &g->counters[i];
        if (there->source == source && is_name(g, there, counter->name)) {
            there->counter.value += counter->value;
            return 0;
        }
    }
    if (GROW(g->counters, g->counter_count, g->counter_cap) < 0)
        return err_memory(err, "counters");
    there = &g->counters[g->counter_count];
    *there = (struct gathered_counter){ *counter, source };
    if (keep(g, &there->counter.name) < 0 || table_add(&g->by_name, hash, g->counter_count) < 0)
        return err_memory(err, "counters");
    g->counter_count++;
    return 0;
}

int gathered_put(struct gathered *g, const struct record *record, int64_t source, struct err *err)
{
    return record->kind == RECORD_OBJECT ? put_object(g, &record->object, err)
                                         : put_counter(g, &record->counter, source, err);
}

bool gathered_next(struct gathered *g, struct record *record, int64_t *source)
{
    uint32_t i = g->next;

    if (i < g->object_count) {
        *record = (struct record){ .kind = RECORD_OBJECT, .object = g->objects[i] };
        record->object.handle = kept(g, record->object.handle);
    } else if (i - g->object_count < g->counter_count) {
        const struct gathered_counter *counter = &g->counters[i - g->object_count];

        *record = (struct record){ .kind = RECORD_COUNTER, .counter = counter->counter };
        record->counter.name = kept(g, record->counter.name);
        *source = counter->source;
    } else {
        return false;
    }
    g->next++;
    return true;
}

void gathered_free(struct gathered *g)
{
    free(g->objects);
    free(g->counters);
    table_free(&g->by_name);
    buf_free(&g->bytes);
}
