"""Votes by phone: a page for the room, on a port of its own that can do nothing else.

The lecturer's page asks a question; phones choose one of its options. What they send is compared
with the options and counted, never shown: a page here holds no text but the lecturer's own. Nobody
is asked for a name, and nothing is kept on the phone or after the lecture. A phone is told from
others by its address in the room's network, so one that votes again changes its vote.
"""

from __future__ import annotations

import asyncio
import json
import secrets
import socket
from collections import Counter
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from tornado.httpserver import HTTPServer
from tornado.iostream import StreamClosedError
from tornado.web import Application, HTTPError, RequestHandler, StaticFileHandler

PAGE = Path(__file__).with_name("phone")
PORT = 8870
TRIED = 20
"""How many ports, from that one on, are tried if none is named."""
LETTERS = "abcdefghjkmnpqrstuvwxyz23456789"  # none that is taken for another when it is typed
LONGEST = 1024
"""Bytes that a phone may send at once."""
MOST_OPTIONS = 64
AT_ONCE = 4
"""Pages that one phone may have open."""
STILL_THERE = 20.0
"""Seconds after which a waiting phone is sent something, so that one that has gone is noticed."""
SAFE = {
    "Cache-Control": "no-store",
    "Connection": "close",  # a lecture hall of phones must not use up the sockets of a process
    "Content-Security-Policy": (
        "default-src 'none'; script-src 'self'; style-src 'self'; connect-src 'self'; "
        "base-uri 'none'; form-action 'none'; frame-ancestors 'none'"
    ),
    "Referrer-Policy": "no-referrer",
    "X-Content-Type-Options": "nosniff",
}


# --- what is counted --------------------------------------------------------------------------


@dataclass
class Question:
    """What the room is asked, and how it has voted."""

    number: int
    text: str
    options: dict[str, str]
    """What a phone shows for each key."""
    ballots: dict[str, str] = field(default_factory=dict)
    """The key that each phone has chosen, by the phone's address."""

    def counts(self) -> dict[str, int]:
        """Count the votes of each key that has any, in the order of the options."""
        chosen = Counter(self.ballots.values())
        return {key: chosen[key] for key in self.options if chosen[key]}


class Votes:
    """The questions of a lecture, of which one is open at most."""

    def __init__(self) -> None:
        self.open: Question | None = None
        self._asked: dict[str, Question] = {}
        self._changed = asyncio.Event()

    def ask(self, question: object) -> Question | None:
        """Open a question, or close the one that is open; one asked again keeps its votes.

        Args:
            question: ``{"text": …, "options": [[key, text], …]}``, or None for no question.

        Raises:
            ValueError: it is no such question.
        """
        before, self.open = self.open, None if question is None else self._read(question)
        if self.open is not before:
            changed, self._changed = self._changed, asyncio.Event()
            changed.set()
        return self.open

    def _read(self, question: object) -> Question:
        match question:
            case {"text": str(text), "options": [*pairs]} if 0 < len(pairs) <= MOST_OPTIONS:
                options = dict(_pair(each) for each in pairs)
            case _:
                raise ValueError(f"A question is a text and 1 to {MOST_OPTIONS} options.")
        name = json.dumps([text, options])
        return self._asked.setdefault(name, Question(len(self._asked) + 1, text, options))

    def vote(self, phone: str, ballot: object) -> None:
        """Count a vote, or change the one that this phone has cast.

        Args:
            phone: its address.
            ballot: ``{"number": of the question, "key": of an option}``.

        Raises:
            LateError: another question is open by now, or none.
            ValueError: it is no such vote.
        """
        match ballot:
            case {"number": int(number), "key": str(key)}:
                pass
            case _:
                raise ValueError("A vote is the number of a question and the key of an option.")
        if self.open is None or self.open.number != number:
            raise LateError("This question is closed; your vote came too late.")
        if key not in self.open.options:
            raise ValueError("The question has no such option.")
        self.open.ballots[phone] = key

    def shown_to(self, phone: str) -> dict[str, Any] | None:
        """Return what a phone shows: the open question, and what this phone has chosen."""
        if not self.open:
            return None
        return {
            "number": self.open.number,
            "text": self.open.text,
            "options": list(self.open.options.items()),
            "chosen": self.open.ballots.get(phone),
        }

    async def change(self) -> None:
        """Wait until another question is open, or none."""
        await self._changed.wait()


class LateError(Exception):
    """A vote on a question that is not open any more."""


def _pair(option: object) -> tuple[str, str]:
    match option:
        case [str(key), str(text)]:
            return key, text
    raise ValueError("An option is a key and a text.")


# --- what phones reach ------------------------------------------------------------------------


