"""Where a construct comes from, as metadata of the cloud assembly: no template has it."""

from typing import Final

ORIGIN: Final = "cdk_trainyard:origin"
"""The type of a metadata entry whose data are `WRITTEN` and `MADE`."""
WRITTEN: Final = "written"
"""``file:line:column`` of the deployment file's section that asks for the construct."""
MADE: Final = "made"
"""``module:line`` of the construct's class."""
