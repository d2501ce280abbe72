"""Whether two figures look the same, as nbval is to compare saved ones with those drawn anew."""

import base64
import io
from collections.abc import Callable, Iterator

from PIL import Image, ImageChops, ImageFilter

PNG = "image/png"
# Levels of 255, after a blur of one pixel. Another last bit changes an anti-aliased edge by a few;
# another digit, a line moved by 2 % of the axis or another colour give 29 and more.
LIMIT = 16


def look_alike(first: str, second: str) -> bool:
    """Whether two PNGs, in base64, are of one size and nowhere further apart than noise."""
    one, other = (_blurred(text) for text in (first, second))
    if one.size != other.size:
        return False
    return max(high for _, high in ImageChops.difference(one, other).getextrema()) <= LIMIT


def compare(by_nbval: Callable[[list, list], bool], now: list, saved: list) -> bool:
    """Compare a cell's outputs as nbval does; a picture that looks like the saved one equals it."""
    for drawn, kept in zip(_with_pictures(now), _with_pictures(saved), strict=False):
        if look_alike(drawn[PNG], kept[PNG]):
            drawn[PNG] = kept[PNG]
    return by_nbval(now, saved)


def _with_pictures(outputs: list) -> Iterator[dict[str, str]]:
    return (output["data"] for output in outputs if PNG in output.get("data", {}))


def _blurred(text: str) -> Image.Image:
    picture = Image.open(io.BytesIO(base64.b64decode(text))).convert("RGBA")
    return picture.filter(ImageFilter.GaussianBlur(1))
