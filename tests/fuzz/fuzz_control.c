/* SPDX-License-Identifier: GPL-2.0-or-later */
/* tests/fuzz/fuzz_control.c
 *
 * Any bytes as a line of a control socket.  The answer is one line, an object that says ok or
 * error; what the command was given comes back in it.
 */
#include <stdlib.h>
#include <string.h>

#include "net/control_parts.h"
#include "net/flat_json.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static int on_echo(void *ctx, const struct control_request *request, struct json *answer,
                   struct err *err)
{
    (void)ctx;
    (void)err;
    json_text(answer, "first", control_argument(request, "first"));
    json_text(answer, "second", control_argument(request, "second"));
    return 0;
}

static const struct control_command commands[] = { { "e", "first [second]", "", on_echo } };

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    struct control_table table = { commands, 1, NULL };
    struct control_commands all = { &table, 1, 1 };
    struct flat_member members[3];
    struct buf out = { 0 };
    char *line = malloc(size + 1);
    int count;

    if (!line)
        abort();
    if (size)
        memcpy(line, data, size);
    line[size] = '\0';
    if (control_line(&all, line, size, &out) < 0 || out.len < 3 ||
        memchr(out.data, '\n', out.len) != out.data + out.len - 1)
        abort();
    out.data[out.len - 1] = '\0';
    if (!strstr((char *)out.data, "\"commands\":[")) { /* help nests */
        count = flat_json_read((char *)out.data, out.len - 1, members, 3, NULL);
        if (count < 1 || (strcmp(members[0].name, "ok") != 0 &&
                          (strcmp(members[0].name, "error") != 0 || count != 1)))
            abort();
    }
    buf_free(&out);
    free(line);
    return 0;
}
