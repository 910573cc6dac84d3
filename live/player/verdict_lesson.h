/* SPDX-License-Identifier: GPL-2.0-or-later */
/* live/player/verdict_lesson.h
 *
 * What the reply to an operation has taught, as bytes for players that did not see it: the handle
 * of what it found or made, the size and the holes of a file, and the cookies of a listing.
 *
 *     flags     u8: LESSON_ bits
 *     object    u32: what was found or made, or 0   } LESSON_CONTENTS
 *     done      u32: bytes written                  } or LESSON_HANDLE
 *     type      u8: ftype3                          } LESSON_HANDLE: of |object|
 *     handle    u8 length, 1 to 64, and its bytes   }
 *     verifier  8 bytes                             } LESSON_COOKIES
 *     places    u32 count, and each: entries u32, cookie u64, names u32, sum u64, behind u64,
 *               bits u8 (1: |behind| is known, 2: an entry had no handle)
 *
 * All numbers are big-endian.  Most operations teach nothing; a WRITE 9 bytes.
 */
#ifndef NFSDIGEST_PLAYER_VERDICT_LESSON_H
#define NFSDIGEST_PLAYER_VERDICT_LESSON_H

#include "player/verdict.h"

enum { LESSON_HANDLE = 1, LESSON_CONTENTS = 2, LESSON_COOKIES = 4 };

/* Writes what the step, which ended with |verdict|, has taught; valid until the next one. */
int verdict_lesson(struct verdicts *verdicts, uint64_t number, const struct step *step,
                   const struct verdict *verdict, struct bytes *lesson, struct err *err);
/* Learns it as if the reply had come here.  -ERR_INPUT: it is not a lesson of this step. */
int verdict_taught(struct verdicts *verdicts, uint64_t number, const struct step *step,
                   struct bytes lesson, struct err *err);

#endif
