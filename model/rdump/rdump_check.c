/* SPDX-License-Identifier: GPL-2.0-or-later */
/* model/rdump/rdump_check.c
 *
 * Checks the order of the records, the totals, and all records before the operations: hosts,
 * credentials, objects, entries, and that no directory is below itself.  Operations are in
 * rdump_check_operation.c.  For "nfsdigest rdump --check" and packages.  The contract is in
 * rdump_check.h; the files share rdump_checker.h.
 */
#include "rdump/rdump_check.h"
#include "base/digest.h"
#include "rdump/rdump_checker.h"
#include "rdump/rdump_format.h"
#include "wire/nfs3_numbers.h"

#include <inttypes.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>

struct entry_key {
    uint64_t hash; /* of directory and name */
    uint64_t number;
};

void rdump_finding(struct rdump_checker *c, const char *format, ...)
{
    char where[64];
    va_list args;

    snprintf(where, sizeof(where), "%s %" PRIu64, rdump_format.kinds[c->kind].name, c->number);
    va_start(args, format);
    c->no_memory |= finding_add(&c->out->text, &c->out->findings, where, format, args) < 0;
    va_end(args);
}

struct known_object *rdump_known(struct rdump_checker *c, uint32_t number)
{
    uint64_t most = c->out->totals.objects + c->out->totals.operations + NUMBER_SLACK;
    size_t need = (size_t)number * sizeof(struct known_object), old = c->objects.len;

    if (!number || number > most)
        return NULL;
    if (need > old) {
        if (buf_reserve(&c->objects, need - old) < 0) {
            c->no_memory = true;
            return NULL;
        }
        memset(c->objects.data + old, 0, need - old);
        c->objects.len = need;
    }
    return (struct known_object *)(void *)c->objects.data + number - 1;
}

static void check_trace(struct rdump_checker *c, const struct rdump_trace *t)
{
    c->horizon = t->horizon;
    c->copies = t->copies;
    c->results = t->results != 0;
    if (!t->horizon)
        rdump_finding(c, "its horizon is 0");
    if (t->fine > 1)
        rdump_finding(c, "granularity %u", t->fine);
    if (!t->copies)
        rdump_finding(c, "0 copies");
    if (t->results > 1)
        rdump_finding(c, "results %u", t->results);
}

static void check_host(struct rdump_checker *c, const struct rdump_host *h)
{
    if (h->number != (uint64_t)c->hosts + 1)
        rdump_finding(c, "has number %u, not %" PRIu64, h->number, (uint64_t)c->hosts + 1);
    if (h->number > c->hosts)
        c->hosts = h->number;
    if (!h->address.len)
        rdump_finding(c, "has no address");
}

static void check_credential(struct rdump_checker *c, const struct rdump_credential *k)
{
    if (k->number <= c->credential)
        rdump_finding(c, "has number %u after %u", k->number, c->credential);
    else
        c->no_memory |= buf_append(&c->credentials, &k->number, sizeof(k->number)) < 0;
    c->credential = k->number > c->credential ? k->number : c->credential;
    if (k->gids.len % 4)
        rdump_finding(c, "%u bytes of gids", k->gids.len);
}

bool rdump_has_credential(const struct rdump_checker *c, uint32_t number)
{
    const uint32_t *numbers = (const uint32_t *)(const void *)c->credentials.data;
    size_t from = 0, to = c->credentials.len / sizeof(*numbers);

    while (from < to) {
        size_t middle = from + (to - from) / 2;

        if (numbers[middle] == number)
            return true;
        if (numbers[middle] < number)
            from = middle + 1;
        else
            to = middle;
    }
    return false;
}

static void check_object(struct rdump_checker *c, const struct rdump_object *o)
{
    struct known_object *known = rdump_known(c, o->number);

    if (known && known->flags & KNOWN_HERE)
        rdump_finding(c, "number %u was there before", o->number);
    else if (o->number != (uint64_t)c->last + 1)
        rdump_finding(c, "has number %u, not %" PRIu64, o->number, (uint64_t)c->last + 1);
    if (known) {
        *known = (struct known_object){ o->server, o->copy, 0, o->type,
                                        o->used ? KNOWN_HERE | KNOWN_USED : KNOWN_HERE };
        c->last = o->number > c->last ? o->number : c->last;
    }
    if (!o->server || o->server > c->hosts)
        rdump_finding(c, "is on host %u of %u", o->server, c->hosts);
    if (o->type > NF3FIFO)
        rdump_finding(c, "type %u", o->type);
    if (o->knows & ~RDUMP_KNOWS_ALL)
        rdump_finding(c, "knows 0x%x, but some of these bits have no meaning", o->knows);
    if (o->link.len && o->type != NF3LNK)
        rdump_finding(c, "has the text of a symbolic link and type %u", o->type);
    if (o->copy >= c->copies)
        rdump_finding(c, "is of copy %u of %u", o->copy, c->copies);
    if (o->used > 1)
        rdump_finding(c, "used %u", o->used);
}

