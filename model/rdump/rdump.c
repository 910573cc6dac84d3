/* SPDX-License-Identifier: GPL-2.0-or-later */
/* model/rdump/rdump.c
 *
 * Writer and reader: they count the totals of the end record.  engine/record does the rest.
 */
#include "rdump/rdump_format.h"
#include "record/blocks.h"
#include "wire/nfs3_numbers.h"

#include <errno.h>
#include <stdlib.h>
#include <unistd.h>

const struct procedure *rdump_procedure(uint8_t number)
{
    if (number == RDUMP_NO_PROCEDURE)
        return NULL;
    return number < RDUMP_ACL ? procedure_find(NFS3_PROGRAM, NFS3_VERSION, number)
                              : procedure_find(NFSACL_PROGRAM, NFS3_VERSION, number - RDUMP_ACL);
}

uint8_t rdump_procedure_number(uint32_t program, uint32_t procedure)
{
    return (uint8_t)(program == NFSACL_PROGRAM ? RDUMP_ACL + procedure : procedure);
}

struct rdump_writer {
    struct block_writer blocks;
    struct rdump_end totals;
};

static void count_operation(struct rdump_end *totals, const struct rdump_operation *operation)
{
    int64_t latency = operation->latency > 0 ? operation->latency : 0;
    int64_t end;

    totals->operations++;
    totals->inferred += operation->inferred != 0;
    totals->unplayable += operation->unplayable != 0;
    totals->dependencies += operation->dependency_count;
    if (__builtin_add_overflow(operation->time, latency, &end))
        end = INT64_MAX;
    if (end > totals->last_time)
        totals->last_time = end;
}

void rdump_count(struct rdump_end *totals, enum rdump_kind kind, const void *record)
{
    switch (kind) {
    case RDUMP_HOST:
        totals->hosts++;
        break;
    case RDUMP_CREDENTIAL:
        totals->credentials++;
        break;
    case RDUMP_OBJECT:
        totals->objects++;
        break;
    case RDUMP_ENTRY:
        totals->entries++;
        break;
    case RDUMP_OPERATION:
        count_operation(totals, record);
        break;
    case RDUMP_TRACE:
    case RDUMP_END:
    case RDUMP_KIND_MAX:
        break;
    }
}

struct rdump_writer *rdump_writer_new(output_writer *write, void *ctx, struct err *err)
{
    struct rdump_writer *w = calloc(1, sizeof(*w));

    if (!w) {
        err_memory(err, "a writer");
        return NULL;
    }
    if (block_writer_begin(&w->blocks, &rdump_format, write, ctx, err) == 0)
        return w;
    rdump_writer_free(w);
    return NULL;
}

int rdump_put(struct rdump_writer *w, enum rdump_kind kind, const void *record, struct err *err)
{
    static const struct rdump_end none;

    rdump_count(&w->totals, kind, record);
    if (kind == RDUMP_END && memcmp(record, &none, sizeof(none)) == 0)
        record = &w->totals;
    return block_writer_put(&w->blocks, kind, record, err);
}

void rdump_writer_free(struct rdump_writer *w)
{
    if (!w)
        return;
    block_writer_free(&w->blocks);
    free(w);
}

struct rdump_reader {
    struct block_reader blocks;
    union rdump_record record;
    unsigned kind; /* of |record| */
    int fd;
    int failed; /* negative code of an error; what comes after it would be no record */
};

static ssize_t read_fd(void *ctx, void *data, size_t len, struct err *err)
{
    const struct rdump_reader *r = ctx;
    ssize_t n;

    do
        n = read(r->fd, data, len);
    while (n < 0 && errno == EINTR);
    return n < 0
               ? err_set(err, ERR_INPUT, "%s: cannot be read: %s", r->blocks.name, strerror(errno))
               : n;
}

static struct rdump_reader *new_reader(const char *name, struct err *err)
{
    struct rdump_reader *r = calloc(1, sizeof(*r));

    if (!r) {
        err_set(err, ERR_SYSTEM, "%s: out of memory to read it", name);
        return NULL;
    }
    r->blocks.format = &rdump_format;
    r->blocks.name = name;
    return r;
}

static struct rdump_reader *begin(struct rdump_reader *r, nfsr_read *read, void *ctx,
                                  struct err *err)
{
    int result;

    r->blocks.read = read;
    r->blocks.ctx = ctx;
    result = block_reader_begin(&r->blocks, err);
    if (result == 0)
        return r;
    if (result == NFSR_NOT_MINE)
        err_set(err, ERR_INPUT, "%s: not a replay dump, at byte 0", r->blocks.name);
    rdump_reader_free(r);
    return NULL;
}

struct rdump_reader *rdump_reader_new(int fd, const char *name, struct err *err)
{
    struct rdump_reader *r = new_reader(name, err);

    if (!r)
        return NULL;
    r->fd = fd;
    return begin(r, read_fd, r, err);
}

struct rdump_reader *rdump_reader_from(rdump_read *read, void *ctx, const char *name,
                                       struct err *err)
{
    struct rdump_reader *r = new_reader(name, err);

    return r ? begin(r, read, ctx, err) : NULL;
}

int rdump_next(struct rdump_reader *r, enum rdump_kind *kind, const void **record, struct err *err)
{
    int result;

    if (r->failed)
        return err_set(err, -r->failed, "%s: was damaged before", r->blocks.name);
    if (r->kind != RDUMP_OPERATION) /* its fields are set one by one: nothing is between them */
        memset(&r->record, 0, sizeof(r->record));
    result = block_reader_next(&r->blocks, &r->kind, &r->record, err);
    if (result <= 0) {
        r->failed = result;
        return result;
    }
    *kind = (enum rdump_kind)r->kind;
    *record = &r->record;
    return result;
}

void rdump_reader_free(struct rdump_reader *r)
{
    if (!r)
        return;
    block_reader_free(&r->blocks);
    free(r);
}
