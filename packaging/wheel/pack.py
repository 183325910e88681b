"""Packs a folder as a wheel (PyPA's binary distribution format 1.0). The same files give the same bytes.

    python3 pack.py FOLDER FILE.whl UNIX-TIME METHOD

METHOD is one of zipfile's: ZIP_DEFLATED, or ZIP_STORED, which is quick.
"""

import base64
import hashlib
import os
import sys
import time
import zipfile

folder, wheel, unix_time, method = sys.argv[1:]
date = time.gmtime(int(unix_time))[:6]
names = sorted(
    os.path.relpath(os.path.join(at, name), folder) for at, _, files in os.walk(folder) for name in files
)
[info] = [name for name in names if name.endswith(".dist-info/METADATA")]
record = os.path.join(os.path.dirname(info), "RECORD")
lines = []
with zipfile.ZipFile(wheel, "w") as archive:

    def add(name: str, content: bytes, mode: int) -> None:
        entry = zipfile.ZipInfo(name, date)
        entry.external_attr = (0o100000 | mode) << 16
        archive.writestr(entry, content, getattr(zipfile, method))

    for name in names:
        path = os.path.join(folder, name)
        with open(path, "rb") as file:
            content = file.read()
        digest = base64.urlsafe_b64encode(hashlib.sha256(content).digest()).rstrip(b"=").decode()
        lines.append(f"{name},sha256={digest},{len(content)}\n")
        add(name, content, os.stat(path).st_mode & 0o777)
    add(record, "".join([*lines, f"{record},,\n"]).encode(), 0o644)
