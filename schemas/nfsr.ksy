# SPDX-License-Identifier: GPL-2.0-or-later
meta:
  id: nfsr
  title: nfsdigest record stream, version 1
  file-extension: nfsr
  license: GPL-2.0-or-later
  ks-version: '0.10'
  endian: le
doc: |
  What nfsdigest found in a capture; schemas/nfsr.md is the specification.  Kaitai Struct can neither
  verify the checksums nor add up the differences (frame, time, operation): your program must do
  both.  A bool has no bytes: it is an instance here.
seq:
  - id: header
    type: header
  - id: blocks
    type: block
    repeat: eos
enums:
  record_kind:
    1: flow
    2: credential
    3: object
    4: path
    5: name
    6: operation
    7: repeat
    8: problem
    9: counter
    10: end
    11: contents
    12: connection_event
types:
  header:
    seq:
      - id: magic
        contents: [0x89, 0x4e, 0x46, 0x53, 0x52, 0x0d, 0x0a, 0x1a]
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
        contents: [0x4e, 0x46, 0x52, 0x42]
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
            'record_kind::flow': flow_record
            'record_kind::credential': credential_record
            'record_kind::object': object_record
            'record_kind::path': path_record
            'record_kind::name': name_record
            'record_kind::operation': operation_record
            'record_kind::repeat': repeat_record
            'record_kind::problem': problem_record
            'record_kind::counter': counter_record
            'record_kind::end': end_record
            'record_kind::contents': contents_record
            'record_kind::connection_event': connection_event_record
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
  address:
    seq:
      - id: version
        type: u1
        valid:
          any-of: [4, 6]
      - id: data
        size: 'version == 4 ? 4 : 16'
  flow_record:
    seq:
      - id: present
        type: presence
      - id: id
        type: varint
        if: (present.group0 & 0x01) != 0
      - id: transport
        type: varint
        if: (present.group0 & 0x02) != 0
      - id: client
        type: address
        if: (present.group0 & 0x04) != 0
      - id: server
        type: address
        if: (present.group0 & 0x08) != 0
      - id: client_port
        type: varint
        if: (present.group0 & 0x10) != 0
      - id: server_port
        type: varint
        if: (present.group0 & 0x20) != 0
      - id: frame
        type: difference
        if: (present.group0 & 0x40) != 0
      - id: time
        type: difference
        if: (present.group1 & 0x01) != 0
  credential_record:
    seq:
      - id: present
        type: presence
      - id: id
        type: varint
        if: (present.group0 & 0x01) != 0
      - id: flavor
        type: varint
        if: (present.group0 & 0x02) != 0
      - id: uid
        type: varint
        if: (present.group0 & 0x08) != 0
      - id: gid
        type: varint
        if: (present.group0 & 0x10) != 0
      - id: stamp
        type: varint
        if: (present.group0 & 0x20) != 0
      - id: gids
        type: blob
        if: (present.group0 & 0x40) != 0
      - id: machine
        type: blob
        if: (present.group1 & 0x01) != 0
      - id: gss_service
        type: varint
        if: (present.group1 & 0x02) != 0
      - id: body
        type: blob
        if: (present.group1 & 0x04) != 0
    instances:
      valid:
        value: (present.group0 & 0x04) != 0
  object_record:
    seq:
      - id: present
        type: presence
      - id: id
        type: varint
        if: (present.group0 & 0x01) != 0
      - id: server
        type: address
        if: (present.group0 & 0x02) != 0
      - id: handle
        type: blob
        if: (present.group0 & 0x04) != 0
      - id: type
        type: varint
        if: (present.group0 & 0x08) != 0
      - id: fsid
        type: varint
        if: (present.group0 & 0x10) != 0
      - id: fileid
        type: varint
        if: (present.group0 & 0x20) != 0
      - id: frame
        type: difference
        if: (present.group0 & 0x40) != 0
      - id: time
        type: difference
        if: (present.group1 & 0x01) != 0
  path_record:
    seq:
      - id: present
        type: presence
      - id: id
        type: varint
        if: (present.group0 & 0x01) != 0
      - id: parent
        type: varint
        if: (present.group0 & 0x02) != 0
      - id: object
        type: varint
        if: (present.group0 & 0x04) != 0
      - id: name
        type: blob
        if: (present.group0 & 0x08) != 0
  name_record:
    seq:
      - id: present
        type: presence
      - id: event
        type: varint
        if: (present.group0 & 0x01) != 0
      - id: parent
        type: varint
        if: (present.group0 & 0x02) != 0
      - id: name
        type: blob
        if: (present.group0 & 0x04) != 0
      - id: object
        type: varint
        if: (present.group0 & 0x08) != 0
      - id: operation
        type: difference
        if: (present.group0 & 0x10) != 0
      - id: time
        type: difference
        if: (present.group0 & 0x20) != 0
  operation_record:
    seq:
      - id: present
        type: presence
      - id: id
        type: difference
        if: (present.group0 & 0x01) != 0
      - id: flow
        type: varint
        if: (present.group0 & 0x02) != 0
      - id: xid
        type: varint
        if: (present.group0 & 0x04) != 0
      - id: program
        type: varint
        if: (present.group0 & 0x08) != 0
      - id: version
        type: varint
        if: (present.group0 & 0x10) != 0
      - id: procedure
        type: varint
        if: (present.group0 & 0x20) != 0
      - id: pairing
        type: varint
        if: (present.group0 & 0x40) != 0
      - id: call_frame
        type: difference
        if: (present.group1 & 0x01) != 0
      - id: call_first_frame
        type: difference
        if: (present.group1 & 0x02) != 0
      - id: call_time
        type: difference
        if: (present.group1 & 0x04) != 0
      - id: call_wire_len
        type: varint
        if: (present.group1 & 0x08) != 0
      - id: call_flags
        type: varint
        if: (present.group1 & 0x10) != 0
      - id: reply_frame
        type: difference
        if: (present.group1 & 0x20) != 0
      - id: reply_first_frame
        type: difference
        if: (present.group1 & 0x40) != 0
      - id: reply_time
        type: difference
        if: (present.group2 & 0x01) != 0
      - id: reply_wire_len
        type: varint
        if: (present.group2 & 0x02) != 0
      - id: reply_flags
        type: varint
        if: (present.group2 & 0x04) != 0
      - id: rpc_status
        type: zigzag
        if: (present.group2 & 0x08) != 0
      - id: status
        type: zigzag
        if: (present.group2 & 0x10) != 0
      - id: credential
        type: varint
        if: (present.group2 & 0x20) != 0
      - id: object
        type: varint
        if: (present.group2 & 0x40) != 0
      - id: object2
        type: varint
        if: (present.group3 & 0x01) != 0
      - id: new_object
        type: varint
        if: (present.group3 & 0x02) != 0
      - id: path
        type: varint
        if: (present.group3 & 0x04) != 0
      - id: path2
        type: varint
        if: (present.group3 & 0x08) != 0
      - id: depends_on
        type: varint
        if: (present.group3 & 0x10) != 0
      - id: offset
        type: varint
        if: (present.group3 & 0x20) != 0
      - id: count
        type: varint
        if: (present.group3 & 0x40) != 0
      - id: arguments
        type: blob
        if: (present.group4 & 0x01) != 0
      - id: result
        type: blob
        if: (present.group4 & 0x02) != 0
      - id: arguments_wire
        type: varint
        if: (present.group4 & 0x04) != 0
      - id: result_wire
        type: varint
        if: (present.group4 & 0x08) != 0
      - id: data_length
        type: varint
        if: (present.group4 & 0x10) != 0
      - id: data_digest
        size: 16
        if: (present.group4 & 0x20) != 0
      - id: counterpart_number
        type: varint
        if: (present.group4 & 0x40) != 0
      - id: counterpart_copy
        type: varint
        if: (present.group5 & 0x01) != 0
      - id: counterpart_conditions
        type: varint
        if: (present.group5 & 0x02) != 0
      - id: block_digests
        type: blob
        if: (present.group5 & 0x04) != 0
  repeat_record:
    seq:
      - id: present
        type: presence
      - id: operation
        type: difference
        if: (present.group0 & 0x01) != 0
      - id: repeat
        type: varint
        if: (present.group0 & 0x02) != 0
      - id: differs
        type: varint
        if: (present.group0 & 0x04) != 0
      - id: flow
        type: varint
        if: (present.group0 & 0x08) != 0
      - id: frame
        type: difference
        if: (present.group0 & 0x10) != 0
      - id: first_frame
        type: difference
        if: (present.group0 & 0x20) != 0
      - id: time
        type: difference
        if: (present.group0 & 0x40) != 0
      - id: wire_len
        type: varint
        if: (present.group1 & 0x01) != 0
      - id: flags
        type: varint
        if: (present.group1 & 0x02) != 0
  problem_record:
    seq:
      - id: present
        type: presence
      - id: problem
        type: varint
        if: (present.group0 & 0x01) != 0
      - id: frame
        type: difference
        if: (present.group0 & 0x02) != 0
      - id: time
        type: difference
        if: (present.group0 & 0x04) != 0
      - id: flow
        type: varint
        if: (present.group0 & 0x08) != 0
      - id: direction
        type: varint
        if: (present.group0 & 0x10) != 0
      - id: xid
        type: varint
        if: (present.group0 & 0x20) != 0
      - id: length
        type: varint
        if: (present.group0 & 0x40) != 0
      - id: text
        type: blob
        if: (present.group1 & 0x01) != 0
  counter_record:
    seq:
      - id: present
        type: presence
      - id: name
        type: blob
        if: (present.group0 & 0x01) != 0
      - id: value
        type: varint
        if: (present.group0 & 0x02) != 0
  end_record:
    seq:
      - id: present
        type: presence
      - id: frames
        type: varint
        if: (present.group0 & 0x01) != 0
      - id: operations
        type: varint
        if: (present.group0 & 0x02) != 0
      - id: calls
        type: varint
        if: (present.group0 & 0x04) != 0
      - id: replies
        type: varint
        if: (present.group0 & 0x08) != 0
      - id: repeats
        type: varint
        if: (present.group0 & 0x10) != 0
      - id: problems
        type: varint
        if: (present.group0 & 0x20) != 0
      - id: first_time
        type: difference
        if: (present.group0 & 0x40) != 0
      - id: last_time
        type: difference
        if: (present.group1 & 0x01) != 0
    instances:
      input_cut:
        value: (present.group1 & 0x02) != 0
  contents_record:
    seq:
      - id: present
        type: presence
      - id: operation
        type: varint
        if: (present.group0 & 0x01) != 0
      - id: position
        type: varint
        if: (present.group0 & 0x04) != 0
      - id: data
        type: blob
        if: (present.group0 & 0x08) != 0
    instances:
      is_reply:
        value: (present.group0 & 0x02) != 0
  connection_event_record:
    seq:
      - id: present
        type: presence
      - id: flow
        type: varint
        if: (present.group0 & 0x01) != 0
      - id: client
        type: address
        if: (present.group0 & 0x02) != 0
      - id: server
        type: address
        if: (present.group0 & 0x04) != 0
      - id: client_port
        type: varint
        if: (present.group0 & 0x08) != 0
      - id: server_port
        type: varint
        if: (present.group0 & 0x10) != 0
      - id: direction
        type: varint
        if: (present.group0 & 0x20) != 0
      - id: event
        type: varint
        if: (present.group0 & 0x40) != 0
      - id: frame
        type: varint
        if: (present.group1 & 0x01) != 0
      - id: last_frame
        type: varint
        if: (present.group1 & 0x02) != 0
      - id: time
        type: zigzag
        if: (present.group1 & 0x04) != 0
      - id: last_time
        type: zigzag
        if: (present.group1 & 0x08) != 0
      - id: count
        type: varint
        if: (present.group1 & 0x10) != 0
      - id: value
        type: varint
        if: (present.group1 & 0x20) != 0
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
      group5:
        value: 'groups.size > 5 ? groups[5].bits : 0'
