"""Put on PYTHONPATH, this forbids a Python process every connection that leaves the machine."""

import ipaddress
import socket
from typing import Any

_connect, _getaddrinfo = socket.socket.connect, socket.getaddrinfo
_LOCAL_NAMES = {"localhost", "", None}


def _is_local(host: object) -> bool:
    if isinstance(host, bytes):
        host = host.decode()
    try:
        return host in _LOCAL_NAMES or ipaddress.ip_address(str(host)).is_loopback
    except ValueError:
        return False


def _refuse(host: object) -> None:
    if not _is_local(host):
        raise PermissionError(f"The series touches no network, but something asked for {host!r}.")


def connect(self: socket.socket, address: Any) -> None:
    if self.family in (socket.AF_INET, socket.AF_INET6):
        _refuse(address[0])
    _connect(self, address)


def getaddrinfo(host: Any, *arguments: Any, **options: Any) -> Any:
    _refuse(host)
    return _getaddrinfo(host, *arguments, **options)


socket.socket.connect = connect  # type: ignore[method-assign, assignment]
socket.getaddrinfo = getaddrinfo
