/* SPDX-License-Identifier: GPL-2.0-or-later */
/* model/rdump/rdump_check_operation.c
 *
 * Checks each operation by itself, against the objects that exist when it comes, and against the
 * operations before it.
 */
#include "base/bytes.h"
#include "rdump/rdump_checker.h"
#include "wire/walk.h"

#include <inttypes.h>

enum { HANDLE_LEN = 4 };

/* A walk over arguments. */
struct look {
    struct rdump_checker *c;
    const struct rdump_operation *operation;
    uint64_t data;   /* bytes of file contents, padded, that are not there */
    uint64_t cookie; /* of a listing */
    enum action action;
    bool makes_name; /* of something new */
};

static void check_handle(const struct look *look, const struct visit *visit)
{
    struct rdump_checker *c = look->c;
    const struct rdump_operation *o = look->operation;
    const struct known_object *known;
    uint32_t number;

    if (visit->len != HANDLE_LEN) {
        rdump_finding(c, "its %s is a handle of %u bytes", visit->field->name, visit->len);
        return;
    }
    number = load_be32(visit->data);
    if (!number)
        return;
    known = rdump_known(c, number);
    if (!known || !(known->flags & KNOWN_HERE))
        rdump_finding(c, "its %s is object %u, which is not there yet", visit->field->name, number);
    else if (known->copy != o->copy || (o->server && known->server != o->server))
        rdump_finding(c, "its %s is object %u, which is of another server or copy",
                      visit->field->name, number);
    else if (!o->unplayable && !(known->flags & KNOWN_USED))
        rdump_finding(c, "its %s is object %u, which no operation uses", visit->field->name,
                      number);
    else if (!o->unplayable && known->flags & KNOWN_FORGOTTEN)
        rdump_finding(c, "its %s is object %u, which was forgotten", visit->field->name, number);
}

static int look_at(void *ctx, const struct visit *visit)
{
    struct look *look = ctx;

    if (visit->whole)
        return 0;
    if (visit->field->cls == CLASS_HANDLE && visit->field->kind == XDR_OPAQUE)
        check_handle(look, visit);
    else if (visit->field->cls == CLASS_DATA)
        look->data += ((uint64_t)visit->full_len + 3) & ~UINT64_C(3);
    else if (visit->field->cls == CLASS_COOKIE)
        look->cookie = visit->value;
    if (visit->field->role & ROLE_NAME)
        look->makes_name = action_makes_name(look->action);
    return 0;
}

static void check_arguments(struct look *look, const struct procedure *procedure)
{
    const struct visitor visitor = { .visit = look_at, .ctx = look };
    const struct bytes *arguments = &look->operation->arguments;
    const struct type *type = procedure->arguments;
    uint64_t wire = arguments->len;
    char path[WALK_PATH_MAX];
    struct walk w;
    enum walk_result result;

    if (type->has_data) {
        /* how long they were with their contents is what they say themselves */
        walk(&w, type, arguments->data, arguments->len, UINT32_MAX, true, &visitor);
        wire += look->data;
        result = wire > UINT32_MAX
                     ? WALK_MALFORMED
                     : walk(&w, type, arguments->data, arguments->len, (uint32_t)wire, true, NULL);
    } else {
        result = walk(&w, type, arguments->data, arguments->len, arguments->len, true, &visitor);
    }
    if (result != WALK_OK)
        rdump_finding(look->c, "its arguments are not those of %s: at byte %u, %s: %s",
                      procedure->name, w.offset, walk_path(&w, NULL, path),
                      w.problem ? w.problem : "they end before");
}

static void check_made(struct look *look)
{
    const struct rdump_operation *o = look->operation;
    struct rdump_checker *c = look->c;
    struct known_object *known = rdump_known(c, o->made);

    if (!known) {
        if (!c->no_memory)
            rdump_finding(c, "makes object %u, an impossible number", o->made);
        return;
    }
    if (known->flags & KNOWN_HERE)
        rdump_finding(c, "makes object %u, which is there already", o->made);
    *known = (struct known_object){ .server = o->server,
                                    .copy = o->copy,
                                    .flags = KNOWN_HERE | KNOWN_USED };
    if (!o->unplayable && o->status)
        rdump_finding(c, "makes object %u, and fails with status %u", o->made, o->status);
    if (o->arguments.len && !look->makes_name)
        rdump_finding(c, "makes object %u, as its procedure cannot", o->made);
}

