/* SPDX-License-Identifier: GPL-2.0-or-later */
/* The fields of the tree and how a message is shown in them. */
#include "show.h"
#include "judged.h"

#include "show_discrepancies.h"
#include "wire/rpc.h"

#include <epan/expert.h>

static int hf_operation = -1, hf_message = -1, hf_xid = -1, hf_program = -1, hf_procedure = -1,
           hf_status = -1, hf_rpc_status = -1, hf_call_frame = -1, hf_reply_frame = -1,
           hf_latency = -1, hf_object = -1, hf_object_type = -1, hf_object2 = -1,
           hf_new_object = -1, hf_path = -1, hf_path2 = -1, hf_path_partial = -1,
           hf_range_offset = -1, hf_range_count = -1, hf_depends_on = -1, hf_pairing = -1,
           hf_retransmission = -1, hf_retransmission_of = -1, hf_duplicate_reply = -1, hf_copy = -1,
           hf_copy_of = -1, hf_other_address = -1, hf_duplicate_differs = -1, hf_partial = -1,
           hf_malformed = -1;
static gint ett_message = -1;

static expert_field ei_retransmission = EI_INIT, ei_duplicate_reply = EI_INIT, ei_copy = EI_INIT,
                    ei_no_reply = EI_INIT, ei_no_call = EI_INIT, ei_partial = EI_INIT,
                    ei_malformed = EI_INIT, ei_lint_error = EI_INIT, ei_lint_suspect = EI_INIT,
                    ei_lint_note = EI_INIT;

static const value_string message_names[] = { { RPC_CALL, "Call" },
                                              { RPC_REPLY, "Reply" },
                                              { 0, NULL } };
static const value_string type_names[] = {
    { OBJECT_REG, "regular file" },  { OBJECT_DIR, "directory" },
    { OBJECT_BLK, "block device" },  { OBJECT_CHR, "character device" },
    { OBJECT_LNK, "symbolic link" }, { OBJECT_SOCK, "socket" },
    { OBJECT_FIFO, "named pipe" },   { 0, NULL }
};
static const value_string pairing_names[] = { { PAIRED, "call and reply" },
                                              { REPLY_LOST, "no reply in the capture" },
                                              { CALL_LOST, "no call in the capture" },
                                              { OUT_OF_WINDOW, "too many calls were waiting" },
                                              { CAPTURE_ENDED, "capture ended before the reply" },
                                              { 0, NULL } };

/* One message and where it goes. */
struct place {
    proto_tree *tree;
    tvbuff_t *tvb;
    packet_info *pinfo;
    const struct pairs *pairs;
    const struct pair_message *m;
    const struct pair_operation *op;
};

static proto_item *generated(proto_item *item)
{
    proto_item_set_generated(item);
    return item;
}

static void add_id(const struct place *p, int field, uint32_t value)
{
    if (value)
        generated(proto_tree_add_uint(p->tree, field, p->tvb, 0, 0, value));
}

static void add_frame(const struct place *p, int field, uint32_t frame)
{
    add_id(p, field, pairs_shown(p->pairs, frame));
}

static void add_true(const struct place *p, int field)
{
    generated(proto_tree_add_boolean(p->tree, field, p->tvb, 0, 0, TRUE));
}

static void add_text(const struct place *p, int field, const char *text)
{
    generated(proto_tree_add_string(p->tree, field, p->tvb, 0, 0, text));
}

static const char *path_text(const struct place *p, uint32_t path, bool *partial)
{
    char *made = pairs_path(p->pairs, path, partial);
    const char *text = wmem_strdup(p->pinfo->pool, made ? made : "");
    free(made);
    return text;
}

static const char *procedure_text(const struct place *p)
{
    const struct pair_operation *op = p->op;
    const struct procedure *procedure = procedure_find(op->program, op->version, op->procedure);
    if (op->program == PROGRAM_UNKNOWN)
        return "unknown procedure";
    if (procedure && procedure->name)
        return procedure->name;
    return wmem_strdup_printf(p->pinfo->pool, "procedure %u", op->procedure);
}

static const char *program_text(const struct place *p)
{
    const char *name = program_name(p->op->program);
    return name ? name : wmem_strdup_printf(p->pinfo->pool, "program %u", p->op->program);
}

