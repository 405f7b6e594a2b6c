"""Labels of a picture, measured without a browser."""

import xml.etree.ElementTree as ET

from cdk_trainyard.report.picture import _EMS, _THIN, _WIDEST


def letters_ems(text: str) -> float:
    """Return how wide a text is in bold, in ems."""
    return sum(_EMS.get(letter, _WIDEST) for letter in text)


def labels_leaving(drawn: str) -> list[str]:
    """Return the labels that leave the smallest box which they begin in."""
    space = "{http://www.w3.org/2000/svg}"
    root = ET.fromstring(drawn)  # noqa: S314  we wrote it
    boxes = [[float(each.attrib[key]) for key in ("x", "y", "width", "height")] for each in root.iter(f"{space}rect")]
    found = []
    for each in root.iter(f"{space}text"):
        x, y, size = (float(each.attrib[key]) for key in ("x", "y", "font-size"))
        end = x + size * (1 if "font-weight" in each.attrib else _THIN) * letters_ems(each.text or "")
        around = [box for box in boxes if box[0] <= x < box[0] + box[2] and box[1] <= y < box[1] + box[3]]
        left, top, width, height = min(around, key=lambda box: box[2] * box[3])
        if end > left + width or y - size < top or y + size / 4 > top + height:
            found.append(each.text or "")
    return found
