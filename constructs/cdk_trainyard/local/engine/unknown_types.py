"""What is said of resource types that the local AWS does not know: which, and the nearest of those that it knows."""

from collections.abc import Iterable, Mapping
from difflib import SequenceMatcher, get_close_matches

from cdk_trainyard.local.registry import supported_types

_MOST_CHOICES = 8
_ALIKE = 0.8


def not_emulated(unknown: Mapping[str, str]) -> str:
    """Return what is said of types that are not emulated, by service.

    Args:
        unknown: Such a type to the logical id of a resource of it.
    """
    known, wanted = _by_service(supported_types()), _by_service(unknown)
    most = max(1, _MOST_CHOICES // len(wanted))
    said = []
    for service, names in wanted.items():
        listed = ", ".join(f"{name} ({unknown[name]})" for name in names)
        are = "is" if len(names) == 1 else "are"
        said.append(f"{listed} {are} not emulated here: {_nearest(service, names, known, most)}")
    return f"{'; '.join(said)}; all that it knows: trainyard local types"


def _by_service(types: Iterable[str]) -> dict[str, list[str]]:
    services: dict[str, list[str]] = {}
    for name in sorted(types):
        services.setdefault(name.rpartition("::")[0], []).append(name)
    return services


def _nearest(service: str, wanted: Iterable[str], known: Mapping[str, list[str]], most: int) -> str:
    """Return what is known of the service that is called so, or nearly so: the nearest types first."""
    spelt = {name.rpartition("::")[2].lower(): name for name in known}
    found = get_close_matches(service.rpartition("::")[2].lower(), spelt, n=1, cutoff=_ALIKE)
    if not found:
        return f"of {service} it knows nothing"
    name = spelt[found[0]]
    near = sorted(known[name], key=lambda other: -max(_likeness(one, other) for one in wanted))
    more = [*near[:most], *(["…"] if len(near) > most else [])]
    return f"of {name} it knows {', '.join(word.rpartition('::')[2] for word in more)}"


def _likeness(one: str, other: str) -> float:
    return SequenceMatcher(None, one.lower(), other.lower()).ratio()
