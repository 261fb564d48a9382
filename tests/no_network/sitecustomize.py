"""Put on PYTHONPATH, this forbids a Python process every connection that leaves the machine."""

import functools
import ipaddress
import socket
from collections.abc import Callable
from typing import Any

_LOCAL_NAMES = {"localhost", "", None}


def _is_local(host: Any) -> bool:
    if isinstance(host, bytes):
        host = host.decode()
    try:
        return host in _LOCAL_NAMES or ipaddress.ip_address(host).is_loopback
    except ValueError:
        return False


def _refuse_unless_local(host: object) -> None:
    if not _is_local(host):
        raise PermissionError(f"The series touches no network, but something asked for {host!r}.")


def _guard_name(name: str) -> None:
    """Guard a function whose first argument is the name of a host."""
    unguarded: Callable[..., Any] = getattr(socket, name)

    @functools.wraps(unguarded)
    def guarded(host: Any, *arguments: Any, **options: Any) -> Any:
        _refuse_unless_local(host)
        return unguarded(host, *arguments, **options)

    setattr(socket, name, guarded)


def _guard_address(name: str) -> None:
    """Guard a method of sockets whose last argument is an address."""
    unguarded: Callable[..., Any] = getattr(socket.socket, name)

    @functools.wraps(unguarded)
    def guarded(self: socket.socket, *arguments: Any) -> Any:
        if self.family in (socket.AF_INET, socket.AF_INET6):
            _refuse_unless_local(arguments[-1][0])
        return unguarded(self, *arguments)

    setattr(socket.socket, name, guarded)


for _name in ("getaddrinfo", "gethostbyname", "gethostbyname_ex"):
    _guard_name(_name)
for _name in ("connect", "connect_ex", "sendto"):
    _guard_address(_name)
