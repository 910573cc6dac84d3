/* SPDX-License-Identifier: GPL-2.0-or-later */
/* tests/tools/field_dump.c
 *
 * Prints every field of every message in a stream of records, for the comparison with stock tshark
 * (tests/pipeline/decode_oracle.py).
 *
 *     field_dump FILE      an .nfsr stream; "-" is standard input
 *     field_dump --fields  what the tables hold
 *
 * A message is a line "M", frame, xid, "call" or "reply", program, version, procedure, notes, and
 * then a line "F", path, Wireshark's name or "-", value for each field, in the order of the
 * message. Values: n and a decimal number (signed types extended), x and the bytes in hex, d and
 * length and digest of file contents.  --fields prints lines "T", program, version, procedure,
 * direction, path, Wireshark's name or "-", class.  Columns are separated by tabs.
 */
#include "record/nfsr.h"
#include "wire/rpc.h"
#include "wire/walk.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>

/* What a later repeat of a message needs of its operation. */
struct kept {
    bool known;
    uint32_t xid, program, version, procedure, credential;
    int32_t rpc_status;
    struct bytes arguments, result;
    uint32_t arguments_wire, result_wire;
    uint32_t call_flags, reply_flags;
    uint64_t data_length;
    uint8_t data_digest[16];
};

struct kept_credential {
    uint32_t flavor, stamp, uid, gid;
    bool valid;
    struct bytes machine, gids;
};

struct dump {
    struct kept *operations; /* by id */
    size_t operation_count;
    struct kept_credential *credentials; /* by id */
    size_t credential_count;
    struct record_repeat *early; /* repeats seen before their operation was complete */
    size_t early_count, early_room;
    const struct kept *now;
};

static int no_memory(struct err *err)
{
    return err_set(err, ERR_SYSTEM, "out of memory");
}

/* Room for index |id| in the array |*items| of |*count| elements of |size| bytes. */
static int make_room(void *items, size_t *count, size_t size, uint64_t id, struct err *err)
{
    char **array = items;
    size_t more = *count ? *count * 2 : 1024;
    char *larger;

    if (id < *count)
        return 0;
    while (more <= id)
        more *= 2;
    larger = realloc(*array, more * size);
    if (!larger)
        return no_memory(err);
    memset(larger + *count * size, 0, (more - *count) * size);
    *array = larger;
    *count = more;
    return 0;
}

static int keep_bytes(struct bytes *to, struct bytes from, struct err *err)
{
    uint8_t *copy = malloc(from.len + 1);

    if (!copy)
        return no_memory(err);
    if (from.len)
        memcpy(copy, from.data, from.len);
    to->data = copy;
    to->len = from.len;
    return 0;
}

static void print_hex(const uint8_t *data, size_t len)
{
    static const char digits[] = "0123456789abcdef";

    while (len--) {
        putchar_unlocked(digits[*data >> 4]);
        putchar_unlocked(digits[*data++ & 15]);
    }
}

static void print_bytes(const char *path, const char *wireshark, struct bytes bytes)
{
    printf("F\t%s\t%s\tx", path, wireshark);
    print_hex(bytes.data, bytes.len);
    putchar('\n');
}

static void print_number(const char *path, const char *wireshark, uint64_t number)
{
    printf("F\t%s\t%s\tn%" PRIu64 "\n", path, wireshark, number);
}

static int print_field(void *ctx, const struct visit *visit)
{
    const struct field *field = visit->field;
    const struct dump *dump = ctx;
    char path[WALK_PATH_MAX];

    if (visit->whole)
        return 0;
    printf("F\t%s\t%s\t", walk_path(visit->walk, field, path),
           field->wireshark ? field->wireshark : "-");
    if (field->cls == CLASS_DATA && (field->kind == XDR_OPAQUE || field->kind == XDR_STRING)) {
        printf("d%" PRIu32 ":", visit->full_len);
        if (visit->full_len)
            print_hex(dump->now->data_digest, sizeof dump->now->data_digest);
    } else if (field->kind == XDR_FIXED || field->kind == XDR_OPAQUE || field->kind == XDR_STRING) {
        putchar('x');
        print_hex(visit->data, visit->len);
    } else if (field->kind == XDR_I32) {
        printf("n%" PRId64, (int64_t)visit->value);
    } else {
        printf("n%" PRIu64, visit->value);
    }
    putchar('\n');
    return 0;
}

