/* SPDX-License-Identifier: GPL-2.0-or-later */
/* postproc/ingest/anew.h
 *
 * A database that "nfsdigest ingest --follow" left unfinished, since it was killed or failed, can
 * not be continued: what the engine knew in the middle of a file is lost.  But it can be made again
 * from its files.
 */
#ifndef NFSDIGEST_INGEST_ANEW_H
#define NFSDIGEST_INGEST_ANEW_H

#include "base/err.h"

/* Removes a database that was left unfinished.  Returns 1 if it did, or 0 if there is no such
 * database, or it is finished.  Fails with ERR_INPUT if another process has it open, or if one of
 * its files is not there any more, or has other bytes at its beginning: only the database has then
 * what was in it. */
int anew_remove(const char *database, struct err *err);

#endif