class Phone(RequestHandler):
    """Answers one phone."""

    def initialize(self, votes: Votes) -> None:
        """Remember what is voted on."""
        self.votes = votes

    def set_default_headers(self) -> None:
        """Let the page load nothing but its own script and style."""
        secure(self)

    @property
    def phone(self) -> str:
        """What tells this phone from others."""
        return str(self.request.remote_ip)

    def write_error(self, status_code: int, **about: Any) -> None:  # noqa: ARG002
        """Say in plain text what is wrong."""
        self.set_header("Content-Type", "text/plain; charset=utf-8")
        error = about["exc_info"][1] if "exc_info" in about else None
        said = error.log_message if isinstance(error, HTTPError) else None
        self.finish(said or "There is nothing here.")


class Asked(Phone):
    """Tells a phone the question, and whenever it changes."""

    def prepare(self) -> None:
        """Notice when the phone has gone."""
        self.gone = asyncio.Event()

    def on_connection_close(self) -> None:
        """End what waits for a phone that has gone."""
        self.gone.set()

    async def get(self) -> None:
        """Stay connected and send what is to be shown, as server-sent events."""
        pages = self.settings["pages"]
        if pages[self.phone] >= AT_ONCE:
            raise HTTPError(429, "This page is open too often on your phone; close the others.")
        pages[self.phone] += 1
        self.set_header("Content-Type", "text/event-stream")
        try:
            while not self.gone.is_set():
                waits = [
                    asyncio.ensure_future(each()) for each in (self.votes.change, self.gone.wait)
                ]
                self.write(f"data: {json.dumps(self.votes.shown_to(self.phone))}\n\n")
                await self.flush()
                await asyncio.wait(waits, timeout=STILL_THERE, return_when=asyncio.FIRST_COMPLETED)
                for each in waits:
                    each.cancel()
        except StreamClosedError:
            pass
        finally:
            pages[self.phone] -= 1


class Vote(Phone):
    """Takes the vote of a phone."""

    def post(self) -> None:
        """Count it, or say in a sentence why not."""
        try:
            self.votes.vote(self.phone, json.loads(self.request.body))
        except LateError as error:
            raise HTTPError(409, str(error)) from None
        except (ValueError, RecursionError):  # whatever is no vote; a phone's page sends none
            raise HTTPError(400, "That was no vote.") from None
        self.set_status(204)


class Static(StaticFileHandler):
    """Sends the page, its script and its style."""

    def set_extra_headers(self, path: str) -> None:  # noqa: ARG002
        """Let the page load nothing else, and the phone keep nothing."""
        secure(self)


def secure(handler: RequestHandler) -> None:
    """Set the headers of all answers to phones."""
    for name, value in SAFE.items():
        handler.set_header(name, value)


def _silent(_: RequestHandler) -> None:
    """Keep no list of who has voted."""


def application(votes: Votes, token: str) -> Application:
    """Make what phones reach: with the token a page that votes, and without it nothing."""
    page = {"path": str(PAGE), "default_filename": "index.html"}
    return Application(
        [
            (f"/{token}/asked", Asked, {"votes": votes}),
            (f"/{token}/vote", Vote, {"votes": votes}),
            (f"/{token}()", Static, page),
            (f"/{token}/(.*)", Static, page),
        ],
        default_handler_class=Phone,
        default_handler_args={"votes": votes},
        log_function=_silent,
        pages=Counter(),
    )


def own_address() -> str:
    """Find this machine's address in the network it would go out by; "" if it is in none."""
    with socket.socket(socket.AF_INET, socket.SOCK_DGRAM) as probe:
        try:
            probe.connect(("192.0.2.1", 9))  # of no machine, and nothing is sent
        except OSError:
            return ""
        return str(probe.getsockname()[0])


class Poll:
    """Votes, and where phones reach them."""

    def __init__(self, where: str = "") -> None:
        """Listen for phones.

        Args:
            where: ``ADDRESS`` or ``ADDRESS:PORT`` of this machine; by default its own.

        Raises:
            ValueError: nobody can listen there.
        """
        address, _, port = where.partition(":")
        address = address or own_address()
        if not address:
            raise ValueError("This computer is in no network, so nobody can vote by phone.")
        if port and not (port.isdecimal() and 0 < int(port) < 2**16):
            raise ValueError(f"--votes takes an address or ADDRESS:PORT, not {where}.")
        self.votes = Votes()
        self.token = "".join(secrets.choice(LETTERS) for _ in range(6))
        ports = [int(port)] if port else range(PORT, PORT + TRIED)
        for number in ports:
            try:
                listening = socket.create_server((address, number), backlog=512)
            except OSError as error:
                reason = error
            else:
                break
        else:
            raise ValueError(f"Nobody can listen for phones at {where or address}: {reason}.")
        listening.setblocking(False)
        self.address = f"http://{address}:{number}/{self.token}"
        self.server = HTTPServer(
            application(self.votes, self.token),
            max_body_size=LONGEST,
            idle_connection_timeout=3 * STILL_THERE,
        )
        self.server.add_socket(listening)

    async def close(self) -> None:
        """Listen no longer."""
        self.server.stop()
        await self.server.close_all_connections()
