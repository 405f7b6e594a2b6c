"""From the names of options in Python to the keys of a deployment file."""

from cdk_trainyard.options.fields import Items, Named, Part, fields_of
from cdk_trainyard.problems import At


def in_file(spec: type, at: At) -> At:
    """Return where a file has the option that Python calls ``at``.

    Args:
        spec: The specification of the section.
        at: The path in Python; what it names beyond the specification stays as it is.
    """
    here: object = spec
    path: list[str | int] = []
    for part in at:
        if isinstance(here, type):
            field = fields_of(here).get(str(part))
            if field is None:
                here = None
            else:
                here = field.shape.spec if isinstance(field.shape, Part) else field.shape
                if field.inline:
                    continue
                part = field.key or part  # noqa: PLW2901  the file's word for it
        elif isinstance(here, Items | Named):
            here = here.item.spec if isinstance(here.item, Part) else here.item
        path.append(part)
    return tuple(path)
