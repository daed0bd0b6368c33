"""A child whose code starts processes in sessions of their own: a child, an orphan and one that ends."""

from __future__ import annotations

import subprocess
import time

SLEEPER = "setsid sh -c 'echo $$; exec sleep 600'"

if __name__ == "__main__":
    subprocess.Popen(["sh", "-c", f"exec {SLEEPER}"])
    subprocess.run(["sh", "-c", f"{SLEEPER} & setsid sh -c 'echo $$' &"], check=True)
    time.sleep(600)
