"""The jobs' own programs, importable as far as they need nothing."""

import sys

from tests.jobs.parts import EXPORT, LLAMA

for folder in (LLAMA, EXPORT):  # as Python does with the folder of a program that it starts
    if str(folder) not in sys.path:
        sys.path.append(str(folder))
