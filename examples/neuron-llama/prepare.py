#!/usr/bin/env python3
"""Turn text into the tokens that train.py reads: documents, one in each line of JSON, through a tokenizer.

    prepare.py --tokenizer /fsx/llama-2-7b-tokenizer/tokenizer.json --output /fsx/datasets/books FILE.jsonl...

Needs the package ``tokenizers``. A document ends with the end-of-sequence token; documents follow one another, and a
sequence of the training may hold the end of one and the beginning of the next.
"""

from __future__ import annotations

import argparse
import json
import sys
from pathlib import Path
from typing import TYPE_CHECKING, Any

from neuron_llama.dataset import DatasetError, write_dataset

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence


def documents(files: Sequence[Path], field: str) -> Iterator[str]:
    """Return the text of every line of every file.

    Raises:
        DatasetError: A line has no such text.
    """
    for path in files:
        with path.open(encoding="utf-8") as lines:
            for number, line in enumerate(lines, 1):
                try:
                    text = json.loads(line)[field]
                except (KeyError, TypeError, ValueError) as error:
                    raise DatasetError(
                        f"{path}:{number} must be a JSON object with {field!r}, got {error!r}"
                    ) from error
                if not isinstance(text, str):
                    raise DatasetError(f"{path}:{number} must have text in {field!r}, got {type(text).__name__}")
                yield text


def encoded(tokenizer: Any, texts: Iterator[str], end: int) -> Iterator[list[int]]:
    """Return the tokens of every text, and the end after them."""
    for text in texts:
        yield [*tokenizer.encode(text).ids, end]


def main(words: Sequence[str]) -> int:
    """Read, encode and write."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--tokenizer", type=Path, required=True, help="tokenizer.json")
    parser.add_argument("--output", type=Path, required=True, help="directory of the dataset, made here")
    parser.add_argument("--end-of-sequence", default="</s>", metavar="TOKEN", help="(default: %(default)s)")
    parser.add_argument("--field", default="text", help="of each line's object (default: %(default)s)")
    parser.add_argument("files", type=Path, nargs="+", metavar="FILE.jsonl")
    chosen = parser.parse_args(words)
    from tokenizers import Tokenizer  # noqa: PLC0415  --help needs none

    tokenizer = Tokenizer.from_file(str(chosen.tokenizer))
    end = tokenizer.token_to_id(chosen.end_of_sequence)
    if end is None:
        known = f"'--end-of-sequence' must be a token of {chosen.tokenizer}, got {chosen.end_of_sequence!r}"
        sys.stderr.write(f"prepare.py: {known}\n")
        return 1
    try:
        rows = encoded(tokenizer, documents(chosen.files, chosen.field), end)
        total = write_dataset(chosen.output, rows, vocabulary=tokenizer.get_vocab_size())
    except (DatasetError, OSError) as error:
        sys.stderr.write(f"prepare.py: {error}\n")
        return 1
    sys.stdout.write(f"{total} tokens in {chosen.output}\n")
    return 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
