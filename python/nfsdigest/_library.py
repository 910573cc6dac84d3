# SPDX-License-Identifier: GPL-2.0-or-later
"""The functions of libnfsdigest (nfsdigest.h) for the rest of the package.

Python never touches single rows: it passes Arrow C streams on.
"""

import ctypes
import os


class Error(Exception):
    """What libnfsdigest says went wrong.  |code| is an exit code of nfsdigest: 2 usage, 3 bad
    input, 4 system."""

    def __init__(self, code, text):
        super().__init__(text)
        self.code = code


class ArrowArrayStream(ctypes.Structure):
    """struct ArrowArrayStream: four functions and the producer's own pointer."""


_RELEASE = ctypes.PYFUNCTYPE(None, ctypes.POINTER(ArrowArrayStream))
ArrowArrayStream._fields_ = [
    ("get_schema", ctypes.c_void_p),
    ("get_next", ctypes.c_void_p),
    ("get_last_error", ctypes.c_void_p),
    ("release", _RELEASE),
    ("private_data", ctypes.c_void_p),
]


def _load():
    try:  # find_library would run a compiler, and takes any version
        library = ctypes.CDLL(os.environ.get("NFSDIGEST_LIBRARY") or "libnfsdigest.so.0")
    except OSError as error:
        raise ImportError(f"{error}: install nfsdigest, or set NFSDIGEST_LIBRARY to the path of "
                          "libnfsdigest.so") from None
    text, stream = ctypes.c_char_p, ctypes.POINTER(ArrowArrayStream)
    for name, result, arguments in (
            ("open", ctypes.c_int, (text, ctypes.POINTER(text), ctypes.POINTER(ctypes.c_void_p))),
            ("close", None, (ctypes.c_void_p,)),
            ("error", text, (ctypes.c_void_p,)),
            ("stream", ctypes.c_int, (ctypes.c_void_p, text, text, ctypes.c_int64, stream)),
            ("note", text, (stream,)),
            ("table", text, (ctypes.c_uint,)),
            ("table_sql", text, (ctypes.c_uint,)),
            ("column", text, (text, ctypes.c_uint, ctypes.POINTER(text), ctypes.POINTER(text))),
            ("name_text", text, (text, ctypes.c_size_t, text, ctypes.c_size_t)),
            ("schema", text, ()),
            ("version", text, ())):
        function = getattr(library, "nfsdigest_" + name)
        function.restype, function.argtypes = result, arguments
    return library


library = _load()

_new = ctypes.pythonapi.PyCapsule_New
_new.restype, _new.argtypes = ctypes.py_object, (ctypes.c_void_p, ctypes.c_char_p, ctypes.c_void_p)
_get = ctypes.pythonapi.PyCapsule_GetPointer
_get.restype, _get.argtypes = ctypes.c_void_p, (ctypes.c_void_p, ctypes.c_char_p)
_NAME = b"arrow_array_stream"
NOT_UTF8 = "Arrow opens only files whose names are UTF-8: choose another name"
_live = {}  # structs that capsules point to, by their addresses


@ctypes.PYFUNCTYPE(None, ctypes.c_void_p)
def _destroy(capsule):
    stream = _live.pop(_get(capsule, _NAME), None)
    if stream is not None and stream.release:  # nobody has taken it
        stream.release(ctypes.byref(stream))


# capsules may outlive this module
ctypes.pythonapi.Py_IncRef(ctypes.py_object(_destroy))


def capsule(stream):
    """A PyCapsule that owns |stream|, as the Arrow PyCapsule interface wants it."""
    address = ctypes.addressof(stream)
    _live[address] = stream
    return _new(address, _NAME, ctypes.cast(_destroy, ctypes.c_void_p))


def is_utf8(name):
    """Arrow opens no other files."""
    try:
        os.fspath(name).encode()
    except UnicodeEncodeError:
        return False
    return True


def row_text(name):
    """A name of a file as tables have it: schemas/nfsr.md, "Text"."""
    name = os.fsencode(name)
    text = ctypes.create_string_buffer(4 * len(name) + 1)
    return library.nfsdigest_name_text(name, len(name), text, len(text)).decode()


