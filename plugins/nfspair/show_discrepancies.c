/* SPDX-License-Identifier: GPL-2.0-or-later */
/* A discrepancy is a field with its summary, and a subtree with its parts. */
#include "show_discrepancies.h"

#include "discrepancies.h"

enum { TEXT_SHOWN = 4096 };

static int hf_discrepancy = -1, hf_side = -1, hf_kind = -1, hf_class = -1, hf_field = -1,
           hf_element = -1, hf_difference = -1, hf_ref = -1, hf_sut = -1, hf_explanation = -1,
           hf_cause = -1, hf_rule = -1, hf_group = -1, hf_count = -1, hf_noise = -1,
           hf_counterpart = -1, hf_counterpart_elsewhere = -1, hf_counterpart_file = -1,
           hf_more = -1;
static gint ett_discrepancy = -1;

static expert_field ei_noise = EI_INIT, ei_rpc = EI_INIT, ei_missing_reply = EI_INIT,
                    ei_status = EI_INIT, ei_value = EI_INIT, ei_presence = EI_INIT,
                    ei_time = EI_INIT, ei_order = EI_INIT, ei_entry = EI_INIT, ei_pattern = EI_INIT,
                    ei_count = EI_INIT, ei_retransmissions = EI_INIT, ei_disconnects = EI_INIT,
                    ei_malformed = EI_INIT, ei_other_replies = EI_INIT, ei_other = EI_INIT;

/* By the names of kinds in the database, so that a kind that is new there is still shown. */
static const struct {
    const char *kind;
    expert_field *expert;
} experts_of_kinds[] = {
    { "rpc", &ei_rpc },
    { "missing reply", &ei_missing_reply },
    { "status", &ei_status },
    { "value", &ei_value },
    { "presence", &ei_presence },
    { "time", &ei_time },
    { "order", &ei_order },
    { "entry", &ei_entry },
    { "pattern", &ei_pattern },
    { "count", &ei_count },
    { "retransmissions", &ei_retransmissions },
    { "disconnects", &ei_disconnects },
    { "malformed", &ei_malformed },
    { "other replies", &ei_other_replies },
};

/* Where discrepancies go. */
struct place {
    proto_tree *tree; /* or NULL */
    tvbuff_t *tvb;
    packet_info *pinfo;
    const struct pairs *pairs;
};

/* As UTF-8, for as long as the packet is shown. */
static const char *valid(const struct place *p, const char *text)
{
    char *utf8 = g_utf8_make_valid(text, (gssize)strnlen(text, TEXT_SHOWN));
    const char *kept = wmem_strdup(p->pinfo->pool, utf8);
    g_free(utf8);
    return kept;
}

static const char *summary(const struct place *p, const struct discrepancy *d)
{
    const char *ref = d->ref ? valid(p, d->ref) : "nothing";
    const char *sut = d->sut ? valid(p, d->sut) : "nothing";
    const char *field = d->field ? valid(p, d->field) : "";
    return wmem_strdup_printf(p->pinfo->pool, "%s%s%s%s: ref %s, sut %s", field,
                              d->element ? " [" : "", d->element ? valid(p, d->element) : "",
                              d->element ? "]" : "", ref, sut);
}

static void add_text(const struct place *p, proto_tree *tree, int field, const char *text)
{
    if (text && *text)
        proto_item_set_generated(proto_tree_add_string(tree, field, p->tvb, 0, 0, valid(p, text)));
}

static void add_number(const struct place *p, proto_tree *tree, int field, uint32_t value)
{
    proto_item_set_generated(proto_tree_add_uint(tree, field, p->tvb, 0, 0, value));
}

static void add_counterpart(const struct place *p, proto_tree *tree, const struct discrepancy *d)
{
    uint32_t here = d->other_file ? 0 : pairs_shown(p->pairs, d->other_frame);
    if (!d->other_frame)
        return;
    if (here) {
        add_number(p, tree, hf_counterpart, here);
        return;
    }
    if (!d->other_file) { /* a read filter threw it away */
        add_number(p, tree, hf_counterpart_elsewhere, d->other_frame);
        return;
    }
    const char *file = valid(p, d->other_file);
    proto_item_set_generated(proto_tree_add_uint_format_value(tree, hf_counterpart_elsewhere,
                                                              p->tvb, 0, 0, d->other_frame,
                                                              "%u of %s", d->other_frame, file));
    add_text(p, tree, hf_counterpart_file, file);
}

