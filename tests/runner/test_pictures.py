"""nbval compares figures: every change that matters is seen, anti-aliasing is not."""

import base64
import io
import re
import shutil
import subprocess
import sys
from functools import cache

import matplotlib.pyplot as plt
import numpy as np
import pytest
from pictures import look_alike
from PIL import Image

from marab_lib import plots
from marab_lib.runner import find
from marab_lib.runner.command_line import main


@cache
def drawn(
    shift=0.0, color="#0173b2", mark=0.6, tick="0.2", grey=0.3, text="1.94", width=6.5, copies=1
) -> str:
    """A small figure as a PNG in base64."""
    x = np.linspace(0, 1, 50)
    with plt.rc_context():
        plots.use_style()
        figure, (left, right) = plt.subplots(1, 2, figsize=(width, 2.3))
        left.plot(x, 0.2 + 0.5 * x**2 + shift, color=color)
        left.plot([0.3, 0.5], [0.2, mark], "o", color="black", mfc="white")
        left.set(xlim=(0, 1), ylim=(0, 1), yticks=[0, 0.2, 1], yticklabels=["0.0", tick, "1.0"])
        right.plot(x, grey * x, color="0.7", linewidth=0.7)
        right.set(ylim=(0, 1))
        right.text(0.2, 0.8, text * copies, fontsize=8)
        file = io.BytesIO()
        figure.savefig(file, dpi=100)
        plt.close(figure)
    return base64.b64encode(file.getvalue()).decode()


CHANGES = {
    "a line moved by 2 % of the axis": {"shift": 0.02},
    "a thin grey line moved by 2 % of the axis": {"grey": 0.32},
    "a line in another colour": {"color": "#029e73"},
    "a marker moved by 2 % of the axis": {"mark": 0.62},
    "one digit of a tick label": {"tick": "0.3"},
    "one digit of a text": {"text": "1.95"},
    "another size": {"width": 6.51},
    "a text that is gone": {"copies": 0},
}


@pytest.mark.parametrize("change", CHANGES)
def test_a_change_is_seen(change):
    assert not look_alike(drawn(), drawn(**CHANGES[change]))


@pytest.mark.parametrize("place", ["tick", "text"])
def test_no_two_digits_look_alike(place):
    pictures = [drawn(**{place: f"0.{digit}"}) for digit in range(10)]
    alike = [(i, j) for i in range(10) for j in range(i) if look_alike(pictures[i], pictures[j])]
    assert alike == []


def test_noise_is_not_seen():
    assert look_alike(drawn(), drawn())
    assert look_alike(drawn(), drawn(shift=1e-4))  # some hundredths of a pixel
    levels = np.asarray(Image.open(io.BytesIO(base64.b64decode(drawn()))), dtype=int)
    noise = np.random.default_rng(0).integers(-4, 5, levels.shape)
    file = io.BytesIO()
    Image.fromarray((levels + noise).clip(0, 255).astype(np.uint8)).save(file, "png")
    assert look_alike(drawn(), base64.b64encode(file.getvalue()).decode())


FIGURE = "import matplotlib.pyplot as plt\nplt.plot([0, level, 1])\nplt.show()"


def test_nbval_sees_another_figure(write_notebook, tmp_path):
    path = write_notebook("06_small", "print(level)", FIGURE)
    assert main(["save", "--notebooks", str(path.parent), "--out", str(tmp_path)]) == 0
    text = path.read_text(encoding="utf-8")
    (saved,) = re.findall(r'"image/png": "(.*?)(?:\\n)?"', text)
    for name, picture in (("07_another", drawn()), ("08_alike", renamed(saved))):
        changed = text.replace(saved, picture)
        assert changed != text
        path.with_name(f"{name}.ipynb").write_text(changed, encoding="utf-8")
    root = find.FOLDER.parent
    shutil.copy(root / "conftest.py", path.parent)
    command = [sys.executable, "-m", "pytest", "-p", "no:cacheprovider", "-q"]
    command += ["-rfp", "-c", str(root / "pyproject.toml"), str(path.parent)]
    result = subprocess.run(command, capture_output=True, text=True)
    failed = re.findall(r"^FAILED .*?(\d\d)_\w+\.ipynb::(Cell \d)", result.stdout, re.M)
    assert failed == [("07", "Cell 2")], result.stdout
    assert len(re.findall("^PASSED", result.stdout, re.M)) == 8


def renamed(text: str) -> str:
    """The same pixels, written as another file."""
    file = io.BytesIO()
    Image.open(io.BytesIO(base64.b64decode(text))).save(file, "png", compress_level=1)
    return base64.b64encode(file.getvalue()).decode()
