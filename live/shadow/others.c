/* SPDX-License-Identifier: GPL-2.0-or-later */
/* live/shadow/others.c
 *
 * Which calls are those of other shadows, and what they change.  Contract: others.h.
 */
#include "flow/message.h"
#include "shadow/shadow_parts.h"
#include "wire/nfs3_numbers.h"

#include <string.h>

#define NAME_SIZE (sizeof(RELAY_MARK_NAME) - 1)
/* ns: verdicts wait no longer for calls under way (verdicts.c) */
#define LATE INT64_C(1000000000)

/* Where things are in a call: XID, direction, version of RPC, program, version, procedure, flavor,
 * length (RFC 5531 s9); of AUTH_SYS: stamp, machine name (s14). */
enum { PROGRAM = 12, VERSION = 16, PROCEDURE = 20, FLAVOR = 24, MACHINE = 36 };

int others_mark(void *ctx, const uint8_t *mark, struct err *err)
{
    struct shadow *s = ctx;

    (void)err;
    relay_marks_add(&s->others.marks, mark);
    return 0;
}

static bool has_mark(struct shadow *s, struct bytes machine)
{
    return machine.len == NAME_SIZE + RELAY_MARK_SIZE &&
           memcmp(machine.data, RELAY_MARK_NAME, NAME_SIZE) == 0 &&
           relay_marks_find(&s->others.marks, machine.data + NAME_SIZE);
}

/* By numbers, as the roles of fields do not know NULL and MOUNT. */
static bool only_reads(uint32_t program, uint32_t version, uint32_t procedure)
{
    static const bool reads[] = {
        [0] = true,  /* NULL */
        [1] = true,  /* GETATTR, and GETACL of NFSACL */
        [3] = true,  /* LOOKUP */
        [4] = true,  /* ACCESS */
        [5] = true,  /* READLINK */
        [6] = true,  /* READ */
        [16] = true, /* READDIR */
        [17] = true, /* READDIRPLUS */
        [18] = true, /* FSSTAT */
        [19] = true, /* FSINFO */
        [20] = true, /* PATHCONF */
    };

    if (program == MOUNT_PROGRAM)
        return true;
    if (version != NFS3_VERSION)
        return false;
    return program == NFS3_PROGRAM ? procedure < sizeof(reads) / sizeof(*reads) && reads[procedure]
                                   : program == NFSACL_PROGRAM && procedure <= 1;
}

/* Most calls are done with after three comparisons. */
static bool is_theirs(struct shadow *s, struct bytes call)
{
    const uint8_t *at = call.data;

    return s->others.marks.count && call.len >= MACHINE + 4 + NAME_SIZE + RELAY_MARK_SIZE &&
           load_be32(at + FLAVOR) == RPC_AUTH_SYS &&
           has_mark(s, (struct bytes){ at + MACHINE + 4, load_be32(at + MACHINE) }) &&
           only_reads(load_be32(at + PROGRAM), load_be32(at + VERSION), load_be32(at + PROCEDURE));
}

/* The SUT did not read it.  Requests on it that are judged later must find that noted. */
static int tell_read(struct shadow *s, struct bytes handle, int64_t time, struct err *err)
{
    const struct mirror_object *object = mirror_find(s->mirror, handle);
    const int64_t until[SIDES] = { [REF] = time };

    return object ? teelog_read(s->log, object->id, until, touches_of(s, object->id) != NULL, err)
                  : 0;
}

/* Another request may be answered, and judged, between this call and its reply, and the reference
 * may have executed them in any order: so it counts as a read already. */
static int tell_call(struct shadow *s, const struct message *m, struct err *err)
{
    struct effect e = { .rpc_status = RPC_SYSTEM_ERR }; /* there is no result to read */
    struct rpc_header h;

    if (rpc_parse(m->data, m->cap_len, m->wire_len, &h) != RPC_OK || h.body > m->cap_len)
        return 0;
    e.procedure = procedure_find(h.program, h.version, h.procedure);
    e.arguments_body = (struct bytes){ m->data + h.body, m->cap_len - h.body };
    e.arguments_length = h.body_len;
    effect_decode(&e);
    return e.procedure && effect_reads_contents(&e) && e.handle.len
               ? tell_read(s, e.handle, m->time + LATE, err)
               : 0;
}

int others_called(struct shadow *s, const struct message *m, struct err *err)
{
    uint32_t *last = &s->others.flows[m->flow->id % OTHERS_FLOWS];

    if (!is_theirs(s, (struct bytes){ m->data, m->cap_len })) {
        if (*last == m->flow->id)
            *last = 0;
        return 0;
    }
    *last = m->flow->id;
    s->counts.others++;
    return tell_call(s, m, err) < 0 ? -err->code : 1;
}

bool others_reply(const struct shadow *s, uint32_t flow)
{
    return s->others.flows[flow % OTHERS_FLOWS] == flow;
}

int others_operation(struct shadow *s, const struct record_operation *op, struct err *err)
{
    struct effect e = effect_of_record(op);

    if (!e.procedure || !s->others.marks.count || op->program == MOUNT_PROGRAM ||
        !only_reads(op->program, op->version, op->procedure))
        return 0;
    effect_decode(&e);
    if (effect_reads_contents(&e) && e.handle.len &&
        tell_read(s, e.handle, op->reply.time, err) < 0)
        return -err->code;
    return learn_own(s, op, err);
}