/* As good as the name and the directory themselves.  (The directory as seed of the name's hash is
 * not: of names of up to 8 bytes, small seeds make up for small differences.) */
static uint64_t hash_of(const struct rdump_entry *e)
{
    const uint64_t both[] = { XXH3_64bits(e->name.data, e->name.len), e->parent };

    return XXH3_64bits(both, sizeof(both));
}

static void check_entry(struct rdump_checker *c, const struct rdump_entry *e)
{
    struct known_object *object = rdump_known(c, e->object), *parent;
    struct entry_key key = { hash_of(e), c->number };
    uint32_t server = object ? object->server : 0, copy = object ? object->copy : 0;
    bool here = object && object->flags & KNOWN_HERE, is_directory;

    if (!here)
        rdump_finding(c, "refers to object %u, which is not there", e->object);
    is_directory = here && object->type == NF3DIR;
    if (is_directory && object->flags & KNOWN_PLACED)
        rdump_finding(c, "directory %u has an entry already", e->object);
    if (is_directory) {
        object->flags |= KNOWN_PLACED;
        object->parent = e->parent;
    }
    parent = rdump_known(c, e->parent);
    if (!parent || !(parent->flags & KNOWN_HERE))
        rdump_finding(c, "is in object %u, which is not there", e->parent);
    else if (parent->type != NF3DIR)
        rdump_finding(c, "is in object %u, which is not a directory but of type %u", e->parent,
                      parent->type);
    else if (here && (parent->server != server || parent->copy != copy))
        rdump_finding(c, "is in object %u, and object %u is of another server or copy", e->parent,
                      e->object);
    if (!bytes_are_name(e->name) || bytes_are_dots(e->name))
        rdump_finding(c, "this name is not possible");
    c->no_memory |= buf_append(&c->entries, &key, sizeof(key)) < 0;
}

static int by_hash(const void *x, const void *y)
{
    const struct entry_key *a = x, *b = y;

    if (a->hash != b->hash)
        return a->hash < b->hash ? -1 : 1;
    return a->number < b->number ? -1 : a->number > b->number;
}

static void check_names(struct rdump_checker *c)
{
    struct entry_key *keys = (struct entry_key *)(void *)c->entries.data;
    size_t count = c->entries.len / sizeof(*keys);

    if (count)
        qsort(keys, count, sizeof(*keys), by_hash);
    for (size_t i = 1; i < count; i++)
        if (keys[i].hash == keys[i - 1].hash) {
            c->number = keys[i].number;
            rdump_finding(c, "has the directory and the name of entry %" PRIu64,
                          keys[i - 1].number);
        }
    buf_free(&c->entries);
}

/* No directory may be below itself.  Each step up is made once. */
static void check_loops(struct rdump_checker *c)
{
    struct known_object *objects = (struct known_object *)(void *)c->objects.data;
    size_t count = c->objects.len / sizeof(*objects);

    for (size_t i = 0; i < count; i++) {
        size_t at = i + 1;

        while (at && at <= count && !(objects[at - 1].flags & (KNOWN_ON_WAY | KNOWN_DONE))) {
            objects[at - 1].flags |= KNOWN_ON_WAY;
            at = objects[at - 1].parent;
        }
        if (at && at <= count && objects[at - 1].flags & KNOWN_ON_WAY) {
            c->kind = RDUMP_OBJECT;
            c->number = at;
            rdump_finding(c, "is a directory below itself");
        }
        for (at = i + 1; at && at <= count && objects[at - 1].flags & KNOWN_ON_WAY;
             at = objects[at - 1].parent) {
            objects[at - 1].flags &= (uint8_t)~KNOWN_ON_WAY;
            objects[at - 1].flags |= KNOWN_DONE;
        }
    }
}

/* What can be said when all objects and entries were there. */
static void check_tree(struct rdump_checker *c)
{
    c->tree_is_whole = true;
    c->kind = RDUMP_ENTRY;
    check_names(c);
    check_loops(c);
}

static void total(struct rdump_checker *c, const char *what, uint64_t said, uint64_t seen)
{
    if (said != seen)
        rdump_finding(c, "says %" PRIu64 " %s, there were %" PRIu64, said, what, seen);
}

/* Whoever plays the dump keeps no handle to its end. */
static void check_forgotten(struct rdump_checker *c)
{
    const struct known_object *objects = (const struct known_object *)(void *)c->objects.data;
    size_t count = c->objects.len / sizeof(*objects);

    for (size_t i = 0; i < count; i++)
        if (objects[i].flags & KNOWN_USED && !(objects[i].flags & KNOWN_FORGOTTEN)) {
            c->kind = RDUMP_OBJECT;
            c->number = i + 1;
            rdump_finding(c, "is used, and no operation forgets it");
        }
}

