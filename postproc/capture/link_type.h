/* SPDX-License-Identifier: GPL-2.0-or-later */
/* postproc/capture/link_type.h
 *
 * Returns the LINKTYPE_ value of files for a DLT_ value of libpcap: some differ
 * (tcpdump.org/linktypes).
 */
#ifndef NFSDIGEST_CAPTURE_LINK_TYPE_H
#define NFSDIGEST_CAPTURE_LINK_TYPE_H

int link_type_of(int dlt);

#endif