class Handle:
    """An open trace."""

    def __init__(self, path, options):
        self.pointer = ctypes.c_void_p()
        array = (ctypes.c_char_p * (len(options) + 1))(*[os.fsencode(o) for o in options], None)
        code = library.nfsdigest_open(os.fsencode(path), array, ctypes.byref(self.pointer))
        if code < 0:
            raise self._error(code)

    def _error(self, code):
        return Error(-code, library.nfsdigest_error(self.pointer).decode(errors="replace"))

    def stream(self, table, columns, rows):
        if self.pointer.value is None:
            raise Error(2, "the trace was closed")
        stream = ArrowArrayStream()
        names = None if columns is None else ",".join(columns).encode()
        code = library.nfsdigest_stream(self.pointer, table.encode(), names, rows,
                                        ctypes.byref(stream))
        if code < 0:
            raise self._error(code)
        return stream

    def close(self):
        library.nfsdigest_close(self.pointer)
        self.pointer = ctypes.c_void_p()

    def __del__(self):
        if getattr(self, "pointer", None):
            self.close()


def tables():
    """The names of all tables, each with that in schemas/trace.sql."""
    number, found = 0, []
    while (name := library.nfsdigest_table(number)) is not None:
        found.append((name.decode(), library.nfsdigest_table_sql(number).decode()))
        number += 1
    return found


def columns(table):
    """(name, SQL expression, description or None) of each column."""
    number, found = 0, []
    sql, text = ctypes.c_char_p(), ctypes.c_char_p()
    while (name := library.nfsdigest_column(table.encode(), number, ctypes.byref(sql),
                                            ctypes.byref(text))) is not None:
        found.append((name.decode(), sql.value.decode(), text.value and text.value.decode()))
        number += 1
    return found


class _Selection(ctypes.Structure):
    _fields_ = [("table", ctypes.c_char_p), ("columns", ctypes.c_char_p)]


class _Struct(ctypes.Structure):
    """Room for a struct ArrowSchema (9 words) or ArrowArray (10)."""

    _fields_ = [("words", ctypes.c_uint64 * 10)]


for _name, _result, _arguments in (
        ("reader_open", ctypes.c_int, (ctypes.c_void_p, ctypes.POINTER(_Selection), ctypes.c_uint,
                                       ctypes.c_int64, ctypes.POINTER(ctypes.c_void_p))),
        ("reader_close", None, (ctypes.c_void_p,)),
        ("reader_schema", ctypes.c_int, (ctypes.c_void_p, ctypes.c_uint, ctypes.POINTER(_Struct))),
        ("reader_next", ctypes.c_int, (ctypes.c_void_p, ctypes.POINTER(ctypes.c_uint),
                                       ctypes.POINTER(_Struct))),
        ("reader_error", ctypes.c_char_p, (ctypes.c_void_p,)),
        ("reader_note", ctypes.c_char_p, (ctypes.c_void_p,))):
    _function = getattr(library, "nfsdigest_" + _name)
    _function.restype, _function.argtypes = _result, _arguments


class _Reader:
    """Batches of several tables, read in one pass."""

    def __init__(self, handle, selections, rows):
        array = (_Selection * len(selections))(
            *[(table.encode(), ",".join(names).encode()) for table, names in selections])
        self.pointer = ctypes.c_void_p()
        code = library.nfsdigest_reader_open(handle.pointer, array, len(selections), rows,
                                             ctypes.byref(self.pointer))
        if code < 0:
            raise handle._error(code)

    def _error(self, code):
        return Error(-code, library.nfsdigest_reader_error(self.pointer).decode(errors="replace"))

    def schema(self, number):
        import pyarrow

        out = _Struct()
        code = library.nfsdigest_reader_schema(self.pointer, number, ctypes.byref(out))
        if code < 0:
            raise self._error(code)
        return pyarrow.Schema._import_from_c(ctypes.addressof(out))

    def batches(self, schemas):
        import pyarrow

        number, out = ctypes.c_uint(), _Struct()
        while (code := library.nfsdigest_reader_next(self.pointer, ctypes.byref(number),
                                                     ctypes.byref(out))) > 0:
            yield number.value, pyarrow.RecordBatch._import_from_c(ctypes.addressof(out),
                                                                   schemas[number.value])
        if code < 0:
            raise self._error(code)

    def note(self):
        return library.nfsdigest_reader_note(self.pointer).decode(errors="replace")

    def __del__(self):
        if getattr(self, "pointer", None):
            library.nfsdigest_reader_close(self.pointer)


def read(handle, selections, rows):
    """Reads several tables in one pass: (schemas, iterator of (number, pyarrow.RecordBatch), function that says
    at the end where a file was cut)."""
    reader = _Reader(handle, selections, rows)
    schemas = [reader.schema(number) for number in range(len(selections))]
    return schemas, reader.batches(schemas), reader.note
