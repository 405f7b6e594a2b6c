"""Write the keywords of constructors, and what their docstrings say of them, from the specifications.

An option is declared in the specification (``spec.py`` of a room) and nowhere else. A function that says
``given(XSpec, locals())`` has the options of ``XSpec`` as keywords: type, default and the entry under ``Args:``
are written here. Keywords that the specification does not have, as ``network``, come first and are left alone.

``python -m tools.keywords`` says which files differ and exits with 1; ``--write`` renews them.
"""

import argparse
import ast
import re
import subprocess
import sys
import textwrap
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from difflib import unified_diff
from enum import Enum
from functools import partial
from importlib import import_module
from pathlib import Path
from types import NoneType, SimpleNamespace, UnionType
from typing import Annotated, Any, Final, Literal, Union, get_args, get_origin, get_type_hints

from cdk_trainyard.options.fields import Field, Said, docs_of, fields_of
from cdk_trainyard.options.judging import left_out
from cdk_trainyard.options.stand_ins import CDK_TYPES, Removal, Retention
from cdk_trainyard.real import REMOVAL, RETENTION

ROOT: Final = Path(__file__).parent.parent
PACKAGE: Final = ROOT / "constructs" / "cdk_trainyard"
WIDTH: Final = 120
_ENTRY: Final = re.compile(r"(\*{0,2}\w+): ")


def _named(name: str, stand_in: Any) -> Any:
    """Return what has the name of a type of CDK, or a module of such."""
    if isinstance(stand_in, SimpleNamespace):
        return SimpleNamespace(**{inner: _named(f"{name}.{inner}", each) for inner, each in vars(stand_in).items()})
    return type(name, (), {})


_NAMES: Final = {name: _named(name, stand_in) for name, stand_in in CDK_TYPES.items()}
"""Types of CDK as specifications write them."""


@dataclass(frozen=True, kw_only=True, slots=True)
class Keyword:
    """A keyword as source text.

    Attributes:
        name: Its name.
        annotation: Its type.
        default: Its default. None: it has none.
        doc: What it is.
    """

    name: str
    annotation: str
    default: str | None
    doc: str


