# SPDX-License-Identifier: GPL-2.0-or-later
"""Functions of Arrow by their names, without the import of pyarrow.compute, which describes all of them, nor that of
pyarrow.acero (group_by), which loads data sets: 0.1 s of each run of nfsdigest.parquet.

What RecordBatch.filter, Table.take and others call imports pyarrow.compute, too.
"""

try:
    from pyarrow._compute import call_function
except ImportError:  # where it is documented
    from pyarrow.compute import call_function


def call(name, *arguments):
    """Arrow's function |name| with its default options."""
    return call_function(name, list(arguments))
