"""Where a construct comes from, as metadata of the cloud assembly: no template has it."""

from typing import Final

ORIGIN: Final = "cdk_trainyard:origin"
"""The type of a metadata entry whose data are `WRITTEN`, `MADE` and `PROPERTIES`, each where it is known."""
WRITTEN: Final = "written"
"""``file:line:column`` of the deployment file's key that asks for the construct, or of the section that lacks it."""
MADE: Final = "made"
"""``module:line`` of the construct's class."""
PROPERTIES: Final = "properties"
"""Properties of the construct's resource (``InstanceGroups.1``), each with the ``file:line:column`` that says it."""
