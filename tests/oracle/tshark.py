# SPDX-License-Identifier: GPL-2.0-or-later
"""What stock tshark decodes, message by message, as `field_dump` writes it.

PDML is the only output of tshark that says which message of a frame a field belongs to, in order
and with the bytes.  It is read line by line, for its writer begins a line with each element; a
parser of XML would take several times as long.
"""
import ctypes
import html
import io
import re
import subprocess
import tempfile

OPTIONS = ["-o", "tcp.desegment_tcp_streams:TRUE", "-o", "rpc.desegment_rpc_over_tcp:TRUE",
           "-o", "rpc.defragment_rpc_over_tcp:TRUE", "-o", "ip.defragment:TRUE",
           "-o", "nlm.msg_res_matching:FALSE", "-o", "nfs.file_name_snooping:FALSE"]
# Client ports below 1024 belong to other dissectors for tshark.
OPTIONS += [o for transport in ("tcp", "udp") for port in (111, 2049, 20048)
            for o in ("-d", "%s.port==%d,rpc" % (transport, port))]

NAME = re.compile(r'<field name="([^"]+)"')
SHOW = re.compile(r' show="([^"]*)"')
VALUE = re.compile(r' value="([^"]*)"')
SIZE = re.compile(r' size="(\d+)"')

# Names of the RPC header; the rest comes from the tables.
HEADER = ("rpc.auth.flavor", "rpc.auth.stamp", "rpc.auth.machinename", "rpc.auth.uid",
          "rpc.auth.gid", "rpc.replystat", "rpc.state_accept", "rpc.state_reject")


class XXH128(ctypes.Structure):
    _fields_ = [("low", ctypes.c_uint64), ("high", ctypes.c_uint64)]


XXHASH = ctypes.CDLL("libxxhash.so.0")
XXHASH.XXH3_128bits.restype = XXH128
XXHASH.XXH3_128bits.argtypes = [ctypes.c_char_p, ctypes.c_size_t]


def digest(data):
    """XXH3-128 in its canonical form, as records keep it for file contents."""
    h = XXHASH.XXH3_128bits(data, len(data))
    return "%016x%016x" % (h.high, h.low)


class Message:
    """|fields|: (name, value) in the order of the tree, of the wanted names only."""

    def __init__(self, frame):
        self.frame, self.xid, self.direction = frame, None, None
        self.program = self.version = self.procedure = None
        self.fields = []
        self.other = set()  # names that are shown of this message's bytes but not wanted
        self.leftover = False  # bytes behind the end of the message's type


def field_types():
    """Name -> FT_ type, of all fields that this tshark has."""
    out = subprocess.run(["tshark", "-G", "fields"], stdout=subprocess.PIPE,
                         stderr=subprocess.DEVNULL, check=True).stdout.decode("utf-8", "replace")
    rows = (line.split("\t") for line in out.splitlines())
    return {row[2]: row[3] for row in rows if row[0] == "F"}


def number(show):
    if show in ("True", "False"):  # since 4.2
        return int(show == "True")
    return int(show, 16) if show.startswith("0x") else int(show)


def elements(stream):
    """Lines, but a line break in a value (a file's name may have one) ends none."""
    part = ""
    for line in io.TextIOWrapper(stream, "utf-8", "replace", newline="\n"):
        if line.endswith(">\n"):
            yield part + line
            part = ""
        else:
            part += line
    if part.strip():
        raise ValueError("PDML ends within an element: %r" % part[:200])


class Reader:
    def __init__(self, wanted, data_names, types):
        """|data_names|: the fields with file contents, compared by length and digest."""
        self.wanted = set(wanted) | set(HEADER)
        self.data_names = set(data_names)
        self.numeric = {n for n in self.wanted
                        if types[n].startswith(("FT_UINT", "FT_INT")) or types[n] == "FT_BOOLEAN"}
        self.text = {n for n in self.wanted if types[n] == "FT_STRING"}

    def messages(self, capture, out_of_order):
        """Yields the messages that tshark finds in |capture|."""
        command = ["tshark", "-n", "-r", capture, "-T", "pdml", "-Y", "rpc",
                   "-J", "rpc nfs nfsacl mount portmap nlm",
                   "-o", "tcp.reassemble_out_of_order:" + str(out_of_order).upper()] + OPTIONS
        with tempfile.TemporaryFile() as complaints, subprocess.Popen(
                command, stdout=subprocess.PIPE, stderr=complaints) as process:
            yield from self.parse(elements(process.stdout))
            if process.wait() != 0:
                complaints.seek(0)
                raise RuntimeError("tshark %s: %s" % (capture, complaints.read().decode()))

    def parse(self, lines):
        message, frame, in_verifier = None, 0, False
        for line in lines:
            name = NAME.search(line)
            if name is None:
                if '<proto name="rpc"' in line:
                    if message and message.xid is not None:
                        yield message
                    message, in_verifier = Message(frame), False
                elif "</packet>" in line:
                    if message and message.xid is not None:
                        yield message
                    message = None
                elif message:
                    if ' show="Verifier"' in line:
                        in_verifier = True
                    elif "</proto>" in line:
                        in_verifier = False
                continue
            name = name[1]
            if name in self.wanted:
                if message and not (in_verifier and name.startswith("rpc.auth.")):
                    self.take(message, name, line)
            elif name == "num":
                frame = int(SHOW.search(line)[1])
            elif message and name.startswith("rpc."):
                self.take_header(message, name, line)
            elif message and ' hide="yes"' not in line and ' size="0"' not in line:
                if name in ("data", "data.data"):
                    message.leftover = True
                elif name != "filtered":
                    message.other.add(name)

    @staticmethod
    def take_header(message, name, line):
        if name == "rpc.xid":
            message.xid = number(SHOW.search(line)[1])
        elif name == "rpc.msgtyp":
            message.direction = ("call", "reply")[int(SHOW.search(line)[1])]
        elif name == "rpc.program" and message.program is None:
            message.program = int(SHOW.search(line)[1])
        elif name == "rpc.programversion" and message.version is None:
            message.version = int(SHOW.search(line)[1])
        elif name == "rpc.procedure" and message.procedure is None:
            message.procedure = int(SHOW.search(line)[1])

    def take(self, message, name, line):
        if ' hide="yes"' in line:
            return
        show, value = SHOW.search(line)[1], VALUE.search(line)
        value = value[1] if value else ""
        if name in self.numeric:
            shown = number(show)
            # What is shown must also be what stands there.
            if value and int(value, 16) != shown % (1 << 4 * len(value)):
                shown = "%d shown for %s" % (shown, value)
            message.fields.append((name, "n%s" % shown))
        elif name in self.data_names:
            data = bytes.fromhex(value)
            message.fields.append((name, "d%d:%s" % (len(data), digest(data) if data else "")))
        else:
            if name in self.text:
                data = bytes.fromhex(value)
                if data.isascii() and data.decode().isprintable() and \
                        html.unescape(show) != data.decode():
                    value = "%s shown as %s" % (value, show)
            message.fields.append((name, "x" + value))
