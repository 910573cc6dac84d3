# SPDX-License-Identifier: GPL-2.0-or-later
meta:
  id: rdump
  title: nfsdigest replay dump, version 2
  file-extension: rdump
  license: GPL-2.0-or-later
  ks-version: '0.10'
  endian: le
doc: |
  A trace that is ready for replay; schemas/rdump.md is the specification.  Kaitai Struct can neither
  verify the checksums nor add up the differences (time, operation, and numbers of a list): your
  program must do both.
seq:
  - id: header
    type: header
  - id: blocks
    type: block
    repeat: eos
enums:
  record_kind:
    1: trace
    2: host
    3: credential
    4: object
    5: entry
    6: operation
    7: end
types:
  header:
    seq:
      - id: magic
        contents: [0x89, 0x4e, 0x46, 0x52, 0x44, 0x0d, 0x0a, 0x1a]
      - id: major
        type: u2
        valid: 1
      - id: minor
        type: u2
      - id: len_layout
        type: u4
        valid:
          max: 65536
      - id: layout
        type: str
        size: len_layout
        encoding: ASCII
      - id: checksum
        type: u8
  block:
    seq:
      - id: marker
        contents: [0x4e, 0x46, 0x44, 0x42]
      - id: kind
        type: u4
      - id: sequence
        type: u8
      - id: num_records
        type: u4
      - id: len_payload
        type: u4
        valid:
          max: 16777216
      - id: payload
        size: len_payload
        type:
          switch-on: kind
          cases:
            1: records
      - id: checksum
        type: u8
  records:
    seq:
      - id: records
        type: record
        repeat: expr
        repeat-expr: _parent.num_records
  record:
    seq:
      - id: kind
        type: u1
        enum: record_kind
      - id: len_body
        type: varint
      - id: body
        size: len_body.value
        type:
          switch-on: kind
          cases:
            'record_kind::trace': trace_record
            'record_kind::host': host_record
            'record_kind::credential': credential_record
            'record_kind::object': object_record
            'record_kind::entry': entry_record
            'record_kind::operation': operation_record
            'record_kind::end': end_record
  varint:
    seq:
      - id: groups
        type: group
        repeat: until
        repeat-until: not _.more
    instances:
      value:
        value: >-
          (groups[0].bits.as<u8>
          + (groups.size > 1 ? groups[1].bits.as<u8> << 7 : 0)
          + (groups.size > 2 ? groups[2].bits.as<u8> << 14 : 0)
          + (groups.size > 3 ? groups[3].bits.as<u8> << 21 : 0)
          + (groups.size > 4 ? groups[4].bits.as<u8> << 28 : 0)
          + (groups.size > 5 ? groups[5].bits.as<u8> << 35 : 0)
          + (groups.size > 6 ? groups[6].bits.as<u8> << 42 : 0)
          + (groups.size > 7 ? groups[7].bits.as<u8> << 49 : 0)
          + (groups.size > 8 ? groups[8].bits.as<u8> << 56 : 0)
          + (groups.size > 9 ? groups[9].bits.as<u8> << 63 : 0)).as<u8>
  group:
    seq:
      - id: byte
        type: u1
    instances:
      more:
        value: (byte & 0x80) != 0
      bits:
        value: byte & 0x7f
  zigzag:
    seq:
      - id: raw
        type: varint
    instances:
      value:
        value: '(raw.value % 2 == 0 ? raw.value / 2 : -1 - raw.value / 2).as<s8>'
  difference:
    doc: A zigzag number. Add it to the last value of the same type in the block.
    seq:
      - id: raw
        type: varint
    instances:
      value:
        value: '(raw.value % 2 == 0 ? raw.value / 2 : -1 - raw.value / 2).as<s8>'
  blob:
    seq:
      - id: len_data
        type: varint
      - id: data
        size: len_data.value
  list:
    doc: The number to add to the number before it.
    seq:
      - id: num_steps
        type: varint
      - id: steps
        type: varint
        repeat: expr
        repeat-expr: num_steps.value
  trace_record:
    seq:
      - id: present
        type: presence
      - id: time
        type: difference
        if: (present.group0 & 0x01) != 0
      - id: horizon
        type: varint
        if: (present.group0 & 0x02) != 0
      - id: fine
        type: varint
        if: (present.group0 & 0x04) != 0
      - id: copies
        type: varint
        if: (present.group0 & 0x08) != 0
      - id: tool
        type: blob
        if: (present.group0 & 0x10) != 0
      - id: selection
        type: blob
        if: (present.group0 & 0x20) != 0
      - id: results
        type: varint
        if: (present.group0 & 0x40) != 0
  host_record:
    seq:
      - id: present
        type: presence
      - id: number
        type: varint
        if: (present.group0 & 0x01) != 0
      - id: address
        type: blob
        if: (present.group0 & 0x02) != 0
  credential_record:
    seq:
      - id: present
        type: presence
      - id: number
        type: varint
        if: (present.group0 & 0x01) != 0
      - id: flavor
        type: varint
        if: (present.group0 & 0x02) != 0
      - id: uid
        type: varint
        if: (present.group0 & 0x04) != 0
      - id: gid
        type: varint
        if: (present.group0 & 0x08) != 0
      - id: gids
        type: blob
        if: (present.group0 & 0x10) != 0
      - id: machine
        type: blob
        if: (present.group0 & 0x20) != 0
  object_record:
    seq:
      - id: present
        type: presence
      - id: number
        type: varint
        if: (present.group0 & 0x01) != 0
      - id: server
        type: varint
        if: (present.group0 & 0x02) != 0
      - id: type
        type: varint
        if: (present.group0 & 0x04) != 0
      - id: knows
        type: varint
        if: (present.group0 & 0x08) != 0
      - id: mode
        type: varint
        if: (present.group0 & 0x10) != 0
      - id: uid
        type: varint
        if: (present.group0 & 0x20) != 0
      - id: gid
        type: varint
        if: (present.group0 & 0x40) != 0
      - id: nlink
        type: varint
        if: (present.group1 & 0x01) != 0
      - id: rdev_major
        type: varint
        if: (present.group1 & 0x02) != 0
      - id: rdev_minor
        type: varint
        if: (present.group1 & 0x04) != 0
      - id: size
        type: varint
        if: (present.group1 & 0x08) != 0
      - id: atime
        type: difference
        if: (present.group1 & 0x10) != 0
      - id: mtime
        type: difference
        if: (present.group1 & 0x20) != 0
      - id: ctime
        type: difference
        if: (present.group1 & 0x40) != 0
      - id: link
        type: blob
        if: (present.group2 & 0x01) != 0
      - id: root
        type: blob
        if: (present.group2 & 0x02) != 0
      - id: source
        type: zigzag
        if: (present.group2 & 0x04) != 0
      - id: copy
        type: varint
        if: (present.group2 & 0x08) != 0
      - id: used
        type: varint
        if: (present.group2 & 0x10) != 0
  entry_record:
    seq:
      - id: present
        type: presence
      - id: parent
        type: varint
        if: (present.group0 & 0x01) != 0
      - id: object
        type: varint
        if: (present.group0 & 0x02) != 0
      - id: name
        type: blob
        if: (present.group0 & 0x04) != 0
  operation_record:
    seq:
      - id: present
        type: presence
      - id: source
        type: difference
        if: (present.group0 & 0x01) != 0
      - id: inferred
        type: varint
        if: (present.group0 & 0x02) != 0
      - id: unplayable
        type: varint
        if: (present.group0 & 0x04) != 0
      - id: time
        type: difference
        if: (present.group0 & 0x08) != 0
      - id: latency
        type: zigzag
        if: (present.group0 & 0x10) != 0
      - id: client
        type: varint
        if: (present.group0 & 0x20) != 0
      - id: server
        type: varint
        if: (present.group0 & 0x40) != 0
      - id: credential
        type: varint
        if: (present.group1 & 0x01) != 0
      - id: procedure
        type: varint
        if: (present.group1 & 0x02) != 0
      - id: status
        type: varint
        if: (present.group1 & 0x04) != 0
      - id: made
        type: varint
        if: (present.group1 & 0x08) != 0
      - id: arguments
        type: blob
        if: (present.group1 & 0x10) != 0
      - id: mask
        type: varint
        if: (present.group1 & 0x20) != 0
      - id: digest
        type: u8be
        if: (present.group1 & 0x40) != 0
      - id: dependencies
        type: list
        if: (present.group2 & 0x01) != 0
      - id: copy
        type: varint
        if: (present.group2 & 0x02) != 0
      - id: links
        type: blob
        if: (present.group2 & 0x04) != 0
      - id: cookie_from
        type: varint
        if: (present.group2 & 0x08) != 0
      - id: cookie_entries
        type: varint
        if: (present.group2 & 0x10) != 0
      - id: cookies
        type: list
        if: (present.group2 & 0x20) != 0
      - id: forget
        type: list
        if: (present.group2 & 0x40) != 0
      - id: results
        type: blob
        if: (present.group3 & 0x01) != 0
      - id: names
        type: blob
        if: (present.group3 & 0x02) != 0
  end_record:
    seq:
      - id: present
        type: presence
      - id: hosts
        type: varint
        if: (present.group0 & 0x01) != 0
      - id: credentials
        type: varint
        if: (present.group0 & 0x02) != 0
      - id: objects
        type: varint
        if: (present.group0 & 0x04) != 0
      - id: entries
        type: varint
        if: (present.group0 & 0x08) != 0
      - id: operations
        type: varint
        if: (present.group0 & 0x10) != 0
      - id: inferred
        type: varint
        if: (present.group0 & 0x20) != 0
      - id: unplayable
        type: varint
        if: (present.group0 & 0x40) != 0
      - id: dependencies
        type: varint
        if: (present.group1 & 0x01) != 0
      - id: last_time
        type: difference
        if: (present.group1 & 0x02) != 0
  presence:
    doc: Bit i, in groups of 7, is set if field i is present.
    seq:
      - id: groups
        type: group
        repeat: until
        repeat-until: not _.more
    instances:
      group0:
        value: groups[0].bits
      group1:
        value: 'groups.size > 1 ? groups[1].bits : 0'
      group2:
        value: 'groups.size > 2 ? groups[2].bits : 0'
      group3:
        value: 'groups.size > 3 ? groups[3].bits : 0'
      group4:
        value: 'groups.size > 4 ? groups[4].bits : 0'
