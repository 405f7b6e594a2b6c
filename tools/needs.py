"""``python -m tools.needs`` writes what the shipped deployments need of an account into ``deployments/README.md``.

``python -m tools.needs FILE`` shows it for one file, with the commands that ask for what new accounts lack.
"""

import sys
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Final

from cdk_trainyard.deployment import Deployment
from cdk_trainyard.deployment.needs import deployment_needs
from cdk_trainyard.quotas import Needs

FOLDER: Final = Path(__file__).parent.parent / "deployments"
BEGIN: Final = "<!-- python -m tools.needs writes from here -->\n"
END: Final = "<!-- to here -->\n"


def page(files: Sequence[Path]) -> str:
    """Return two tables: quotas that new accounts lack by deployment, and what is made once.

    Args:
        files: The deployment files.
    """
    needs = {path.stem: deployment_needs(Deployment.load(path)) for path in files}
    return "\n".join([*_quotas(needs), "", *_once(needs), ""])


def shown(path: Path) -> Iterator[str]:
    """Return what one deployment needs, line by line.

    Args:
        path: The deployment file.
    """
    deployment = Deployment.load(path)
    needs = deployment_needs(deployment)
    for need in sorted(needs.quotas, key=lambda need: not need.exceeds_first):
        yield str(need)
        if need.exceeds_first:
            yield f"  {need.request_command(deployment.region)}"
    yield from map(str, needs.prerequisites)


def write(readme: Path, files: Sequence[Path]) -> None:
    """Write the tables between the marks of a page.

    Args:
        readme: The page.
        files: The deployment files.
    """
    before, rest = readme.read_text().split(BEGIN)
    readme.write_text(f"{before}{BEGIN}{page(files)}{END}{rest.split(END)[1]}")


def _quotas(needs: dict[str, Needs]) -> Iterator[str]:
    yield "| deployment | service | quota | code | needed | a new account has |"
    yield "|---|---|---|---|---|---|"
    for name, needed in needs.items():
        for need in needed.quotas:
            if need.exceeds_first:
                quota, has = need.quota, "unknown" if need.quota.first is None else need.quota.first
                yield f"| {name} | {quota.service} | {quota.name} | {quota.code or '-'} | {need.measure} | {has} |"


def _once(needs: dict[str, Needs]) -> Iterator[str]:
    yield "| what | command | deployments |"
    yield "|---|---|---|"
    everything = sum(needs.values(), Needs()).prerequisites
    for each in everything:
        names = [name for name, needed in needs.items() if each in needed.prerequisites]
        yield f"| {each.what} | `{each.command}` | {'all' if len(names) == len(needs) else ', '.join(names)} |"


if __name__ == "__main__":
    if sys.argv[1:]:
        print("\n".join(shown(Path(sys.argv[1]))))
    else:
        write(FOLDER / "README.md", sorted(FOLDER.glob("*.yaml")))
