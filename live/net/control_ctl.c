/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "net/control.h"
#include "net/flat_json.h"
#include "net/local_socket.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <unistd.h>

static int write_line(int count, char **words, struct buf *line, struct err *err)
{
    struct json j = { .to = line };

    if (count > CONTROL_ARGUMENTS + 1)
        return err_set(err, ERR_USAGE, "more than %d arguments", CONTROL_ARGUMENTS);
    json_object(&j, NULL);
    json_text(&j, "command", words[0]);
    for (int i = 1; i < count; i++) {
        char place[12];

        snprintf(place, sizeof(place), "%d", i);
        json_text(&j, place, words[i]);
    }
    json_object_end(&j);
    json_end(&j);
    return j.failed ? err_memory(err, "the command") : 0;
}

/* One line, with a NUL in the place of its end. */
static int talk(int fd, const struct buf *line, struct buf *answer)
{
    for (size_t sent = 0; sent < line->len;) {
        ssize_t done = send(fd, line->data + sent, line->len - sent, MSG_NOSIGNAL);

        if (done < 0)
            return errno;
        sent += (size_t)done;
    }
    for (;;) {
        ssize_t got;

        if (buf_reserve(answer, 4096) < 0)
            return ENOMEM;
        got = recv(fd, answer->data + answer->len, 4096, 0);
        if (got <= 0)
            return got < 0 ? errno : ECONNRESET;
        answer->len += (size_t)got;
        if (answer->data[answer->len - 1] == '\n') {
            answer->data[answer->len - 1] = '\0';
            return 0;
        }
    }
}

int control_ctl(int count, char **words, FILE *out, struct err *err)
{
    struct buf line = { 0 }, answer = { 0 };
    struct flat_member member;
    int fd, error, result;

    if (count < 2)
        return err_set(err, ERR_USAGE,
                       "ctl PATH COMMAND [ARGUMENT...]; the command help lists "
                       "commands");
    if (write_line(count - 1, words + 1, &line, err) < 0) {
        buf_free(&line);
        return -err->code;
    }
    fd = local_socket_connect(words[0], NULL, CONTROL_PATIENCE, err);
    if (fd < 0) {
        buf_free(&line);
        return fd;
    }
    error = talk(fd, &line, &answer);
    close(fd);
    if (error == EAGAIN) {
        result = err_set(err, ERR_SYSTEM, "%s: no answer within %d s", words[0], CONTROL_PATIENCE);
    } else if (error) {
        result = err_set(err, ERR_SYSTEM, "%s: %s", words[0], strerror(error));
    } else if (strncmp((char *)answer.data, "{\"error\":", 9) == 0) {
        bool read = flat_json_read((char *)answer.data, answer.len - 1, &member, 1, NULL) == 1;

        result = err_set(err, ERR_USAGE, "%s", read && member.value ? member.value : "refused");
    } else {
        fprintf(out, "%s\n", (char *)answer.data);
        result = 0;
    }
    buf_free(&line);
    buf_free(&answer);
    return result;
}
