"""Text to tokens, with a stand-in for the package ``tokenizers``: a letter is a token."""

import json
import subprocess
import sys
from pathlib import Path

import pytest
from neuron_llama.dataset import TokenDataset

from tests.jobs.parts import LLAMA

pytestmark = pytest.mark.programs

TOKENIZERS = """
class Tokenizer:
    @classmethod
    def from_file(cls, path):
        assert path.endswith("tokenizer.json")
        return cls()
    def token_to_id(self, token):
        return {"</s>": 2}.get(token)
    def get_vocab_size(self):
        return 300
    def encode(self, text):
        self.ids = list(text.encode())
        return self
"""


def prepare(folder: Path, *words: str) -> subprocess.CompletedProcess[str]:
    (folder / "tokenizers.py").write_text(TOKENIZERS)
    common = [f"--tokenizer={folder}/tokenizer.json", f"--output={folder}/tokens"]
    command = [sys.executable, str(LLAMA / "prepare.py"), *common, *words]
    return subprocess.run(command, env={"PYTHONPATH": str(folder)}, capture_output=True, text=True, check=False)


def test_documents_follow_one_another_each_with_its_end(tmp_path: Path) -> None:
    for name, texts in (("a", ["hi", ""]), ("b", ["é"])):
        lines = (json.dumps({"body": text, "url": "x"}, ensure_ascii=False) for text in texts)
        (tmp_path / f"{name}.jsonl").write_text("\n".join(lines))
    done = prepare(tmp_path, "--field=body", str(tmp_path / "a.jsonl"), str(tmp_path / "b.jsonl"))
    assert done.returncode == 0, done.stderr
    assert done.stdout == f"7 tokens in {tmp_path}/tokens\n"
    found = TokenDataset(tmp_path / "tokens")
    data = found.read(0, 7)
    assert (found.vocabulary, found.dtype) == (300, "uint16")
    assert [int.from_bytes(data[at : at + 2], "little") for at in range(0, 14, 2)] == [*b"hi", 2, 2, *"é".encode(), 2]


@pytest.mark.parametrize(
    ("line", "words", "message"),
    [
        ('{"text": 3}', [], "a.jsonl:1 must have text in 'text', got int"),
        ("[]", [], "a.jsonl:1 must be a JSON object with 'text', got TypeError"),
        ('{"body": "x"}', [], "a.jsonl:1 must be a JSON object with 'text', got KeyError('text')"),
        ('{"text": "x"}', ["--end-of-sequence=<end>"], "'--end-of-sequence' must be a token of"),
        ('{"text": "x"}', ["/none.jsonl"], "No such file or directory: '/none.jsonl'"),
    ],
)
def test_fails_with_a_sentence(tmp_path: Path, line: str, words: list[str], message: str) -> None:
    (tmp_path / "a.jsonl").write_text(line)
    done = prepare(tmp_path, str(tmp_path / "a.jsonl"), *words)
    assert done.returncode == 1
    assert message in done.stderr
    assert not (tmp_path / "tokens" / "dataset.json").exists()