static void print_credential(const struct kept_credential *credential)
{
    uint32_t i;

    print_number("rpc.credential.flavor", "rpc.auth.flavor", credential->flavor);
    if (!credential->valid || credential->flavor != RPC_AUTH_SYS)
        return;
    print_number("rpc.credential.stamp", "rpc.auth.stamp", credential->stamp);
    print_bytes("rpc.credential.machine", "rpc.auth.machinename", credential->machine);
    print_number("rpc.credential.uid", "rpc.auth.uid", credential->uid);
    print_number("rpc.credential.gid", "rpc.auth.gid", credential->gid);
    for (i = 0; i + 4 <= credential->gids.len; i += 4)
        print_number("rpc.credential.gids", "rpc.auth.gid", load_be32(credential->gids.data + i));
}

static void print_reply_state(int32_t status)
{
    bool denied = status >= RPC_MISMATCH;

    print_number("rpc.reply_stat", "rpc.replystat", denied);
    if (denied)
        print_number("rpc.reject_stat", "rpc.state_reject", (uint32_t)status - RPC_MISMATCH);
    else
        print_number("rpc.accept_stat", "rpc.state_accept", (uint32_t)status);
}

static void print_message(struct dump *dump, const struct kept *op, uint64_t frame, uint32_t flags,
                          bool is_reply, const char *note)
{
    struct visitor visitor = { .visit = print_field, .ctx = dump };
    const struct procedure *procedure = procedure_find(op->program, op->version, op->procedure);
    const struct type *type = NULL;
    struct bytes body = is_reply ? op->result : op->arguments;
    enum walk_result result;
    struct walk walked;

    printf("M\t%" PRIu64 "\t%08" PRIx32 "\t%s\t%" PRIu32 "\t%" PRIu32 "\t%" PRIu32 "\t%s%s%s\n",
           frame, op->xid, is_reply ? "reply" : "call", op->program, op->version, op->procedure,
           note, flags & SIGHTING_PARTIAL ? ",partial" : "",
           flags & SIGHTING_OPAQUE ? ",opaque" : "");
    if (!is_reply && op->credential && op->credential < dump->credential_count)
        print_credential(&dump->credentials[op->credential]);
    if (is_reply && op->rpc_status >= 0)
        print_reply_state(op->rpc_status);
    if (procedure && !(flags & SIGHTING_OPAQUE) && (!is_reply || op->rpc_status == RPC_SUCCESS))
        type = is_reply ? procedure->result : procedure->arguments;
    if (!type)
        return;
    dump->now = op;
    result = walk(&walked, type, body.data, body.len,
                  is_reply ? op->result_wire : op->arguments_wire, true, &visitor);
    if (result != WALK_OK)
        printf("E\t%d\t%s\n", result, walked.problem ? walked.problem : "cut");
}

static int put_operation(struct dump *dump, const struct record_operation *op, struct err *err)
{
    struct kept *kept;
    int ret;

    ret = make_room(&dump->operations, &dump->operation_count, sizeof *kept, op->id, err);
    if (ret < 0)
        return ret;
    kept = &dump->operations[op->id];
    *kept = (struct kept){
        .known = true,
        .xid = op->xid,
        .program = op->program,
        .version = op->version,
        .procedure = op->procedure,
        .credential = op->credential,
        .rpc_status = op->rpc_status,
        .arguments_wire = op->arguments_wire,
        .result_wire = op->result_wire,
        .call_flags = op->call.flags,
        .reply_flags = op->reply.flags,
        .data_length = op->data_length,
    };
    memcpy(kept->data_digest, op->data_digest, sizeof kept->data_digest);
    ret = keep_bytes(&kept->arguments, op->arguments, err);
    if (ret == 0)
        ret = keep_bytes(&kept->result, op->result, err);
    if (ret < 0)
        return ret;
    if (op->call.frame)
        print_message(dump, kept, op->call.frame, op->call.flags, false, "first");
    if (op->reply.frame)
        print_message(dump, kept, op->reply.frame, op->reply.flags, true, "first");
    return 0;
}

static void print_repeat(struct dump *dump, const struct record_repeat *repeat)
{
    const struct kept *op = &dump->operations[repeat->operation];

    print_message(dump, op, repeat->sighting.frame,
                  repeat->sighting.flags | (repeat->differs ? SIGHTING_OPAQUE : 0),
                  repeat_is_reply(repeat->repeat), repeat->differs ? "differs" : "repeat");
}

