"""botocore's models: read once in a process, and not by each session of it, of which tests make thousands."""

from functools import cache
from typing import Any

from botocore.loaders import JSONFileLoader, Loader

_load, _list = JSONFileLoader.load_file, Loader.list_available_services


@cache
def _loaded(path: str) -> Any:
    return _load(JSONFileLoader(), path)


@cache
def _listed(kind: str, paths: tuple[str, ...]) -> list[str]:
    loader = Loader(include_default_search_paths=False)
    loader.search_paths.extend(paths)
    return list(_list(loader, kind))


def read_once() -> None:
    """Have every session of this process share what botocore's and boto3's files say.

    But for S3's: botocore takes the buckets out of the paths of a client's own, and moto routes by them.
    """
    JSONFileLoader.load_file = lambda loader, path: _load(loader, path) if "/s3/" in path else _loaded(path)
    Loader.list_available_services = lambda loader, type_name: _listed(type_name, tuple(loader.search_paths))
