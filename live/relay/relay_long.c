/* SPDX-License-Identifier: GPL-2.0-or-later */
/* live/relay/relay_long.c
 *
 * Contents of READs and WRITEs: they are read into the ring itself and sent from there, since a
 * second copy of so many bytes takes longer than all else that the relay does.  No other process
 * can change them there (ring.h).
 */
#include "relay/relay_parts.h"

#include <errno.h>
#include <sys/ioctl.h>

enum {
    LONG = 16 << 10, /* bytes */
    LONG_FOR = 16,   /* reads after a long one before which it is looked how long they are */
    TURNS = 8,       /* of one connection, before others have theirs */
};

void relay_long_note(struct pass *pass, uint32_t got)
{
    if (got >= LONG)
        pass->expects_long = LONG_FOR;
    else if (pass->expects_long)
        pass->expects_long--;
}

/* Passes on what is there, at most RELAY_CHUNK.  Returns what recv did. */
static ssize_t pass_on(struct pass *pass, int *result)
{
    struct pair *pair = pass->from->pair;
    uint32_t room;
    uint8_t *at = relay_copy_begin(pair, RELAY_CHUNK, &room);
    ssize_t got = recv(pass->from->fd, at, room, 0);
    int64_t time = relay_copy_clock();
    uint32_t len = got > 0 ? (uint32_t)got : 0;

    pass->more = len == room;
    if (len)
        *result = relay_send(pass, (struct bytes){ at, len }, len);
    relay_copy_end(pair, pass, len, time);
    if (len)
        relay_passed(pass, len);
    return got;
}

/* Whether the next read is a long one. */
static bool is_long(const struct pass *pass)
{
    int there = 0;

    return ioctl(pass->from->fd, FIONREAD, &there) == 0 && there >= LONG;
}

bool relay_long(struct pass *pass, int *result)
{
    ssize_t got = 1;

    if (!is_long(pass))
        return false;
    for (int turn = 0; turn < TURNS && got > 0; turn++) {
        got = pass_on(pass, result);
        if (*result != RELAY_GOES_ON || pass->held || (got > 0 && !pass->more))
            return true;
    }
    if (got < 0 && relay_is_gone(errno))
        *result = RELAY_RESET_BY_SENDER;
    return got != 0; /* the end is left to others */
}
