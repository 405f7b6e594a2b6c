"""The files of a tokenizer, from where it was taken for the training."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING

from model_export import ExportError

if TYPE_CHECKING:
    from pathlib import Path

ONE_OF = ("tokenizer.json", "tokenizer.model")
NEEDED = ("tokenizer_config.json",)
OTHERS = ("special_tokens_map.json", "added_tokens.json", "chat_template.jinja", "generation_config.json")


def tokenizer_files(directory: Path, vocabulary: int) -> list[Path]:
    """Return the files that a server needs.

    Raises:
        ExportError: Some are missing, or the tokenizer has tokens that the model does not know.
    """
    there = [directory / name for name in (*ONE_OF, *NEEDED, *OTHERS) if (directory / name).is_file()]
    names = {path.name for path in there}
    missing = [name for name in NEEDED if name not in names]
    if not names & set(ONE_OF):
        missing.insert(0, " or ".join(ONE_OF))
    if missing:
        raise ExportError(f"'--tokenizer' must be a directory with {' and '.join(missing)}, got {directory}")
    if "tokenizer.json" in names:
        found = json.loads((directory / "tokenizer.json").read_text(encoding="utf-8"))
        highest = max(_numbers(found), default=-1)
        if highest >= vocabulary:
            raise ExportError(
                f"'--tokenizer' must have no token above 'vocab_size' of the model ({vocabulary}), got {highest} in "
                f"{directory}; it is another model's"
            )
    return there


def _numbers(found: dict[str, object]) -> list[int]:
    added = found.get("added_tokens")
    numbers = [int(token["id"]) for token in added] if isinstance(added, list) else []
    model = found.get("model")
    words = model.get("vocab") if isinstance(model, dict) else None
    if isinstance(words, dict):
        numbers += [int(number) for number in words.values()]
    elif isinstance(words, list):
        numbers.append(len(words) - 1)
    return numbers