def main(arguments: Sequence[str] | None = None) -> int:
    """Compare, or write, every source of the library."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--write", action="store_true", help="renew the files that differ")
    write = parser.parse_args(arguments).write
    different = {path: new for path in sources() if (new := renewed(old := path.read_text())) != old}
    for path, new in different.items():
        name = str(path.relative_to(ROOT))
        if write:
            path.write_text(new)
            print(name)
        else:
            print("\n".join(unified_diff(path.read_text().splitlines(), new.splitlines(), name, name, lineterm="")))
    return 1 if different and not write else 0


def sources() -> list[Path]:
    """Return the files in which constructs are given options."""
    return [path for path in sorted(PACKAGE.rglob("*.py")) if "locals()" in path.read_text()]


def renewed(source: str) -> str:
    """Return the text of a module with the keywords that the specifications declare."""
    edits = _edits(source)
    return _formatted(_edited(source, edits)) if edits else source


def by_hand(source: str) -> str:
    """Return the text of a module without what is written here."""
    return _edited(source, [(start, end, "") for start, end, _ in _edits(source)])


def _edits(source: str) -> list[tuple[int, int, str]]:
    """Return the places that are written here, and what belongs there."""
    tree = ast.parse(source)
    edits: list[tuple[int, int, str]] = []
    for function, docstring in _functions(tree):
        keywords = {each.name: each for spec, own in _given(tree, function) for each in keywords_of(spec, without=own)}
        if keywords:
            edits.append(_signature(source, function, keywords, _late_names(tree)))
            edits += _arguments(source, function, docstring, keywords)
    return edits


def _edited(source: str, edits: Sequence[tuple[int, int, str]]) -> str:
    for start, end, text in sorted(edits, reverse=True):
        source = source[:start] + text + source[end:]
    return source


def keywords_of(spec: type, *, without: frozenset[str] = frozenset()) -> Iterator[Keyword]:
    """Yield the options of a specification as keywords, those that are required first and those that it inherits last.

    Args:
        spec: The specification.
        without: Options that the constructor finds out itself.
    """
    hints, docs = get_type_hints(spec, localns=_NAMES, include_extras=True), docs_of(spec)
    own = spec.__annotations__
    for option in sorted(fields_of(spec).values(), key=lambda each: (not each.required, each.name not in own)):
        name, hint = option.name, hints[option.name]
        if name in without or any(isinstance(mark, Said) and not mark.python for mark in get_args(hint)[1:]):
            continue
        annotation = _annotation(hint) + (" | None" if left_out(option, None) else "")
        default = None if option.required else _default(spec, option)
        yield Keyword(name=name, annotation=annotation, default=default, doc=_doc(docs[name], option.default))


def _annotation(hint: Any) -> str:
    """Return a type as its source text, without the marks that only the library reads."""
    if get_origin(hint) is Annotated:
        return _annotation(get_args(hint)[0])
    if hint is NoneType or hint is ...:
        return {NoneType: "None", ...: "..."}[hint]
    origin, arguments = get_origin(hint), get_args(hint)
    if origin in {Union, UnionType}:
        return " | ".join(map(_annotation, arguments))
    if origin is Literal:
        return f"Literal[{', '.join(map(repr, arguments))}]"
    name = (origin or hint).__name__
    return f"{name}[{', '.join(map(_annotation, arguments))}]" if arguments else str(name)


def _default(spec: type, option: Field) -> str:
    if left_out(option, None):
        return "None"
    try:
        return _literal(option.default)
    except TypeError as error:
        raise TypeError(f"{spec.__name__}.{option.name} has a default that no signature can have: {error}") from None


def _literal(value: Any) -> str:
    """Return a default as its source text."""
    if isinstance(value, tuple):
        return f"({''.join(f'{_literal(item)}, ' for item in value)})"
    if isinstance(value, Enum):
        return f"{type(value).__name__}.{value.name}"
    if isinstance(value, Retention):
        return f"logs.RetentionDays.{RETENTION[value.value].name}"
    if isinstance(value, Removal):
        return f"RemovalPolicy.{REMOVAL[value.value].name}"
    if isinstance(value, str | int | float | None):
        return repr(value)
    raise TypeError(f"{value!r}; let it be None, or the option never None")


def _doc(doc: str, default: Any) -> str:
    """Return what is said of an option, with its default as Python spells it where a file spells it otherwise."""
    if isinstance(default, bool | Enum | Retention | Removal):
        spelled = _literal(default).rpartition(".")[2]
        return re.sub(r"Default: \S+\.$", f"Default: {spelled}.", doc)
    return doc


def _functions(tree: ast.Module) -> Iterator[tuple[ast.FunctionDef, ast.Constant | None]]:
    """Yield every function with the docstring that describes its keywords: for a constructor the class's."""
    outers: list[ast.Module | ast.ClassDef] = [
        tree,
        *(each for each in ast.walk(tree) if isinstance(each, ast.ClassDef)),
    ]
    for outer in outers:
        for node in outer.body:
            if isinstance(node, ast.FunctionDef):
                yield node, _docstring(outer if node.name == "__init__" else node)


def _docstring(node: ast.Module | ast.ClassDef | ast.FunctionDef) -> ast.Constant | None:
    match node.body:
        case [ast.Expr(ast.Constant(str()) as text), *_]:
            return text
    return None


def _given(tree: ast.Module, function: ast.FunctionDef) -> Iterator[tuple[type, frozenset[str]]]:
    """Yield the specifications that a function gives its keywords to, and the options that it finds out itself."""
    keywords = {each.arg for each in function.args.kwonlyargs}
    assigned = {
        target.id: node.value
        for node in ast.walk(function)
        if isinstance(node, ast.Assign)
        for target in node.targets
        if isinstance(target, ast.Name)
    }
    for call in ast.walk(function):
        match call:
            case ast.Call(ast.Name("given"), [ast.Name(name), mapping]):
                if isinstance(mapping, ast.Name):
                    mapping = assigned[mapping.id]
                if "locals()" not in ast.unparse(mapping):
                    continue
                said = {
                    str(key.value)
                    for part in ast.walk(mapping)
                    if isinstance(part, ast.Dict)
                    for key in part.keys
                    if isinstance(key, ast.Constant)
                }
                yield getattr(import_module(_module_of(tree, name)), name), frozenset(said - keywords)


def _module_of(tree: ast.Module, name: str) -> str:
    [module] = [
        node.module
        for node in ast.walk(tree)
        if isinstance(node, ast.ImportFrom) and node.module and name in {alias.name for alias in node.names}
    ]
    return module


