/* SPDX-License-Identifier: GPL-2.0-or-later */
/* engine/record/compare_file.h
 *
 * The numbers that identify a result of nfsdigest compare (schemas/compare.sql), for the program
 * that writes it and the plugin that reads it.
 */
#ifndef NFSDIGEST_RECORD_COMPARE_FILE_H
#define NFSDIGEST_RECORD_COMPARE_FILE_H

enum {
    COMPARE_APPLICATION_ID = 0x4e465343, /* "NFSC"; PRAGMA application_id */
    COMPARE_VERSION = 7,                 /* of the schema; PRAGMA user_version */
};

#endif
