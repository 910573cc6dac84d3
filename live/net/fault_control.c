/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "net/fault_control.h"
#include "base/values.h"

#include <string.h>

static int on_add(void *ctx, const struct control_request *request, struct json *answer,
                  struct err *err)
{
    struct faults *faults = ctx;
    uint32_t number;

    if (faults_add(faults, control_argument(request, "rule"), &number, err) < 0)
        return -err->code;
    json_u64(answer, "number", number);
    json_text(answer, "rule", faults_info(faults, faults_count(faults) - 1).text);
    return 0;
}

static int on_list(void *ctx, const struct control_request *request, struct json *answer,
                   struct err *err)
{
    const struct faults *faults = ctx;

    (void)request;
    (void)err;
    json_array(answer, "faults");
    for (uint32_t i = 0; i < faults_count(faults); i++) {
        struct fault_info info = faults_info(faults, i);

        json_object(answer, NULL);
        json_u64(answer, "number", info.number);
        json_text(answer, "rule", info.text);
        json_u64(answer, "requests", info.requests);
        json_u64(answer, "hits", info.hits);
        json_object_end(answer);
    }
    json_array_end(answer);
    return 0;
}

static int on_remove(void *ctx, const struct control_request *request, struct json *answer,
                     struct err *err)
{
    const char *text = control_argument(request, "number");
    uint64_t number;

    (void)answer;
    if (!parse_number(text, &number) || number > UINT32_MAX)
        return err_set(err, ERR_USAGE, "fault-remove: \"%.40s\" is not a fault's number", text);
    return faults_remove(ctx, (uint32_t)number, err);
}

static int on_clear(void *ctx, const struct control_request *request, struct json *answer,
                    struct err *err)
{
    (void)request;
    (void)err;
    json_u64(answer, "removed", faults_count(ctx));
    faults_clear(ctx);
    return 0;
}

/* The words of rules, an element a line. */
static int on_help(void *ctx, const struct control_request *request, struct json *answer,
                   struct err *err)
{
    struct buf help = { 0 };

    (void)request;
    if (fault_help(ctx, &help) < 0) {
        buf_free(&help);
        return err_memory(err, "the help");
    }
    json_array(answer, "words");
    for (size_t at = 0; at < help.len;) {
        uint8_t *end = memchr(help.data + at, '\n', help.len - at);

        *end = '\0'; /* each line has one */
        json_text(answer, NULL, (char *)help.data + at);
        at = (size_t)(end - help.data) + 1;
    }
    json_array_end(answer);
    buf_free(&help);
    return 0;
}

int fault_control_add(struct control *control, struct faults *faults, struct err *err)
{
    static const struct control_command commands[] = {
        { "fault-add", "rule", "inject a fault from now on", on_add },
        { "fault-list", NULL, "show the faults and how often each was met", on_list },
        { "fault-remove", "number", "remove a fault", on_remove },
        { "fault-clear", NULL, "remove all faults", on_clear },
        { "fault-help", NULL, "show the words of a fault", on_help },
    };

    return control_add(control, commands, sizeof(commands) / sizeof(*commands), faults, err);
}
