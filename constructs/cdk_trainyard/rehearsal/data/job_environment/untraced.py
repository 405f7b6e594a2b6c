"""Stands for the parts of torch that trace and compile, which torch imports and takes as long for as for the rest.

Python runs this file at its start (untraced.pth). Training as it is here traces nothing: what torch asks of
``torch._dynamo`` then is to leave a function as it is, and otherwise to do nothing. Of ``torch._meta_registrations``,
the shapes of results without data, it needs the line that lets it make a random generator.

What torch imports are a million objects that stay: they are not searched for garbage again and again, nor once more
when Python ends. numpy's own threads, one for each further core, would spin while torch is imported.
"""

import atexit
import gc
import os
import sys
from importlib.machinery import ModuleSpec
from types import ModuleType
from typing import Any


class Untraced(ModuleType):
    """A module whose every name is another one; called, it returns None."""

    def __getattr__(self, name: str) -> Any:
        if name.startswith("__"):
            raise AttributeError(name)
        return Untraced(f"{self.__name__}.{name}")

    def __call__(self, *_words: object, **_options: object) -> None:
        return None

    @staticmethod
    def disable(function: Any, *_words: object, **_options: object) -> Any:
        """Return a function as it is."""
        return function


class Shapeless:
    """Finds and loads ``torch._meta_registrations``."""

    def find_spec(self, name: str, *_words: object) -> ModuleSpec | None:
        """Return what the module is."""
        return ModuleSpec(name, self) if name == "torch._meta_registrations" else None  # type: ignore[arg-type]

    def create_module(self, _spec: ModuleSpec) -> None:
        """Make it as Python does."""

    def exec_module(self, _module: ModuleType) -> None:
        """Do what ``torch._prims.rng_prims`` does, which the module imports."""
        import torch  # type: ignore[import-not-found]  # noqa: PLC0415  it is being imported
        from torch._opaque_base import OpaqueBaseMeta  # type: ignore[import-not-found]  # noqa: PLC0415  as above

        torch._C._set_generator_metaclass(OpaqueBaseMeta)  # noqa: SLF001  as above


for part in ("torch._dynamo", "torch.export"):
    sys.modules[part] = Untraced(part)
sys.meta_path.insert(0, Shapeless())
gc.set_threshold(100_000)
atexit.register(gc.freeze)
os.environ.setdefault("OPENBLAS_NUM_THREADS", "1")
