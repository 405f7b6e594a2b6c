"""Runs export.py several times in one process: a JSON list of argument lists in, codes and what was said out."""

import contextlib
import io
import json
import sys

sys.path.insert(0, sys.argv[1])
import export

results = []
for words in json.load(sys.stdin):
    said, complained = io.StringIO(), io.StringIO()
    with contextlib.redirect_stdout(said), contextlib.redirect_stderr(complained):
        code = export.main(words)
    results.append([code, said.getvalue(), complained.getvalue()])
print(json.dumps(results))
