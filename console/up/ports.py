"""TCP ports: free ones for the embedded parts, and whether something answers on one."""

from __future__ import annotations

import socket
import threading

LOOPBACK = "127.0.0.1"
_given: set[int] = set()
_lock = threading.Lock()


def free_port() -> int:
    """A loopback port that nothing listens on and that this process gave to nobody before."""
    with _lock:
        while True:
            with socket.create_server((LOOPBACK, 0)) as server:
                port: int = server.getsockname()[1]
            if port not in _given:
                _given.add(port)
                return port


def why_unusable(host: str, port: int) -> str:
    """Why this process cannot listen on `host:port`, in the system's words; empty when it can."""
    family = socket.AF_INET6 if ":" in host else socket.AF_INET
    try:
        with socket.create_server((host, port), family=family):
            return ""
    except OSError as error:
        # Python appends the address, which the caller names anyway.
        return (error.strerror or str(error)).partition(" (while attempting")[0]


def answers(port: int) -> bool:
    """Whether a connection to the loopback port is accepted."""
    try:
        with socket.create_connection((LOOPBACK, port), timeout=1.0):
            return True
    except OSError:
        return False
