/* SPDX-License-Identifier: GPL-2.0-or-later */
/* live/player/verdict_text.c
 *
 * Says in words what differs, for the reports of runs.
 */
#include "player/verdict_parts.h"

#include <inttypes.h>
#include <stdio.h>

#include "base/escape.h"
#include "wire/nfs3_types.h"

enum { VALUE_TEXT = 96 };

const char *verdict_class_name(enum verdict_class class)
{
    static const char *const names[VERDICT_CLASSES] = {
        [VERDICT_AS_RECORDED] = "as recorded",
        [VERDICT_NEW_ERROR] = "new error",
        [VERDICT_VANISHED_ERROR] = "vanished error",
        [VERDICT_DIFFERENT_ERROR] = "different error",
        [VERDICT_DIFFERENT_RESULT] = "different result",
        [VERDICT_SKIPPED] = "skipped",
        [VERDICT_UNCERTAIN] = "uncertain",
        [VERDICT_UNANSWERED] = "unanswered",
        [VERDICT_UNPLAYABLE] = "unplayable",
        [VERDICT_NOT_PLAYED] = "not played",
    };

    return class < VERDICT_CLASSES ? names[class] : "?";
}

const char *verdict_class_note(enum verdict_class class)
{
    return class == VERDICT_UNANSWERED ? "no answer, or an RPC error" : "";
}

static void status_text(const struct procedure *procedure, uint32_t status, char to[VALUE_TEXT])
{
    const char *name = status_name(procedure, status);

    if (name)
        snprintf(to, VALUE_TEXT, "%s", name);
    else
        snprintf(to, VALUE_TEXT, "status %" PRIu32, status);
}

void verdict_text_status(const struct procedure *procedure, uint32_t expected, uint32_t got,
                         char *text)
{
    char a[VALUE_TEXT], b[VALUE_TEXT];

    status_text(procedure, expected, a);
    status_text(procedure, got, b);
    snprintf(text, VERDICT_TEXT, "%s in the trace, %s here", a, b);
}

void verdict_text_unanswered(const struct rpc_answer *answer, char *text)
{
    static const char *const outcomes[] = {
        [RPC_TIMED_OUT] = "no answer within the time limit",
        [RPC_LOST] = "the connection was lost before an answer came, and could not be made again",
        [RPC_CANCELLED] = "no answer before the run ended",
    };
    const char *name;

    if (answer->outcome != RPC_ANSWERED) {
        snprintf(text, VERDICT_TEXT, "%s",
                 (unsigned)answer->outcome <= RPC_CANCELLED ? outcomes[answer->outcome]
                                                            : "no answer");
        return;
    }
    name = rpc_status_name(answer->header->status);
    snprintf(text, VERDICT_TEXT, "the server refuses the call: RPC %s",
             name ? name : "status unknown");
}

void verdict_text_malformed(const struct effect *e, char *text)
{
    struct bytes body = e->result_body;
    char path[WALK_PATH_MAX];
    struct walk w;

    if (walk(&w, e->procedure->result, body.data, body.len, body.len, false, NULL) == WALK_OK ||
        !w.problem)
        w.problem = "too short";
    snprintf(text, VERDICT_TEXT, "the reply is malformed: %.160s: %s", walk_path(&w, NULL, path),
             w.problem);
}

static void type_text(struct bytes value, char to[VALUE_TEXT])
{
    uint32_t type = load_be32(value.data);
    const struct value_name *name = ftype3_names;

    while (name->name && name->value != type)
        name++;
    if (!name->name)
        snprintf(to, VALUE_TEXT, "type %" PRIu32, type);
    else if (value.len == 12)
        snprintf(to, VALUE_TEXT, "%s %" PRIu32 ",%" PRIu32, name->name, load_be32(value.data + 4),
                 load_be32(value.data + 8));
    else
        snprintf(to, VALUE_TEXT, "%s", name->name);
}

static void link_text(struct bytes value, char to[VALUE_TEXT])
{
    struct bytes text = { value.data + 4, value.len - 4 < 20 ? value.len - 4 : 20 };
    struct buf out = { 0 };

    if (escape_name(text, true, &out) < 0)
        out.len = 0;
    snprintf(to, VALUE_TEXT, "\"%.*s%s\"", (int)out.len, out.data ? (const char *)out.data : "",
             value.len - 4 > text.len ? "..." : "");
    buf_free(&out);
}

/* |bit|: of a group that is not of attributes. */
static void other_text(unsigned bit, struct bytes value, char to[VALUE_TEXT])
{
    uint32_t first = load_be32(value.data);

    switch (1u << bit) {
    case EXPECT_IDENTITY:
        snprintf(to, VALUE_TEXT, first ? "%" PRIu32 : "another one", first);
        break;
    case EXPECT_ACCESS:
        snprintf(to, VALUE_TEXT, "0x%02" PRIx32, first);
        break;
    case EXPECT_TEXT:
        link_text(value, to);
        break;
    case EXPECT_READ:
        snprintf(to, VALUE_TEXT, "%" PRIu32 " bytes%s", first,
                 load_be32(value.data + 4) ? " to the end" : "");
        break;
    case EXPECT_NAMES:
        snprintf(to, VALUE_TEXT, "%" PRIu32 " (sum %016" PRIx64 ")", first,
                 load_be64(value.data + 4));
        break;
    default:
        snprintf(to, VALUE_TEXT, "sum %016" PRIx64, load_be64(value.data));
    }
}

static void value_text(unsigned bit, struct bytes value, char to[VALUE_TEXT])
{
    if (bit >= 4 * EXPECT_GROUPS) {
        other_text(bit, value, to);
        return;
    }
    switch (bit % EXPECT_GROUPS) {
    case EXPECT_TYPE:
        type_text(value, to);
        break;
    case EXPECT_MODE:
        snprintf(to, VALUE_TEXT, "%04" PRIo32, load_be32(value.data));
        break;
    case EXPECT_OWNER:
        snprintf(to, VALUE_TEXT, "%" PRIu32 ":%" PRIu32, load_be32(value.data),
                 load_be32(value.data + 4));
        break;
    case EXPECT_SIZE:
        snprintf(to, VALUE_TEXT, "%" PRIu64, load_be64(value.data));
        break;
    default:
        snprintf(to, VALUE_TEXT, "%" PRIu32, load_be32(value.data));
    }
}

void verdict_text_group(unsigned bit, struct bytes expected, struct bytes got, char *text)
{
    static const char *const whose[] = { "the object", "the directory", "the second directory",
                                         "what was found or made" };
    static const char *const groups[] = { "type",       "mode", "owner",
                                          "link count", "size", "link count" };
    static const char *const others[] = {
        "object found or made", "rights granted", "text of the link",
        "length of the data",   "names",          "names with their objects",
    };
    char a[VALUE_TEXT], b[VALUE_TEXT];

    value_text(bit, expected, a);
    value_text(bit, got, b);
    if (bit < 4 * EXPECT_GROUPS)
        snprintf(text, VERDICT_TEXT, "%s of %s: %s in the trace, %s here",
                 groups[bit % EXPECT_GROUPS], whose[bit / EXPECT_GROUPS], a, b);
    else
        snprintf(text, VERDICT_TEXT, "%s: %s in the trace, %s here",
                 others[bit - 4 * EXPECT_GROUPS], a, b);
}
