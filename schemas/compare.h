/* SPDX-License-Identifier: GPL-2.0-or-later */
/* schemas/compare.h
 *
 * By what a result of nfsdigest compare (compare.sql) is known: for the program that writes it and
 * the plugin that reads it.
 */
#ifndef NFSDIGEST_SCHEMAS_COMPARE_H
#define NFSDIGEST_SCHEMAS_COMPARE_H

enum {
    COMPARE_APPLICATION_ID = 0x4e465343, /* "NFSC"; PRAGMA application_id */
    COMPARE_VERSION = 4,                 /* of the schema; PRAGMA user_version */
};

#endif
