"""Writes an archive of torch.export as another version of torch would have written it.

    other_torch.py GIVEN.pt2 WRITTEN.pt2
"""

import sys
import zipfile

given = zipfile.ZipFile(sys.argv[1])
with zipfile.ZipFile(sys.argv[2], "w") as other:
    for name in given.namelist():
        data = given.read(name)
        if name.endswith("models/model.json"):
            data = data.replace(b'"major": 8', b'"major": 7').replace(b'"torch_version": "2', b'"torch_version": "1')
        other.writestr(name, data)
