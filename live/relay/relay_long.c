/* SPDX-License-Identifier: GPL-2.0-or-later */
/* live/relay/relay_long.c
 *
 * Contents of READs and WRITEs: they are read into the ring itself and sent from there, since a
 * second copy of so many bytes takes longer than all else that the relay does.  No other process
 * can change them there (ring.h).
 */
#include "relay/relay_parts.h"

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

/* Passes on at most |want| bytes, which are there. */
static int pass_on(struct pass *pass, uint32_t want)
{
    struct pair *pair = pass->from->pair;
    uint32_t len;
    uint8_t *room = relay_copy_begin(pair, want, &len);
    ssize_t got = recv(pass->from->fd, room, len, 0);
    int64_t time = relay_copy_clock();
    int result = RELAY_GOES_ON;

    len = got > 0 ? (uint32_t)got : 0;
    if (len)
        result = relay_send(pass, (struct bytes){ room, len }, len);
    relay_copy_end(pair, pass, len, time);
    if (len)
        relay_passed(pass, len);
    return result;
}

bool relay_long(struct pass *pass, int *result)
{
    for (int turn = 0; turn < TURNS; turn++) {
        int there = 0;

        pass->more = false;
        if (ioctl(pass->from->fd, FIONREAD, &there) < 0 || there < LONG)
            return turn > 0 && there == 0;
        pass->more = true;
        *result = pass_on(pass, there < RELAY_CHUNK ? (uint32_t)there : RELAY_CHUNK);
        if (*result != RELAY_GOES_ON || pass->held)
            return true;
    }
    return true;
}
