/* SPDX-License-Identifier: GPL-2.0-or-later */
/* plugins/nfsanon/anonymize.h */
#ifndef NFSDIGEST_NFSANON_ANONYMIZE_H
#define NFSDIGEST_NFSANON_ANONYMIZE_H

void anonymize_register(void); /* adds -z nfsanon */

#endif
