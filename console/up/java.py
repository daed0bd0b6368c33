"""Is there a Java that Spark can run on? Asked before anything starts."""

from __future__ import annotations

import os
import re
import shutil
import subprocess
from pathlib import Path

from console.up.errors import CannotStart

LEAST_JAVA = 17
# Spark 4.3 loads this module; Java runtimes that were trimmed for a wheel or an image lack it.
_MODULE = "jdk.incubator.vector"
_REMEDY = (
    "install the Debian package openjdk-17-jre-headless (apt-get install openjdk-17-jre-headless), "
    "point JAVA_HOME to a full Java 17 or 21, or set SPARK_REMOTE to a Spark Connect server elsewhere."
)


def check_java() -> None:
    """Raise `CannotStart` with one sentence unless a Java that Spark can use is installed."""
    java = find_java()
    if java is None:
        raise CannotStart(f"Spark needs Java {LEAST_JAVA} or later and there is none: {_REMEDY}")
    version = _major_version(_ask(java, "-version").stderr)
    if version < LEAST_JAVA:
        raise CannotStart(f"Spark needs Java {LEAST_JAVA} or later and {java} is Java {version}: {_REMEDY}")
    if _ask(java, "--add-modules", _MODULE, "-version").returncode != 0:
        raise CannotStart(f"{java} lacks the module {_MODULE} that Spark needs: {_REMEDY}")


def find_java() -> str | None:
    """The `java` that Spark's own scripts would run: of JAVA_HOME, otherwise on the PATH."""
    home = os.environ.get("JAVA_HOME")
    if home:
        java = Path(home) / "bin" / "java"
        return str(java) if os.access(java, os.X_OK) else None
    return shutil.which("java")


def _ask(java: str, *arguments: str) -> subprocess.CompletedProcess[str]:
    return subprocess.run([java, *arguments], capture_output=True, text=True, check=False, timeout=30)


def _major_version(banner: str) -> int:
    """17 from `openjdk version "17.0.15"`, 8 from `"1.8.0_292"`, 0 from anything else."""
    found = re.search(r'version "(?:1\.)?(\d+)', banner)
    return int(found[1]) if found else 0