static void add_number_with_name(const struct place *p, int field, uint32_t value, const char *name)
{
    generated(proto_tree_add_uint_format_value(p->tree, field, p->tvb, 0, 0, value, "%s (%u)",
                                               name ? name : "unknown", value));
}

static void add_status(const struct place *p)
{
    const struct pair_operation *op = p->op;
    if (p->m->rpc_status != STATUS_NONE) {
        uint32_t status = (uint32_t)p->m->rpc_status;
        add_number_with_name(p, hf_rpc_status, status, rpc_status_name(status));
    }
    if (p->m->status != STATUS_NONE) {
        const struct procedure *procedure = procedure_find(op->program, op->version, op->procedure);
        uint32_t status = (uint32_t)p->m->status;
        add_number_with_name(p, hf_status, status,
                             procedure ? status_name(procedure, status) : NULL);
    }
}

static void add_latency(const struct place *p)
{
    /* both parts of a negative time are negative */
    nstime_t time = { .secs = (time_t)(p->op->latency / 1000000000),
                      .nsecs = (int)(p->op->latency % 1000000000) };
    if (p->op->latency != PAIRS_NO_LATENCY)
        generated(proto_tree_add_time(p->tree, hf_latency, p->tvb, 0, 0, &time));
}

static void add_links(const struct place *p)
{
    const struct pair_message *m = p->m;
    const struct pair_operation *op = p->op;
    const struct pair_operation *before = pairs_operation(p->pairs, op->depends_on);
    if (m->is_reply || m->repeat)
        add_frame(p, hf_call_frame, op->call_frame);
    if (!m->is_reply || m->repeat)
        add_frame(p, hf_reply_frame, op->reply_frame);
    if (m->repeat == REPEAT_CALL)
        add_frame(p, hf_retransmission_of, op->call_frame);
    if (repeat_is_copy(m->repeat))
        add_frame(p, hf_copy_of, m->is_reply ? op->reply_frame : op->call_frame);
    add_latency(p);
    if (before)
        add_frame(p, hf_depends_on, before->call_frame ? before->call_frame : before->reply_frame);
    if (op->pairing != PAIRS_WAITING)
        generated(proto_tree_add_uint(p->tree, hf_pairing, p->tvb, 0, 0, op->pairing));
}

static void add_things(const struct place *p)
{
    const struct pair_message *m = p->m;
    bool partial = false, partial2 = false;
    add_id(p, hf_object, m->object);
    if (m->object_type != OBJECT_UNKNOWN)
        generated(proto_tree_add_uint(p->tree, hf_object_type, p->tvb, 0, 0, m->object_type));
    add_id(p, hf_object2, m->object2);
    add_id(p, hf_new_object, m->new_object);
    if (m->path)
        add_text(p, hf_path, path_text(p, m->path, &partial));
    if (m->path2)
        add_text(p, hf_path2, path_text(p, m->path2, &partial2));
    if (partial || partial2)
        add_true(p, hf_path_partial);
    if (p->op->has_offset)
        generated(proto_tree_add_uint64(p->tree, hf_range_offset, p->tvb, 0, 0, p->op->offset));
    if (p->op->has_count)
        generated(proto_tree_add_uint64(p->tree, hf_range_count, p->tvb, 0, 0, p->op->count));
}

static void add_flags(const struct place *p)
{
    if (p->m->repeat == REPEAT_CALL)
        add_true(p, hf_retransmission);
    if (p->m->repeat == REPEAT_REPLY)
        add_true(p, hf_duplicate_reply);
    if (p->m->repeat == REPEAT_REPLY && p->m->differs)
        add_true(p, hf_duplicate_differs);
    if (repeat_is_copy(p->m->repeat))
        add_true(p, hf_copy);
    if (p->m->sighting & SIGHTING_ADDRESS)
        add_true(p, hf_other_address);
    if (p->m->sighting & SIGHTING_PARTIAL)
        add_true(p, hf_partial);
    if (p->m->sighting & SIGHTING_MALFORMED)
        add_true(p, hf_malformed);
}