def _late_names(tree: ast.Module) -> set[str]:
    """Return the names that are imported for type checkers alone: what mentions them is quoted."""
    return {
        alias.asname or alias.name
        for node in tree.body
        if isinstance(node, ast.If) and ast.unparse(node.test) == "TYPE_CHECKING"
        for inner in node.body
        if isinstance(inner, ast.Import | ast.ImportFrom)
        for alias in inner.names
    }


def _signature(
    source: str, function: ast.FunctionDef, keywords: Mapping[str, Keyword], late: set[str]
) -> tuple[int, int, str]:
    """Return the place of the keyword arguments, and what belongs there."""
    own, comments = [], {}
    for argument, default in zip(function.args.kwonlyargs, function.args.kw_defaults, strict=True):
        start, end = _span(source, argument, default or argument)
        found = re.compile(r",[ \t]*(#.*)").match(source, end)
        comments[argument.arg] = f"  {found[1]}" if found else ""
        if argument.arg not in keywords:
            own.append((argument.arg, source[start:end]))
    texts = own + [(each.name, _parameter(each, late)) for each in keywords.values()]
    first, last = function.args.kwonlyargs[0], function.args.kw_defaults[-1] or function.args.kwonlyargs[-1]
    start, end = _span(source, first, last)
    rest = re.compile(r",?([ \t]*#.*)?\n?").match(source, end)
    lines = [f"{text},{comments.get(name, '')}\n" for name, text in texts]
    return start, rest.end() if rest else end, "".join(lines)


def _parameter(keyword: Keyword, late: set[str]) -> str:
    quote = '"' if late & set(re.findall(r"\w+", keyword.annotation)) else ""
    default = "" if keyword.default is None else f" = {keyword.default}"
    return f"{keyword.name}: {quote}{keyword.annotation}{quote}{default}"


def _arguments(
    source: str, function: ast.FunctionDef, docstring: ast.Constant | None, keywords: Mapping[str, Keyword]
) -> Iterator[tuple[int, int, str]]:
    """Yield the place of the entries under ``Args:``, and what belongs there."""
    if docstring is None:
        return
    begin, end = _span(source, docstring, docstring)
    section = re.compile(r"^( *)Args:\n((?:\1    .*\n)+)", re.MULTILINE).search(source, begin, end)
    if section is None:
        return
    indent = section[1] + " " * 4
    entries: dict[str, str] = {}
    for line in section[2].splitlines(keepends=True):
        found = _ENTRY.match(line[len(indent) :])
        name = found[1] if found else list(entries)[-1]
        entries[name] = entries.get(name, "") + line
    arguments = function.args
    texts = [
        *(entries[each.arg] for each in [*arguments.posonlyargs, *arguments.args] if each.arg in entries),
        *(entries[each.arg] for each in arguments.kwonlyargs if each.arg in entries and each.arg not in keywords),
        *(_entry(each, indent) for each in keywords.values()),
    ]
    yield section.start(2), section.end(2), "".join(texts)


def _entry(keyword: Keyword, indent: str) -> str:
    """Return an entry, whose default has a line of its own where one line does not hold all of it."""
    text = f"{indent}{keyword.name}: {keyword.doc}"
    parts = [text] if len(text) <= WIDTH else re.split(r" (?=Default(?: -|:) )", text, maxsplit=1)
    more = indent + " " * 4
    fill = partial(textwrap.fill, width=WIDTH, subsequent_indent=more, break_long_words=False, break_on_hyphens=False)
    return "".join(fill(part, initial_indent="" if number == 0 else more) + "\n" for number, part in enumerate(parts))


def _span(source: str, first: ast.expr | ast.arg, last: ast.expr | ast.arg) -> tuple[int, int]:
    """Return where a piece of source begins and ends; columns count bytes."""
    lines = source.splitlines(keepends=True)

    def offset(line: int | None, column: int | None) -> int:
        before = sum(map(len, lines[: (line or 1) - 1]))
        return before + len(lines[(line or 1) - 1].encode()[:column].decode())

    return offset(first.lineno, first.col_offset), offset(last.end_lineno, last.end_col_offset)


def _formatted(source: str) -> str:
    command = ["ruff", "format", "--stdin-filename", str(PACKAGE / "x.py"), "-"]
    return subprocess.run(command, input=source, capture_output=True, text=True, check=True, cwd=ROOT).stdout


if __name__ == "__main__":
    sys.exit(main())
