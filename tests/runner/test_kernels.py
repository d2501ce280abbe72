"""Kernels that are copies: they find what one from scratch finds, and end with their runner."""

from __future__ import annotations

import json
import sys

import nbformat
import pytest
from cases import is_running, program, run_python, wait_until
from jupyter_client.manager import AsyncKernelManager
from jupyter_client.provisioning import KernelProvisionerFactory
from nbclient import NotebookClient

from marab_lib.runner.kernels import Manager
from marab_lib.runner.run import clean_environment

pytestmark = pytest.mark.skipif(sys.platform != "linux", reason="copies are made on Linux only")
LOADED = "import sys\nprint('xarray' in sys.modules)"
SURROUNDINGS = """\
import json, os, signal, sys, threading
known, copied = sorted(dir()), "xarray" in sys.modules
import matplotlib, matplotlib.pyplot as plt, numpy, pandas, xarray
from marab_lib.runner import outputs
given = {
    "path": sys.path, "folder": os.getcwd(), "name": __name__, "known": known,
    "environment": sorted(set(os.environ) - {"JPY_PARENT_PID"}), "flags": str(sys.flags),
    "pandas": str(pandas.options.d), "numpy": numpy.get_printoptions(),
    "xarray": str(xarray.get_options()), "matplotlib": str(matplotlib.rcParams),
    "group": os.getpgid(0) == os.getpid(),
    "thread": threading.current_thread() is threading.main_thread(),
    "interrupt": signal.getsignal(signal.SIGINT).__name__, "copied": copied,
}
print(json.dumps(given))"""
LEAVE = "import os, marab_lib\nos.environ['LEFT'] = marab_lib.left = 'x'"
LOOK = "import os, marab_lib\nprint('LEFT' in os.environ, hasattr(marab_lib, 'left'))"


def printed(manager: type, source: str, folder) -> str:
    """What a notebook of one cell prints."""
    content = nbformat.v4.new_notebook(cells=[nbformat.v4.new_code_cell(source)])
    client = NotebookClient(
        content,
        kernel_name="python3",
        kernel_manager_class=manager,
        resources={"metadata": {"path": str(folder)}},
        extra_arguments=["--log-level=CRITICAL"],
    )
    with clean_environment():
        client.execute()
    return "".join(output["text"] for output in content.cells[0].outputs)


def test_a_copy_finds_what_a_kernel_from_scratch_finds(tmp_path, monkeypatch):
    ways = KernelProvisionerFactory.instance()
    monkeypatch.setattr(ways, "default_provisioner_name", "local-provisioner")
    copied, scratch = (
        json.loads(printed(manager, SURROUNDINGS, tmp_path))
        for manager in (Manager, AsyncKernelManager)
    )
    assert copied.pop("copied")
    assert not scratch.pop("copied")
    assert copied == scratch


def test_what_one_copy_leaves_the_next_does_not_find(tmp_path):
    assert printed(Manager, LEAVE, tmp_path) == ""
    assert printed(Manager, LOOK, tmp_path) == "False False\n"


def test_a_copy_ends_when_its_runner_is_killed(write_notebook, tmp_path):
    mark = tmp_path / "mark"
    told = f"import os, time\nopen({str(mark)!r}, 'w').write(str(os.getpid()))\n"
    write_notebook("01_sleep", f"{told}time.sleep(600)")
    command = ["run", "01", "--notebooks", tmp_path / "notebooks", "--out", tmp_path / "out"]
    with program(*command):
        wait_until(lambda: mark.exists() and mark.read_text())
    wait_until(lambda: not is_running(int(mark.read_text())))


def test_where_no_copy_can_be_made_the_kernel_starts_from_scratch(write_notebook, tmp_path):
    folder = tmp_path / ("long" * 30)  # a socket's name has at most 107 characters
    folder.mkdir()
    write_notebook("01_loaded", LOADED)
    command = ["run", "01", "--notebooks", tmp_path / "notebooks", "--out", tmp_path / "out"]
    ended = run_python("-m", "marab_lib", *command, TMPDIR=str(folder))
    assert ended.returncode == 0, ended.stderr
    content = nbformat.read(tmp_path / "out" / "notebooks" / "01_loaded.ipynb", as_version=4)
    assert content.cells[-1].outputs[0]["text"] == "False\n"
