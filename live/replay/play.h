/* SPDX-License-Identifier: GPL-2.0-or-later */
/* live/replay/play.h
 *
 * Playing the dumps of a session on their targets: the trees are found, then the player has
 * everything that it needs.
 *
 *     play_new, play_run, play_free
 *
 * play_new is play_find, play_note_trees and play_open; programs of several ranks (live/mpi) do
 * something in between.
 *
 * Memory: what player.h says; the feeds' 32 MiB are shared by all dumps, but each has at least 1.
 */
#ifndef NFSDIGEST_REPLAY_PLAY_H
#define NFSDIGEST_REPLAY_PLAY_H

#include "player/player.h"
#include "replay/play_tree.h"
#include "replay/session.h"

struct play {
    struct session *session;
    struct play_tree *trees;   /* by dump of the session */
    struct player_dump *dumps; /* the same */
    struct tally *tally;
    struct player *player;
    /* Several ranks: as in player.h.  Set before play_run. */
    const struct player_others *others;
    int64_t begin;
    uint32_t outstanding; /* this rank's part of --outstanding and --connections */
    uint32_t connections;
    uint32_t beside; /* ranks on this machine: they share its processors */
    struct {
        int64_t at;
        uint64_t done, rate; /* |rate|: operations a second since the time before */
    } shown;                 /* when the progress was told last */
    bool stop;               /* set before play_run: nothing is sent */
    bool interrupted;
    bool shortened; /* --stop-after left operations off: they are no part of the run */
};

/* Finds the trees of all dumps, whose surveys must be made (play_tree.h). */
int play_new(struct play *play, struct session *session, struct tally *tally, struct err *err);
/* The parts of play_new: finds the trees; notes in them that they were played; opens the dumps. */
int play_find(struct play *play, struct session *session, struct tally *tally, struct err *err);
int play_note_trees(struct play *play, struct err *err);
int play_open(struct play *play, struct err *err);
/* Plays.  Returns 0, whatever the verdicts; as player_run. */
int play_run(struct play *play, struct err *err);
/* Says after play_run why it has not played all of the dumps, for report_run.note; "": it has. */
void play_note(const struct play *play, char *to, size_t size);
/* Where --partial ended dump |index| before its end, in words; or NULL. */
const char *play_damage(const struct play *play, uint32_t index);
/* After play_new, also if it failed. */
void play_free(struct play *play);

#endif