static expert_field *expert_of(const struct discrepancy *d)
{
    if (d->is_noise)
        return &ei_noise;
    for (size_t i = 0; i < array_length(experts_of_kinds); i++)
        if (strcmp(experts_of_kinds[i].kind, d->kind) == 0)
            return experts_of_kinds[i].expert;
    return &ei_other;
}

static void show(void *ctx, const struct discrepancy *d)
{
    const struct place *p = ctx;
    const char *text = summary(p, d);
    if (!p->tree) {
        expert_add_info_format(p->pinfo, NULL, expert_of(d), "Discrepancy: %s", text);
        return;
    }
    proto_item *item = proto_tree_add_string(p->tree, hf_discrepancy, p->tvb, 0, 0, text);
    proto_item_set_generated(item);
    expert_add_info_format(p->pinfo, item, expert_of(d), "Discrepancy: %s", text);
    proto_tree *tree = proto_item_add_subtree(item, ett_discrepancy);
    add_text(p, tree, hf_kind, d->kind);
    add_text(p, tree, hf_class, d->class);
    add_text(p, tree, hf_field, d->field);
    add_text(p, tree, hf_element, d->element);
    add_text(p, tree, hf_difference, d->difference);
    add_text(p, tree, hf_ref, d->ref);
    add_text(p, tree, hf_sut, d->sut);
    add_text(p, tree, hf_explanation, d->explanation);
    add_text(p, tree, hf_cause, d->cause);
    add_text(p, tree, hf_rule, d->rule);
    add_number(p, tree, hf_group, d->group);
    proto_item_set_generated(proto_tree_add_uint64(tree, hf_count, p->tvb, 0, 0, d->count));
    if (d->is_noise)
        proto_item_set_generated(proto_tree_add_boolean(tree, hf_noise, p->tvb, 0, 0, TRUE));
    add_text(p, tree, hf_side, d->side);
    add_counterpart(p, tree, d);
}

void show_discrepancies(proto_tree *tree, tvbuff_t *tvb, packet_info *pinfo,
                        const struct pairs *pairs, uint32_t xid)
{
    struct place p = { tree, tvb, pinfo, pairs };
    int64_t all = tree_discrepancies(pinfo->num, xid, show, &p);
    if (tree && all > DISCREPANCIES_MOST)
        proto_item_set_generated(
            proto_tree_add_uint64(tree, hf_more, tvb, 0, 0, (uint64_t)(all - DISCREPANCIES_MOST)));
}