/* A call may be repeated before its reply completes the operation. */
static int put_repeat(struct dump *dump, const struct record_repeat *repeat, struct err *err)
{
    int ret;

    if (repeat->operation < dump->operation_count && dump->operations[repeat->operation].known) {
        print_repeat(dump, repeat);
        return 0;
    }
    ret = make_room(&dump->early, &dump->early_room, sizeof *repeat, dump->early_count, err);
    if (ret == 0)
        dump->early[dump->early_count++] = *repeat;
    return ret;
}

static int put_end(struct dump *dump, struct err *err)
{
    size_t i;

    for (i = 0; i < dump->early_count; i++) {
        uint64_t id = dump->early[i].operation;

        if (id >= dump->operation_count || !dump->operations[id].known)
            return err_set(err, ERR_INPUT, "repeat of operation %" PRIu64 ", which never came", id);
        print_repeat(dump, &dump->early[i]);
    }
    return 0;
}

static int put_credential(struct dump *dump, const struct record_credential *from, struct err *err)
{
    struct kept_credential *kept;
    int ret;

    ret = make_room(&dump->credentials, &dump->credential_count, sizeof *kept, from->id, err);
    if (ret < 0)
        return ret;
    kept = &dump->credentials[from->id];
    kept->flavor = from->flavor;
    kept->valid = from->valid;
    kept->stamp = from->stamp;
    kept->uid = from->uid;
    kept->gid = from->gid;
    ret = keep_bytes(&kept->machine, from->machine, err);
    return ret < 0 ? ret : keep_bytes(&kept->gids, from->gids, err);
}

static int put(void *ctx, const struct record *record, struct err *err)
{
    switch (record->kind) {
    case RECORD_CREDENTIAL:
        return put_credential(ctx, &record->credential, err);
    case RECORD_OPERATION:
        return put_operation(ctx, &record->operation, err);
    case RECORD_REPEAT:
        return put_repeat(ctx, &record->repeat, err);
    case RECORD_END:
        return put_end(ctx, err);
    default:
        return 0;
    }
}

static ssize_t read_file(void *ctx, void *data, size_t len, struct err *err)
{
    FILE *file = ctx;
    size_t got = fread(data, 1, len, file);

    if (got == 0 && ferror(file))
        return err_set(err, ERR_SYSTEM, "cannot read");
    return (ssize_t)got;
}

static int run_stream(const char *path, const struct sink *sink, struct err *err)
{
    bool standard_input = strcmp(path, "-") == 0;
    FILE *file = standard_input ? stdin : fopen(path, "rb");
    int ret;

    if (!file)
        return err_set(err, ERR_INPUT, "%s: cannot open", path);
    ret = nfsr_read_stream(read_file, file, path, sink, err);
    if (!standard_input)
        fclose(file);
    return ret == NFSR_NOT_MINE ? err_set(err, ERR_INPUT, "%s: no .nfsr stream", path) : ret;
}

static int print_place(void *ctx, const struct field_place *place)
{
    (void)ctx;
    printf("T\t%" PRIu32 "\t%" PRIu32 "\t%" PRIu32 "\t%s\t%s\t%s\t%s\n", place->program->number,
           place->program->version, place->procedure->number, place->result ? "reply" : "call",
           place->path, place->field->wireshark ? place->field->wireshark : "-",
           class_name(place->field->cls));
    return 0;
}

static void free_dump(struct dump *dump)
{
    size_t i;

    for (i = 0; i < dump->operation_count; i++) {
        free((void *)dump->operations[i].arguments.data);
        free((void *)dump->operations[i].result.data);
    }
    for (i = 0; i < dump->credential_count; i++) {
        free((void *)dump->credentials[i].machine.data);
        free((void *)dump->credentials[i].gids.data);
    }
    free(dump->operations);
    free(dump->credentials);
    free(dump->early);
}

int main(int argc, char **argv)
{
    struct dump dump = { 0 };
    const struct sink sink = { put, &dump };
    struct err err = { 0 };
    int ret = 0;

    if (argc != 2) {
        fprintf(stderr, "usage: field_dump FILE | --fields\n");
        return ERR_USAGE;
    }
    wire_init();
    if (strcmp(argv[1], "--fields") == 0)
        wire_each_field(print_place, NULL);
    else
        ret = run_stream(argv[1], &sink, &err);
    free_dump(&dump);
    if (ret < 0) {
        fprintf(stderr, "field_dump: %s\n", err.text);
        return err.code;
    }
    if (fflush(stdout) || ferror(stdout)) {
        fprintf(stderr, "field_dump: cannot write\n");
        return ERR_SYSTEM;
    }
    return 0;
}