struct expert_place {
    const struct place *p;
    proto_item *item;
};

static void add_judged(void *ctx, const struct judged_finding *finding)
{
    struct expert_place *at = ctx;
    expert_field *const level = finding->rule->level == LINT_ERROR     ? &ei_lint_error
                                : finding->rule->level == LINT_SUSPECT ? &ei_lint_suspect
                                                                       : &ei_lint_note;
    const struct pair_operation *op = pairs_operation(at->p->pairs, finding->earlier);
    uint32_t frame = op ? op->reply_frame ? op->reply_frame : op->call_frame : 0;
    char earlier[32] = "";
    if (frame)
        snprintf(earlier, sizeof earlier, " (frame %u)", pairs_shown(at->p->pairs, frame));
    expert_add_info_format(at->p->pinfo, at->item, level, "%s: %s%s. %s", finding->rule->name,
                           finding->text, earlier, finding->rule->source);
}

/* What breaks RFC 1813, at the reply; at the call if there is none. */
static void add_judgements(const struct place *p, proto_item *item)
{
    struct expert_place at = { p, item };
    bool here = p->m->is_reply || !p->op->reply_frame;
    if (pairs_judged(p->pairs) && !p->m->repeat && here)
        judged_each(pairs_judged(p->pairs), p->m->operation, add_judged, &at);
}

/* With |item| NULL they are still counted, and go to the taps. */
static void add_experts(const struct place *p, proto_item *item)
{
    const struct pair_message *m = p->m;
    uint8_t pairing = p->op->pairing;
    if (m->repeat == REPEAT_CALL)
        expert_add_info(p->pinfo, item, &ei_retransmission);
    if (m->repeat == REPEAT_REPLY)
        expert_add_info(p->pinfo, item, &ei_duplicate_reply);
    if (repeat_is_copy(m->repeat))
        expert_add_info(p->pinfo, item, &ei_copy);
    if (!m->is_reply && !m->repeat && (pairing == REPLY_LOST || pairing == OUT_OF_WINDOW))
        expert_add_info(p->pinfo, item, &ei_no_reply);
    if (m->is_reply && pairing == CALL_LOST)
        expert_add_info(p->pinfo, item, &ei_no_call);
    if (m->sighting & SIGHTING_PARTIAL)
        expert_add_info(p->pinfo, item, &ei_partial);
    if (m->sighting & SIGHTING_MALFORMED)
        expert_add_info(p->pinfo, item, &ei_malformed);
    add_judgements(p, item);
}

/* They are about the first copy, which the database names. */
static void add_discrepancies(const struct place *p)
{
    if (!p->m->repeat)
        show_discrepancies(p->tree, p->tvb, p->pinfo, p->pairs, p->op->xid);
}

static proto_item *add_root(const struct place *p)
{
    bool partial;
    const char *copy = p->m->repeat == REPEAT_CALL    ? " (retransmission)"
                       : p->m->repeat == REPEAT_REPLY ? " (duplicate)"
                       : repeat_is_copy(p->m->repeat) ? " (copy)"
                                                      : "";
    proto_item *item =
        proto_tree_add_protocol_format(p->tree, proto_nfspair, p->tvb, 0, 0, "NFS Pair: %s %s%s",
                                       procedure_text(p), p->m->is_reply ? "reply" : "call", copy);
    if (p->m->path)
        proto_item_append_text(item, ", %s", path_text(p, p->m->path, &partial));
    return generated(item);
}

void show_message(proto_tree *parent, tvbuff_t *tvb, packet_info *pinfo, const struct pairs *pairs,
                  const struct pair_message *m)
{
    struct place p = { parent, tvb, pinfo, pairs, m, pairs_operation(pairs, m->operation) };
    if (!p.op)
        return;
    if (!parent) {
        add_experts(&p, NULL);
        add_discrepancies(&p);
        return;
    }
    proto_item *root = add_root(&p);
    p.tree = proto_item_add_subtree(root, ett_message);
    add_experts(&p, root);
    add_id(&p, hf_operation, m->operation);
    generated(proto_tree_add_uint(p.tree, hf_message, tvb, 0, 0, m->is_reply));
    generated(proto_tree_add_uint(p.tree, hf_xid, tvb, 0, 0, p.op->xid));
    if (p.op->program != PROGRAM_UNKNOWN) {
        add_text(&p, hf_program, program_text(&p));
        add_text(&p, hf_procedure, procedure_text(&p));
    }
    add_status(&p);
    add_links(&p);
    add_things(&p);
    add_flags(&p);
    add_discrepancies(&p);
}

