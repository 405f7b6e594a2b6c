"""From the names of options in Python to the keys of a deployment file."""

from cdk_trainyard.options.fields import Items, Named, Object, Part, Shape, fields_of
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
                here = _inside(field.shape)
                if field.inline:
                    continue
                part = field.key or part  # noqa: PLW2901  the file's word for it
        elif isinstance(here, Items | Named):
            here = _inside(here.item)
        path.append(part)
    return tuple(path)


def _inside(shape: Shape) -> object:
    """Return the specification that a value is of, or else its shape."""
    part = shape.section if isinstance(shape, Object) else shape
    return part.spec if isinstance(part, Part) else shape
