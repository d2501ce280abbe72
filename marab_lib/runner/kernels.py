"""Kernels that start as copies of a process in which all packages are loaded: in .4 s, not in 3.

A notebook still has a process of its own, which ends with it. Only runs without a reader start like
this, and only on Linux; JupyterLab, and the checks as on other processors, start kernels as ever.
"""

from __future__ import annotations

import asyncio
import multiprocessing
import os
import signal
import sys
import threading
from multiprocessing import util
from multiprocessing.process import BaseProcess
from typing import Any

from jupyter_client.manager import AsyncKernelManager
from jupyter_client.provisioning import LocalProvisioner

_LAUNCHER = "ipykernel_launcher"


class _Process:
    """A process of `multiprocessing` with the methods of one of `subprocess`."""

    stdin = stdout = stderr = None

    def __init__(self, process: BaseProcess) -> None:
        self._process = process
        self.pid: int = process.pid or 0
        self.kill, self.terminate = process.kill, process.terminate
        # Else the end of an interrupted run would wait for it.
        self._at_exit = util.Finalize(None, process.kill, exitpriority=0)

    def poll(self) -> int | None:
        return self._process.exitcode

    def wait(self) -> int | None:
        self._process.join()
        self._at_exit.cancel()
        return self._process.exitcode

    def send_signal(self, number: int) -> None:
        if self.poll() is None:
            os.kill(self.pid, number)


class Copied(LocalProvisioner):
    """Starts the kernel, if it is the one of this environment, as a copy."""

    async def launch_kernel(self, cmd: list[str], **given: Any) -> Any:
        ours = cmd[0] == sys.executable and _LAUNCHER in cmd
        # Python's own options are those of the process that is copied.
        if not ours or sys.platform != "linux" or not __debug__:
            return await super().launch_kernel(cmd, **given)
        context = multiprocessing.get_context("forkserver")
        context.set_forkserver_preload(["ipykernel.kernelapp", "marab_lib.runner.loaded"])
        arguments = cmd[cmd.index(_LAUNCHER) :]
        cwd = given.get("cwd") or os.getcwd()
        process = context.Process(target=_run, args=(arguments, given["env"], str(cwd)))
        try:
            process.start()
        except OSError:  # such as a temporary folder whose name is too long for a socket
            return await super().launch_kernel(cmd, **given)
        copy: Any = _Process(process)
        # The group is not asked for: the kernel is still to make it.
        self.process, self.pid, self.pgid, self.cwd = copy, copy.pid, copy.pid, cwd
        return self.connection_info


class Manager(AsyncKernelManager):
    """Starts kernels as copies, where that can be done."""

    def __init__(self, **given: Any) -> None:
        super().__init__(**given)
        self.provisioner = Copied(kernel_spec=self.kernel_spec, parent=self)

    async def shutdown_kernel(  # type: ignore[override]  # as the asynchronous manager's own
        self, now: bool = False, restart: bool = False
    ) -> None:
        """As ever, but first end what an interrupt left waiting: it would report a dead kernel."""
        left = [task for task in asyncio.all_tasks() if task is not asyncio.current_task()]
        for task in left:
            task.cancel()
        await asyncio.gather(*left, return_exceptions=True)
        await super().shutdown_kernel(now, restart)


def _run(arguments: list[str], environment: dict[str, str], folder: str) -> None:
    """What the copy does: `python -m ipykernel_launcher`."""
    from ipykernel import kernelapp

    from . import loaded

    os.setsid()
    threading.Thread(target=_end_with_parent, daemon=True).start()
    os.environ.clear()
    os.environ.update(environment)
    os.environ["JPY_PARENT_PID"] = str(os.getppid())  # or it would print how to stop it
    os.chdir(folder)
    sys.path[:], sys.argv[:] = loaded.PATH, arguments
    kernelapp.launch_new_instance()


def _end_with_parent() -> None:
    parent = multiprocessing.parent_process()
    if parent is not None:
        parent.join()
        os.killpg(0, signal.SIGKILL)