/* Long since it is the table of fields. */
static void register_fields(void)
{
#define FRAME(type) FT_FRAMENUM, BASE_NONE, FRAMENUM_TYPE(type), 0
    static hf_register_info fields[] = {
        { &hf_operation,
          { "Operation", "nfspair.operation", FT_UINT32, BASE_DEC, NULL, 0,
            "Number of the operation in this capture; its call, its reply and all their copies "
            "have the same",
            HFILL } },
        { &hf_message,
          { "Message", "nfspair.message", FT_UINT8, BASE_DEC, VALS(message_names), 0, NULL,
            HFILL } },
        { &hf_xid, { "XID", "nfspair.xid", FT_UINT32, BASE_HEX, NULL, 0, NULL, HFILL } },
        { &hf_program,
          { "Program", "nfspair.program", FT_STRING, BASE_NONE, NULL, 0, NULL, HFILL } },
        { &hf_procedure,
          { "Procedure", "nfspair.procedure", FT_STRING, BASE_NONE, NULL, 0, NULL, HFILL } },
        { &hf_status,
          { "Status", "nfspair.status", FT_UINT32, BASE_DEC, NULL, 0,
            "Status of the procedure's result", HFILL } },
        { &hf_rpc_status,
          { "RPC status", "nfspair.rpc_status", FT_UINT32, BASE_DEC, NULL, 0,
            "Accept or reject status of the reply; 0 is success", HFILL } },
        { &hf_call_frame,
          { "Call in", "nfspair.call_frame", FRAME(FT_FRAMENUM_REQUEST), NULL, HFILL } },
        { &hf_reply_frame,
          { "Reply in", "nfspair.reply_frame", FRAME(FT_FRAMENUM_RESPONSE), NULL, HFILL } },
        { &hf_latency,
          { "Latency", "nfspair.latency", FT_RELATIVE_TIME, BASE_NONE, NULL, 0,
            "From the end of the call to the end of the reply", HFILL } },
        { &hf_object,
          { "Object", "nfspair.object", FT_UINT32, BASE_DEC, NULL, 0,
            "Number of the file or directory that the operation is on", HFILL } },
        { &hf_object_type,
          { "Object type", "nfspair.object.type", FT_UINT8, BASE_DEC, VALS(type_names), 0, NULL,
            HFILL } },
        { &hf_object2,
          { "Second object", "nfspair.object2", FT_UINT32, BASE_DEC, NULL, 0,
            "Target directory of RENAME and LINK", HFILL } },
        { &hf_new_object,
          { "Found or made object", "nfspair.new_object", FT_UINT32, BASE_DEC, NULL, 0, NULL,
            HFILL } },
        { &hf_path,
          { "Path", "nfspair.path", FT_STRING, BASE_NONE, NULL, 0,
            "What the operation is about, as known at this message", HFILL } },
        { &hf_path2,
          { "Second path", "nfspair.path2", FT_STRING, BASE_NONE, NULL, 0,
            "New name of RENAME and LINK", HFILL } },
        { &hf_path_partial,
          { "Partial path", "nfspair.path.partial", FT_BOOLEAN, BASE_NONE, NULL, 0,
            "The path begins at an object whose own path was not captured", HFILL } },
        { &hf_range_offset,
          { "Range offset", "nfspair.range.offset", FT_UINT64, BASE_DEC, NULL, 0, NULL, HFILL } },
        { &hf_range_count,
          { "Range length", "nfspair.range.count", FT_UINT64, BASE_DEC, NULL, 0, NULL, HFILL } },
        { &hf_depends_on,
          { "Depends on", "nfspair.depends_on", FRAME(FT_FRAMENUM_NONE),
            "The latest earlier operation that changed something which this one uses", HFILL } },
        { &hf_pairing,
          { "Pairing", "nfspair.pairing", FT_UINT8, BASE_DEC, VALS(pairing_names), 0, NULL,
            HFILL } },
        { &hf_retransmission,
          { "Retransmission", "nfspair.retransmission", FT_BOOLEAN, BASE_NONE, NULL, 0,
            "The same call was seen before", HFILL } },
        { &hf_retransmission_of,
          { "Retransmission of", "nfspair.retransmission_of", FRAME(FT_FRAMENUM_RETRANS_PREV), NULL,
            HFILL } },
        { &hf_duplicate_reply,
          { "Duplicate reply", "nfspair.duplicate_reply", FT_BOOLEAN, BASE_NONE, NULL, 0,
            "The call was answered before", HFILL } },
        { &hf_duplicate_differs,
          { "Other reply", "nfspair.duplicate_reply.differs", FT_BOOLEAN, BASE_NONE, NULL, 0,
            "The reply is not the same as the first one", HFILL } },
        { &hf_copy,
          { "Copy", "nfspair.copy", FT_BOOLEAN, BASE_NONE, NULL, 0,
            "The same datagram was captured before; it was sent only once", HFILL } },
        { &hf_copy_of,
          { "Copy of", "nfspair.copy_of", FRAME(FT_FRAMENUM_NONE),
            "The first frame that brought this message", HFILL } },
        { &hf_other_address,
          { "From another address", "nfspair.other_address", FT_BOOLEAN, BASE_NONE, NULL, 0,
            "The reply comes from another address than the call went to", HFILL } },
        { &hf_partial,
          { "Partial message", "nfspair.partial", FT_BOOLEAN, BASE_NONE, NULL, 0,
            "Bytes of the message are missing in the capture", HFILL } },
        { &hf_malformed,
          { "Malformed message", "nfspair.malformed", FT_BOOLEAN, BASE_NONE, NULL, 0,
            "The message does not follow its protocol", HFILL } },
    };
#undef FRAME
    static gint *subtrees[] = { &ett_message };
    proto_register_field_array(proto_nfspair, fields, array_length(fields));
    proto_register_subtree_array(subtrees, array_length(subtrees));
}

