/* SPDX-License-Identifier: GPL-2.0-or-later */
/* model/rdump/rdump_layout.c
 *
 * The table.  Fields stand in the order of rdump.h's structs; that order is the format.
 */
#include "rdump/rdump_format.h"
#include "record/layout_fields.h"

#define AT(kind, member) ((uint16_t)(offsetof(struct rdump_##kind, member)))

static const struct layout_field trace[] = {
    { "time", AT(trace, time), LAYOUT_TIME },
    { "horizon", AT(trace, horizon), LAYOUT_U32 },
    { "fine", AT(trace, fine), LAYOUT_U8 },
    { "copies", AT(trace, copies), LAYOUT_U32 },
    { "tool", AT(trace, tool), LAYOUT_TEXT },
    { "selection", AT(trace, selection), LAYOUT_TEXT },
    { "results", AT(trace, results), LAYOUT_U8 },
};

static const struct layout_field host[] = {
    { "number", AT(host, number), LAYOUT_U32 },
    { "address", AT(host, address), LAYOUT_TEXT },
};

static const struct layout_field credential[] = {
    { "number", AT(credential, number), LAYOUT_U32 },
    { "flavor", AT(credential, flavor), LAYOUT_U32 },
    { "uid", AT(credential, uid), LAYOUT_U32 },
    { "gid", AT(credential, gid), LAYOUT_U32 },
    { "gids", AT(credential, gids), LAYOUT_BYTES },
    { "machine", AT(credential, machine), LAYOUT_TEXT },
};

static const struct layout_field object[] = {
    { "number", AT(object, number), LAYOUT_U32 },
    { "server", AT(object, server), LAYOUT_U32 },
    { "type", AT(object, type), LAYOUT_U8 },
    { "knows", AT(object, knows), LAYOUT_U16 },
    { "mode", AT(object, mode), LAYOUT_U32 },
    { "uid", AT(object, uid), LAYOUT_U32 },
    { "gid", AT(object, gid), LAYOUT_U32 },
    { "nlink", AT(object, nlink), LAYOUT_U32 },
    { "rdev.major", AT(object, rdev), LAYOUT_U32 },
    { "rdev.minor", AT(object, rdev[1]), LAYOUT_U32 },
    { "size", AT(object, size), LAYOUT_U64 },
    { "atime", AT(object, atime), LAYOUT_TIME },
    { "mtime", AT(object, mtime), LAYOUT_TIME },
    { "ctime", AT(object, ctime), LAYOUT_TIME },
    { "link", AT(object, link), LAYOUT_TEXT },
    { "root", AT(object, root), LAYOUT_TEXT },
    { "source", AT(object, source), LAYOUT_I64 },
    { "copy", AT(object, copy), LAYOUT_U32 },
    { "used", AT(object, used), LAYOUT_U8 },
};

static const struct layout_field entry[] = {
    { "parent", AT(entry, parent), LAYOUT_U32 },
    { "object", AT(entry, object), LAYOUT_U32 },
    { "name", AT(entry, name), LAYOUT_TEXT },
};

static const struct layout_field operation[] = {
    { "source", AT(operation, source), LAYOUT_OPERATION },
    { "inferred", AT(operation, inferred), LAYOUT_U8 },
    { "unplayable", AT(operation, unplayable), LAYOUT_U8 },
    { "time", AT(operation, time), LAYOUT_TIME },
    { "latency", AT(operation, latency), LAYOUT_I64 },
    { "client", AT(operation, client), LAYOUT_U32 },
    { "server", AT(operation, server), LAYOUT_U32 },
    { "credential", AT(operation, credential), LAYOUT_U32 },
    { "procedure", AT(operation, procedure), LAYOUT_U8 },
    { "status", AT(operation, status), LAYOUT_U32 },
    { "made", AT(operation, made), LAYOUT_U32 },
    { "arguments", AT(operation, arguments), LAYOUT_BYTES },
    { "mask", AT(operation, mask), LAYOUT_U32 },
    { "digest", AT(operation, digest), LAYOUT_HASH },
    { "dependencies", AT(operation, dependencies), LAYOUT_NUMBERS },
    { "copy", AT(operation, copy), LAYOUT_U32 },
    { "links", AT(operation, links), LAYOUT_BYTES },
    { "cookie_from", AT(operation, cookie_from), LAYOUT_U32 },
    { "cookie_entries", AT(operation, cookie_entries), LAYOUT_U32 },
    { "cookies", AT(operation, cookies), LAYOUT_NUMBERS },
    { "forget", AT(operation, forget), LAYOUT_NUMBERS },
    { "results", AT(operation, results), LAYOUT_BYTES },
    { "names", AT(operation, names), LAYOUT_BYTES },
};
#define STAYS_BEHIND(list, count)                                                                  \
    _Static_assert(offsetof(struct rdump_operation, count) ==                                      \
                       offsetof(struct rdump_operation, list) + sizeof(const uint32_t *),          \
                   "as LAYOUT_NUMBERS wants it")
STAYS_BEHIND(cookies, cookie_count);
STAYS_BEHIND(forget, forget_count);
STAYS_BEHIND(dependencies, dependency_count);

static const struct layout_field end[] = {
    { "hosts", AT(end, hosts), LAYOUT_U64 },
    { "credentials", AT(end, credentials), LAYOUT_U64 },
    { "objects", AT(end, objects), LAYOUT_U64 },
    { "entries", AT(end, entries), LAYOUT_U64 },
    { "operations", AT(end, operations), LAYOUT_U64 },
    { "inferred", AT(end, inferred), LAYOUT_U64 },
    { "unplayable", AT(end, unplayable), LAYOUT_U64 },
    { "dependencies", AT(end, dependencies), LAYOUT_U64 },
    { "last_time", AT(end, last_time), LAYOUT_TIME },
};

/* Most records are operations. */
static int get_operation(struct layout_reader *r, const struct layout_kind *kind, uint64_t presence,
                         const uint8_t *p, void *record, struct err *err)
{
    return layout_get_known(r, kind, operation, sizeof(operation) / sizeof(operation[0]), presence,
                            p, record, err);
}

#define FIELDS(table) .fields = table, .count = sizeof(table) / sizeof(table[0])

static const struct layout_kind kinds[RDUMP_KIND_MAX] = {
    [RDUMP_TRACE] = { "trace", FIELDS(trace) },
    [RDUMP_HOST] = { "host", FIELDS(host) },
    [RDUMP_CREDENTIAL] = { "credential", FIELDS(credential) },
    [RDUMP_OBJECT] = { "object", FIELDS(object) },
    [RDUMP_ENTRY] = { "entry", FIELDS(entry) },
    [RDUMP_OPERATION] = { "operation", FIELDS(operation), .get = get_operation },
    [RDUMP_END] = { "end", FIELDS(end) },
};

const struct format rdump_format = {
    .name = "rdump",
    .magic = RDUMP_MAGIC,
    .marker = RDUMP_MARKER,
    .major = RDUMP_VERSION_MAJOR,
    .minor = RDUMP_VERSION_MINOR,
    .kinds = kinds,
    .kind_max = RDUMP_KIND_MAX,
    .end = RDUMP_END,
    .clear_len = sizeof(union rdump_record),
};
