"""Writes an archive of torch.export with its program `model` twice, as `one` and as `two`.

    two_programs.py GIVEN.pt2 WRITTEN.pt2
"""

import sys
import zipfile

given = zipfile.ZipFile(sys.argv[1])
with zipfile.ZipFile(sys.argv[2], "w") as written:
    for name in given.namelist():
        folder, slash, file = name.rpartition("/")
        names = [file.replace("model", each, 1) for each in ("one", "two")] if file.startswith("model") else [file]
        for each in names:
            written.writestr(folder + slash + each, given.read(name))
