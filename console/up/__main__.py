"""The supervisor's process: `python -m console.up`, which `manage.py up` turns into."""

from __future__ import annotations

import os
import signal
import sys
import threading
import traceback

from console.up.boot import run_boot
from console.up.errors import CannotStart, Stopping
from console.up.home import Home
from console.up.java import check_java
from console.up.options import Options, read_options
from console.up.ports import why_unusable
from console.up.steps import say
from console.up.supervisor import Supervisor, end_leftovers

BOOT_PATIENCE_SECONDS = 2.0


def main(arguments: list[str]) -> int:
    """Run a console until it is told to stop; the exit code says whether it came up."""
    os.umask(0o077)
    try:
        options = read_options(arguments)
        home = Home(options.home)
        home.prepare()
        with home.lock(options.url or options.local_url):
            return _supervise(home, options)
    except CannotStart as error:
        sys.stderr.write(f"{error}\n")
        return 1


def _supervise(home: Home, options: Options) -> int:
    home.runtime_env.unlink(missing_ok=True)
    leftovers = end_leftovers(home.processes)
    if leftovers:
        say(f"Ended {leftovers} processes that an earlier start had left behind.")
    reason = why_unusable(options.bind, options.port)
    if reason:
        where = f"Port {options.port} on {options.bind}"
        raise CannotStart(f"{where} cannot be used ({reason}): set TENURE_PORT or TENURE_BIND to another.")
    if not options.spark_remote:
        check_java()
    supervisor = Supervisor(home)
    _stop_on_signals(supervisor, options)
    boot = threading.Thread(target=_boot, args=(supervisor, options), name="boot", daemon=True)
    boot.start()
    try:
        supervisor.run()
    finally:
        # It may be in the middle of something that it must clean up after, such as a password file.
        boot.join(BOOT_PATIENCE_SECONDS)
        home.runtime_env.unlink(missing_ok=True)
    return supervisor.exit_code


def _stop_on_signals(supervisor: Supervisor, options: Options) -> None:
    def stop(number: int, _frame: object) -> None:
        # Being told to stop is how serving ends well; --once was asked for answers and has none then.
        supervisor.stop(128 + number if options.once else 0)

    for number in (signal.SIGINT, signal.SIGTERM, signal.SIGHUP):
        signal.signal(number, stop)


def _boot(supervisor: Supervisor, options: Options) -> None:
    try:
        run_boot(supervisor, options)
    except Stopping:
        return
    except CannotStart as error:
        sys.stderr.write(f"{error}\n")
        supervisor.stop(1)
    except Exception:  # noqa: BLE001  # the main thread must stop what runs, whatever went wrong here
        traceback.print_exc()
        supervisor.stop(1)


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
