"""JupyterLab and headless Chromium for the browser tests."""

from __future__ import annotations

import json
import os
import re
import shutil
import subprocess
import sys
import time
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from pathlib import Path
from urllib.parse import urlsplit

import pytest

CHROMIUM = ("chromium", "chromium-browser", "google-chrome", "google-chrome-stable")
MAKEFILE = Path(__file__).parents[1] / "Makefile"
OPTIONS = re.findall(r"jupyter lab (--\S+)", MAKEFILE.read_text(encoding="utf-8"))
SETTINGS = {  # every cell is in the page, also those out of sight; nothing asks the network
    "notebook-extension/tracker": {"windowingMode": "none"},
    "apputils-extension/notification": {
        "fetchNews": "false",
        "checkForUpdates": False,
        "doNotDisturbMode": True,
    },
}
OPEN = """async name => {
    if (window.panel) {
        await panel.sessionContext.shutdown();
        panel.dispose();
    }
    await jupyterapp.restored;
    const given = {path: name, factory: 'Notebook'};
    window.panel = await jupyterapp.commands.execute('docmanager:open', given);
    window.statuses = [];
    await panel.sessionContext.ready;
    panel.sessionContext.statusChanged.connect((_, status) => statuses.push(status));
}"""
READY = "() => panel.sessionContext.session?.kernel?.status === 'idle'"
CELLS = """() => panel.content.widgets.map(cell => cell.model)
    .filter(model => model.type === 'code' && model.sharedModel.source.trim())
    .map(model => ({
        source: model.sharedModel.source,
        count: model.executionCount,
        outputs: model.outputs.toJSON(),
    }))"""
DONE = f"""() => {{
    const cells = ({CELLS})();
    const failed = cells.some(c => c.outputs.some(o => o.output_type === 'error'));
    const status = panel.sessionContext.session?.kernel?.status;
    const died = statuses.some(s => s.includes('restarting') || s === 'dead');
    return died || status === 'idle' && (failed || cells.every(c => c.count !== null));
}}"""
IMAGES = """() => [...panel.node.querySelectorAll('.jp-OutputArea-output img')]
    .map(image => image.complete && image.naturalWidth)"""


def find_chromium() -> str:
    """The system's Chromium; without one the test is skipped, or fails where it must be there."""
    found = os.environ.get("CHROMIUM") or next(filter(None, map(shutil.which, CHROMIUM)), None)
    if found:
        return found
    message = "no Chromium: install the system's package (Debian: apt install chromium)"
    if os.environ.get("MARAB_NEEDS_BROWSER"):
        pytest.fail(message)
    pytest.skip(message)


@contextmanager
def chromium() -> Iterator:
    """A headless browser context that keeps a list of all addresses it was asked to load."""
    executable = find_chromium()
    from playwright.sync_api import sync_playwright

    with sync_playwright() as playwright:
        browser = playwright.chromium.launch(
            executable_path=executable,
            args=[
                "--no-sandbox", "--disable-gpu", "--no-first-run", "--disable-sync",
                "--disable-background-networking", "--disable-component-update",
            ],
        )  # fmt: skip
        context = browser.new_context(viewport={"width": 1200, "height": 1000})
        context.addresses = []
        context.on("request", lambda request: context.addresses.append(request.url))
        try:
            yield context
        finally:
            browser.close()


def foreign(addresses: list[str]) -> list[str]:
    """The addresses that are on another machine.

    Examples
    --------
    >>> foreign(["http://127.0.0.1:8888/lab", "data:image/png;base64,", "https://example.org/x.js"])
    ['https://example.org/x.js']
    """
    parts = [(address, urlsplit(address)) for address in addresses]
    local = ("", None, "127.0.0.1", "localhost")
    return [a for a, p in parts if p.scheme not in ("data", "blob") and p.hostname not in local]


class Lab:
    """A running JupyterLab on a folder of notebooks, and a page of a browser to look at it.

    The page is loaded once: that takes longer than most notebooks.
    """

    def __init__(self, address: str, context) -> None:
        self.context, self.page = context, context.new_page()
        self.page.set_default_timeout(120_000)
        self.page.goto(address)
        self.page.wait_for_function("() => window.jupyterapp")

    def open(self, name: str):
        """Open a notebook of the folder instead of the one before; wait until its kernel is there.

        Returns the page, where it is `panel`.
        """
        self.page.evaluate(OPEN, name)
        self.page.wait_for_function(READY)
        return self.page

    def run_all(self, seconds: float = 300) -> dict:
        """Run all cells, wait until the kernel is idle, and tell what is seen then."""
        page = self.page
        page.evaluate("() => { jupyterapp.commands.execute('notebook:run-all-cells'); }")
        page.wait_for_function(DONE, timeout=seconds * 1000, polling=200)
        cells = page.evaluate(CELLS)
        outputs = [output for cell in cells for output in cell["outputs"]]
        return {
            "cells": cells,
            "errors": [o["evalue"] for o in outputs if o["output_type"] == "error"],
            "warnings": [o["text"] for o in outputs if o.get("name") == "stderr"],
            "statuses": page.evaluate("() => statuses"),
            "figures": sum("image/png" in o.get("data", {}) for o in outputs),
            "images": page.evaluate(IMAGES),
        }


@contextmanager
def lab(folder: Path, context) -> Iterator[Lab]:
    """Start JupyterLab on a folder, free of the user's own settings; stop it and its kernels.

    Its options are those of `make lab`, and others that keep it within this folder.
    """
    own = folder.parent / "jupyter"
    for name, content in SETTINGS.items():
        path = own / "settings" / "@jupyterlab" / f"{name}.jupyterlab-settings"
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(json.dumps(content))
    places = {f"JUPYTER_{kind}_DIR": str(own / kind) for kind in ("CONFIG", "DATA", "RUNTIME")}
    places |= {"JUPYTER_PREFER_ENV_PATH": "1", "IPYTHONDIR": str(own / "ipython")}
    command = [
        sys.executable, "-m", "jupyterlab", "--no-browser", "--allow-root", "--ip=127.0.0.1",
        "--port=0", "--ServerApp.terminals_enabled=False", f"--ServerApp.root_dir={folder}",
        "--LabApp.expose_app_in_browser=True", "--LabApp.extension_manager=readonly",
        f"--LabApp.user_settings_dir={own / 'settings'}",
        f"--LabApp.workspaces_dir={own / 'workspaces'}", *OPTIONS,
    ]  # fmt: skip
    with (folder.parent / "lab.log").open("w") as log:
        process = subprocess.Popen(
            command, stdout=log, stderr=subprocess.STDOUT, env=os.environ | places
        )
    try:
        server = _wait_for_server(own / "RUNTIME", process)
        yield Lab(f"{server['url']}lab?token={server['token']}&reset", context)
    finally:
        process.terminate()  # the server ends its kernels first
        with suppress(subprocess.TimeoutExpired):
            process.wait(timeout=30)
        process.kill()
        process.wait()


def _wait_for_server(runtime: Path, process: subprocess.Popen, seconds: float = 90) -> dict:
    end = time.monotonic() + seconds
    while time.monotonic() < end and process.poll() is None:
        for path in runtime.glob("jpserver-*.json"):
            with suppress(ValueError):  # half written
                return json.loads(path.read_text())
        time.sleep(0.1)
    pytest.fail("JupyterLab did not start; see lab.log")