/* Long since it is the table of fields. */
static void register_fields(void)
{
#define TEXT FT_STRING, BASE_NONE, NULL, 0
#define NUMBER(type) FT_##type, BASE_DEC, NULL, 0
    static hf_register_info fields[] = {
        { &hf_discrepancy,
          { "Discrepancy", "nfspair.discrepancy", TEXT,
            "The two servers answered this request differently", HFILL } },
        { &hf_kind, { "Kind", "nfspair.discrepancy.kind", TEXT, "Kind of the difference", HFILL } },
        { &hf_class,
          { "Class", "nfspair.discrepancy.class", TEXT, "Kind of value that the field holds",
            HFILL } },
        { &hf_field,
          { "Field", "nfspair.discrepancy.field", TEXT,
            "The field of the reply, as rule files name it", HFILL } },
        { &hf_element,
          { "Element", "nfspair.discrepancy.element", TEXT, "Name or number of the entry of a list",
            HFILL } },
        { &hf_difference, { "Difference", "nfspair.discrepancy.difference", TEXT, NULL, HFILL } },
        { &hf_ref,
          { "Reference", "nfspair.discrepancy.ref", TEXT,
            "The value that the reference server gave", HFILL } },
        { &hf_sut,
          { "System under test", "nfspair.discrepancy.sut", TEXT,
            "The value that the system under test gave", HFILL } },
        { &hf_explanation,
          { "Explanation", "nfspair.discrepancy.explanation", TEXT, NULL, HFILL } },
        { &hf_cause,
          { "Cause", "nfspair.discrepancy.cause", TEXT, "Name of a known cause", HFILL } },
        { &hf_rule,
          { "Rule", "nfspair.discrepancy.rule", TEXT, "The rule that is violated", HFILL } },
        { &hf_group,
          { "Group", "nfspair.discrepancy.group", NUMBER(UINT32),
            "Discrepancies of the same kind, procedure and field are one group", HFILL } },
        { &hf_count,
          { "Discrepancies in this group", "nfspair.discrepancy.count", NUMBER(UINT64), NULL,
            HFILL } },
        { &hf_noise,
          { "Noise", "nfspair.discrepancy.noise", FT_BOOLEAN, BASE_NONE, NULL, 0,
            "Two runs of the reference differ as often", HFILL } },
        { &hf_side,
          { "This side", "nfspair.discrepancy.side", TEXT,
            "This frame belongs to the reference (ref) or to the system under test (sut)",
            HFILL } },
        { &hf_counterpart,
          { "Counterpart", "nfspair.discrepancy.counterpart", FT_FRAMENUM, BASE_NONE,
            FRAMENUM_TYPE(FT_FRAMENUM_NONE), 0, "The other server's answer", HFILL } },
        { &hf_counterpart_elsewhere,
          { "Counterpart", "nfspair.discrepancy.counterpart", NUMBER(UINT32),
            "The frame of the other server's answer, in another capture", HFILL } },
        { &hf_counterpart_file,
          { "Counterpart's capture", "nfspair.discrepancy.counterpart.file", TEXT, NULL, HFILL } },
        { &hf_more,
          { "Further discrepancies, not shown", "nfspair.discrepancy.more", NUMBER(UINT64), NULL,
            HFILL } },
    };
#undef TEXT
#undef NUMBER
    static gint *subtrees[] = { &ett_discrepancy };
    proto_register_field_array(proto_nfspair, fields, array_length(fields));
    proto_register_subtree_array(subtrees, array_length(subtrees));
}

void show_discrepancies_register(expert_module_t *module)
{
#define KIND(field, name, group, severity, text)                                                   \
    {                                                                                              \
        &ei_##field,                                                                               \
        {                                                                                          \
            "nfspair.expert.discrepancy." name, PI_##group, PI_##severity, "Discrepancy: " text,   \
                EXPFILL                                                                            \
        }                                                                                          \
    }
    /* errors: the request had another outcome; warnings: the same one, with something else in it;
     * notes: what clocks and networks may have done */
    static ei_register_info experts[] = {
        KIND(rpc, "rpc", RESPONSE_CODE, ERROR, "the RPC statuses differ"),
        KIND(missing_reply, "missing_reply", SEQUENCE, ERROR, "one side did not answer"),
        KIND(status, "status", RESPONSE_CODE, ERROR, "the statuses differ"),
        KIND(malformed, "malformed", MALFORMED, ERROR, "one side's reply is malformed"),
        KIND(other_replies, "other_replies", SEQUENCE, ERROR,
             "one side answered twice, with different replies"),
        KIND(value, "value", PROTOCOL, WARN, "the values differ"),
        KIND(presence, "presence", PROTOCOL, WARN, "only one side has it"),
        KIND(order, "order", PROTOCOL, WARN,
             "below or above the reference's value, against the rule"),
        KIND(entry, "entry", PROTOCOL, WARN, "only one side has this element of a list"),
        KIND(pattern, "pattern", PROTOCOL, WARN, "it changed on one side only"),
        KIND(count, "count", PROTOCOL, WARN, "the lists have different lengths"),
        KIND(other, "other", PROTOCOL, WARN, "a difference of another kind"),
        KIND(time, "time", PROTOCOL, NOTE, "the times differ"),
        KIND(retransmissions, "retransmissions", SEQUENCE, NOTE,
             "sent again more often on one side"),
        KIND(disconnects, "disconnects", SEQUENCE, NOTE, "more connections to one side"),
        KIND(noise, "noise", PROTOCOL, CHAT, "two runs of the reference differ as often"),
    };
#undef KIND
    register_fields();
    expert_register_field_array(module, experts, array_length(experts));
}