static void check_end(struct rdump_checker *c, const struct rdump_end *e)
{
    const struct rdump_end *seen = &c->out->totals;

    total(c, "hosts", e->hosts, seen->hosts);
    total(c, "credentials", e->credentials, seen->credentials);
    total(c, "objects", e->objects, seen->objects);
    total(c, "entries", e->entries, seen->entries);
    total(c, "operations", e->operations, seen->operations);
    total(c, "inferred operations", e->inferred, seen->inferred);
    total(c, "unplayable operations", e->unplayable, seen->unplayable);
    total(c, "dependencies", e->dependencies, seen->dependencies);
    if (e->last_time != seen->last_time)
        rdump_finding(c, "says that all end at %" PRId64 " ns, they do at %" PRId64, e->last_time,
                      seen->last_time);
    if (!c->out->findings) /* else it may be a consequence */
        check_forgotten(c);
}

/* Kinds come in their order, the first of them once. */
static void check_order(struct rdump_checker *c, enum rdump_kind kind)
{
    for (int later = kind + 1; later < RDUMP_KIND_MAX; later++)
        if (c->out->records[later]) {
            rdump_finding(c, "comes after the first %s", rdump_format.kinds[later].name);
            break;
        }
    if (kind == RDUMP_TRACE ? c->number > 1 : !c->out->records[RDUMP_TRACE] && c->number <= 1)
        rdump_finding(c, kind == RDUMP_TRACE ? "there is one already" : "comes before the trace");
}

int rdump_checker_put(struct rdump_checker *c, enum rdump_kind kind, const void *record,
                      struct err *err)
{
    uint64_t number = ++c->out->records[kind] - (kind == RDUMP_OPERATION);

    if (kind >= RDUMP_OPERATION && !c->tree_is_whole)
        check_tree(c);
    c->kind = kind;
    c->number = number;
    check_order(c, kind);
    if (kind != RDUMP_OPERATION) /* those are judged by what was before them */
        rdump_count(&c->out->totals, kind, record);
    switch (kind) {
    case RDUMP_TRACE:
        check_trace(c, record);
        break;
    case RDUMP_HOST:
        check_host(c, record);
        break;
    case RDUMP_CREDENTIAL:
        check_credential(c, record);
        break;
    case RDUMP_OBJECT:
        check_object(c, record);
        break;
    case RDUMP_ENTRY:
        check_entry(c, record);
        break;
    case RDUMP_OPERATION:
        rdump_check_operation(c, record);
        rdump_count(&c->out->totals, kind, record);
        break;
    case RDUMP_END:
        check_end(c, record);
        break;
    case RDUMP_KIND_MAX:
        break;
    }
    return c->no_memory ? err_set(err, ERR_SYSTEM, "out of memory to check %s %" PRIu64,
                                  rdump_format.kinds[kind].name, number)
                        : 0;
}

int rdump_checker_tree(struct rdump_checker *c, struct err *err)
{
    if (!c->tree_is_whole)
        check_tree(c);
    return c->no_memory ? err_memory(err, "the tree of a dump") : 0;
}

struct rdump_checker *rdump_checker_new(struct rdump_summary *out, struct err *err)
{
    struct rdump_checker *c = calloc(1, sizeof(*c));

    memset(out, 0, sizeof(*out));
    if (!c) {
        err_memory(err, "a checker");
        return NULL;
    }
    c->out = out;
    c->begun = INT64_MIN;
    return c;
}

void rdump_checker_free(struct rdump_checker *c)
{
    if (!c)
        return;
    buf_free(&c->credentials);
    buf_free(&c->cookies);
    buf_free(&c->objects);
    buf_free(&c->entries);
    free(c);
}

int rdump_check(int fd, const char *name, struct rdump_summary *out, struct err *err)
{
    struct rdump_checker *c;
    struct rdump_reader *reader;
    enum rdump_kind kind;
    struct err unseen;
    const void *record;
    int result;

    if (!err)
        err = &unseen;
    c = rdump_checker_new(out, err);
    reader = c ? rdump_reader_new(fd, name, err) : NULL;
    result = reader ? 1 : -err->code;
    while (result > 0) {
        result = rdump_next(reader, &kind, &record, err);
        if (result > 0 && rdump_checker_put(c, kind, record, err) < 0)
            result = err_prefix(err, "%s", name);
    }
    rdump_reader_free(reader);
    rdump_checker_free(c);
    return result;
}

void rdump_summary_free(struct rdump_summary *summary)
{
    buf_free(&summary->text);
}