static void check_dependencies(struct rdump_checker *c, const struct rdump_operation *o)
{
    uint32_t last = 0;

    /* of copies, listings may have become unplayable by how far away they go on from */
    if (o->unplayable && o->dependency_count &&
        !(o->unplayable == RDUMP_UNPLAYABLE_COOKIE && c->copies > 1))
        rdump_finding(c, "is unplayable, and depends on others");
    for (uint32_t i = 0; i < o->dependency_count; i++) {
        uint32_t distance = o->dependencies[i];

        if (distance <= last) {
            rdump_finding(c, distance ? "dependency %u follows %u" : "depends on itself", distance,
                          last);
            return;
        }
        last = distance;
    }
    if (last > c->number)
        rdump_finding(c, "depends on what is %u before it, before the first operation", last);
    else if (last >= c->horizon && c->horizon)
        rdump_finding(c, "depends on what is %u before it, the horizon is %u", last, c->horizon);
}

/* Operations are in an order in which they can have happened: none ended before an earlier one in
 * the file began. */
static void check_time(struct rdump_checker *c, const struct rdump_operation *o)
{
    int64_t end;

    if (o->latency < -1)
        rdump_finding(c, "latency %" PRId64, o->latency);
    if (o->inferred) /* nobody knows when */
        return;
    if (o->latency >= 0 && !__builtin_add_overflow(o->time, o->latency, &end) && end < c->begun)
        rdump_finding(c,
                      "ended at %" PRId64 " ns, before an operation ahead of it began, at %" PRId64,
                      end, c->begun);
    if (o->time > c->begun)
        c->begun = o->time;
}

static void check_hosts(struct rdump_checker *c, const struct rdump_operation *o)
{
    bool must = !o->inferred && !o->unplayable;

    if (o->client > c->hosts || (must && !o->client))
        rdump_finding(c, "client %u of %u hosts", o->client, c->hosts);
    if (o->server > c->hosts || (must && !o->server))
        rdump_finding(c, "server %u of %u hosts", o->server, c->hosts);
    if (o->credential && !rdump_has_credential(c, o->credential))
        rdump_finding(c, "credential %u, which is not there", o->credential);
    if (!o->credential && o->inferred && !o->unplayable)
        rdump_finding(c, "is inferred, and has no credential");
    if (o->copy >= c->copies)
        rdump_finding(c, "is of copy %u of %u", o->copy, c->copies);
}

void rdump_check_operation(struct rdump_checker *c, const struct rdump_operation *o)
{
    const struct procedure *procedure = rdump_procedure(o->procedure);
    struct look look = { .c = c,
                         .operation = o,
                         .action = procedure ? (enum action)procedure->action : ACTION_NONE };

    if (o->inferred >= RDUMP_INFERRED_MAX)
        rdump_finding(c, "inferred for reason %u", o->inferred);
    else if (o->inferred ? o->source != 0 : o->source <= 0)
        rdump_finding(c, "is operation %" PRId64 " of the trace, and inferred for reason %u",
                      o->source, o->inferred);
    if (o->unplayable >= RDUMP_UNPLAYABLE_MAX)
        rdump_finding(c, "unplayable for reason %u", o->unplayable);
    check_hosts(c, o);
    check_time(c, o);
    if (procedure && (!o->unplayable || o->arguments.len))
        check_arguments(&look, procedure);
    else if (!procedure && (!o->unplayable || o->procedure != RDUMP_NO_PROCEDURE))
        rdump_finding(c, "procedure %u", o->procedure);
    if (o->made)
        check_made(&look);
    rdump_check_result(c, o, procedure, look.cookie);
    check_dependencies(c, o);
    rdump_check_forget(c, o);
}
