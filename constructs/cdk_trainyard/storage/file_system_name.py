"""The DNS name of a file system of FSx: in the domain of its Region, or of a directory of yours. No CDK."""

import re
from dataclasses import dataclass
from typing import Annotated, Any, Final

from cdk_trainyard.options.kinds import Environment
from cdk_trainyard.problems import Flaw, shown


def _example(environment: Environment) -> str:
    """Return a name of the Region, as far as one is known."""
    return f"fs-0123456789abcdef0.fsx.{environment.region or 'us-east-1'}.{environment.suffix or 'amazonaws.com'}"


@dataclass(frozen=True, slots=True)
class FileSystemDnsName:
    """The DNS name of a file system of FSx: in the domain of its Region, or of a directory of yours."""

    def problem(self, value: Any, environment: Environment) -> Flaw | None:
        """Match it, and compare the Region where it says one."""
        example, got = _example(environment), shown(value)
        shows = f"must be the DNS name that the FSx console shows, as {example}"
        if len(value) > _LONGEST_NAME or re.fullmatch(_DNS_NAME, value, re.ASCII) is None:
            return Flaw(shows, got=got)
        if re.match(_OF_EFS, value, re.ASCII):
            return Flaw(f"must be the name of a file system of FSx, as {example}", got=f"{got}, one of EFS")
        region, found = environment.region, re.fullmatch(_REGIONAL_NAME, value.lower())
        if found is None and re.search(_OF_AWS, value.lower()):
            return Flaw(shows, got=got)
        if region is None or found is None:
            return None
        suffix = environment.suffix
        isolated = environment.partition not in {"aws", "aws-cn", "aws-us-gov"}
        if found["region"] != region or (found["suffix"] != suffix and not isolated):
            return Flaw(f"must be one of Region {region}, which ends with .fsx.{region}.{suffix}", got=got)
        return None

    def schema(self) -> dict[str, Any]:
        """Return the form."""
        return {
            "pattern": f"^(?!{_OF_EFS}){_DNS_NAME}$",
            "maxLength": _LONGEST_NAME,
            "examples": [_example(Environment())],
        }


_LONGEST_NAME: Final = 255
_DNS_NAME: Final = r"fsi?-[0-9a-f]{8,}(\.[A-Za-z0-9-]{1,63}){2,}"
_OF_EFS: Final = r"fs-[0-9a-f]+\.efs\.[a-z]+(-[a-z]+)+-[0-9]\."
"""How file systems of EFS are called: Amazon EFS user guide, "Implementation summary" (read 2026-11)."""
_REGIONAL_NAME: Final = r"fsi?-[0-9a-f]+\.fsx\.(?P<region>[a-z0-9-]+)\.(?P<suffix>amazonaws\..+)"
_OF_AWS: Final = r"\.amazonaws(\.[a-z]+)+$"
"""Domains in which nobody but AWS has names: FSx's are ``file_system_id.fsx.region.amazonaws.com`` there (FSx for
Lustre user guide, "Unmounting file systems", read 2026-11)."""
FileSystemName = Annotated[str, FileSystemDnsName()]