static void register_experts(void)
{
    static ei_register_info experts[] = {
        { &ei_retransmission,
          { "nfspair.expert.retransmission", PI_SEQUENCE, PI_NOTE, "Retransmitted call",
            EXPFILL } },
        { &ei_duplicate_reply,
          { "nfspair.expert.duplicate_reply", PI_SEQUENCE, PI_NOTE, "Duplicate reply", EXPFILL } },
        { &ei_copy,
          { "nfspair.expert.copy", PI_SEQUENCE, PI_CHAT, "The same datagram, captured again",
            EXPFILL } },
        { &ei_no_reply,
          { "nfspair.expert.no_reply", PI_SEQUENCE, PI_WARN, "No reply in the capture", EXPFILL } },
        { &ei_no_call,
          { "nfspair.expert.no_call", PI_SEQUENCE, PI_WARN, "No call in the capture", EXPFILL } },
        { &ei_partial,
          { "nfspair.expert.partial", PI_REASSEMBLE, PI_NOTE,
            "Bytes of the message are missing in the capture", EXPFILL } },
        { &ei_malformed,
          { "nfspair.expert.malformed", PI_MALFORMED, PI_ERROR,
            "The message does not follow its protocol", EXPFILL } },
        { &ei_lint_error,
          { "nfspair.expert.lint.error", PI_PROTOCOL, PI_ERROR, "The message breaks RFC 1813",
            EXPFILL } },
        { &ei_lint_suspect,
          { "nfspair.expert.lint.suspect", PI_PROTOCOL, PI_WARN,
            "The server or client contradicts itself", EXPFILL } },
        { &ei_lint_note,
          { "nfspair.expert.lint.note", PI_PROTOCOL, PI_NOTE, "Allowed by RFC 1813, but unusual",
            EXPFILL } },
    };
    expert_module_t *module = expert_register_protocol(proto_nfspair);
    expert_register_field_array(module, experts, array_length(experts));
    show_discrepancies_register(module);
}

void show_register(void)
{
    register_fields();
    register_experts();
}
