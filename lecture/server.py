"""The lecture's server: Voilà, the project's address, and beside it the poll that phones reach."""

from __future__ import annotations

import json
from typing import Any

import segno
from jupyter_server.base.handlers import APIHandler
from jupyter_server.utils import url_path_join
from tornado.web import HTTPError, authenticated
from voila.app import Voila

from lecture.votes import Poll, Votes
from notebooks.colab import GITHUB, here


class Asking(APIHandler):
    """Lets the lecturer's page, and nobody without the server's token, ask the room."""

    def initialize(self, votes: Votes) -> None:
        """Remember what is voted on."""
        self.votes = votes

    @authenticated
    def get(self) -> None:
        """Give the page the cookie that shows a question to come from it, and from no other."""
        assert self.xsrf_token
        self.set_status(204)

    @authenticated
    def post(self) -> None:
        """Open the question that is sent, or close the open one for ``null``; return the votes."""
        try:
            question = self.votes.ask(json.loads(self.request.body))
        except ValueError as error:
            raise HTTPError(400, str(error)) from None
        counted = question and {"number": question.number, "counts": question.counts()}
        self.finish(json.dumps(counted))


def with_code(address: str) -> dict[str, str]:
    """Return an address and its QR code, for the page's template."""
    code = segno.make(address, error="m", micro=False)
    return {"address": address, "code": code.svg_inline(omitsize=True, border=4)}


class Lecture(Voila):  # type: ignore[misc]  # Voilà has no types
    """A lecture that knows its project's address, and in which phones may vote.

    Args:
        where: phones vote: ``ADDRESS`` or ``ADDRESS:PORT`` of this machine, "" for its own, None
            for nowhere.
        others: what Voilà is made with.
    """

    def __init__(self, where: str | None = None, **others: Any) -> None:
        super().__init__(**others)
        self.where = where
        self.poll: Poll | None = None

    def initialize(self, argv: list[str] | None = None) -> None:
        """Listen for phones, or say why nobody can vote; tell the template all addresses."""
        super().initialize(argv)
        shown = {}
        if repository := here():
            shown["home"] = with_code(GITHUB + repository)
        if self.where is not None:
            try:
                self.poll = Poll(self.where)
            except ValueError as error:
                print(f"{error} The lecture runs without votes: count hands.", flush=True)
            else:
                shown["votes"] = with_code(self.poll.address)
                print(f"Phones vote at {self.poll.address}", flush=True)
        self.voila_configuration.config.VoilaConfiguration.resources = shown

    def init_handlers(self) -> list[Any]:
        """Add the lecturer's side of the votes to Voilà's own handlers."""
        handlers: list[Any] = super().init_handlers()
        if self.poll:
            address = url_path_join(self.server_url, "votes")
            handlers.insert(0, (address, Asking, {"votes": self.poll.votes}))
        return handlers
