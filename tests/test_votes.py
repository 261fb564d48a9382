"""Votes by phone: counted once a phone, in time, and nothing else reaches the lecture."""

from __future__ import annotations

import asyncio
import json
import re
import socket
import sys
from collections.abc import Awaitable, Callable, Iterator
from html import escape

import pytest

from lecture import votes
from lecture.__main__ import split
from lecture.votes import LateError, Poll, Question, Votes

LETTERS = {"text": "she took her ?mbrella", "options": [[key, key] for key in "aeiou"]}
QUIZ = {"text": "1. Which?", "options": [["a", "(a) This."], ["b", "(b) That."]]}
HOSTILE: list[object] = [
    *(None, [], "a", 7, {}, {"number": 1}, {"key": "a"}, {"number": "1", "key": "a"}),
    *({"number": 1, "key": key} for key in (None, 1, "", "z", "A", "<b>a</b>", "a" * 500, ["a"])),
]


def opened(question: object = LETTERS) -> tuple[Votes, Question]:
    room = Votes()
    question = room.ask(question)
    assert isinstance(question, Question)
    return room, question


def test_a_phone_has_one_vote_and_may_change_it() -> None:
    room, question = opened()
    for phone, key in (("x", "a"), ("y", "u"), ("x", "u"), ("x", "u")):
        room.vote(phone, {"number": question.number, "key": key})
    assert question.counts() == {"u": 2}
    shown = room.shown_to("x")
    assert shown is not None
    assert shown["chosen"] == "u"
    stranger = room.shown_to("z")
    assert stranger is not None
    assert stranger["chosen"] is None


def test_a_late_vote_is_none() -> None:
    room, first = opened()
    for later in (QUIZ, None):
        room.ask(later)
        with pytest.raises(LateError, match="closed; your vote came too late"):
            room.vote("x", {"number": first.number, "key": "a"})
    again = room.ask(LETTERS)  # its votes are kept
    assert again is first
    room.vote("x", {"number": first.number, "key": "a"})
    assert first.counts() == {"a": 1}


@pytest.mark.parametrize("ballot", HOSTILE)
def test_what_is_no_vote_is_not_counted(ballot: object) -> None:
    room, question = opened()
    with pytest.raises(ValueError, match=r"vote|option"):
        room.vote("x", ballot)
    assert question.counts() == {}


@pytest.mark.parametrize(
    "question",
    [{}, 1, {"text": "x"}, {"text": "x", "options": []}, {"text": "x", "options": [["a"]]}],
)
def test_what_is_no_question_is_not_asked(question: object) -> None:
    with pytest.raises(ValueError, match=r"A question is|An option is"):
        Votes().ask(question)


# --- over a network -----------------------------------------------------------------------------


class Reply:
    """An answer of the server."""

    def __init__(self, raw: bytes) -> None:
        head, _, body = raw.partition(b"\r\n\r\n")
        self.head, self.body = head.decode("latin1"), body.decode()
        self.status = int(self.head.split()[1])


async def connect(
    poll: Poll, phone: str, what: str, path: str, body: str
) -> tuple[asyncio.StreamReader, asyncio.StreamWriter]:
    host, port = re.split("[/:]+", poll.address)[1:3]
    local = (phone, 0) if sys.platform == "linux" else None  # 127.0.0.0/8 is all this machine
    reader, writer = await asyncio.open_connection(host, int(port), local_addr=local)
    length = f"Content-Length: {len(body)}\r\n" if what == "POST" else ""
    head = f"{what} {path} HTTP/1.1\r\nHost: {host}:{port}\r\nConnection: close\r\n{length}\r\n"
    writer.write((head + body).encode())
    await writer.drain()
    return reader, writer


async def send(poll: Poll, phone: str, what: str, path: str, body: str = "") -> Reply:
    reader, writer = await connect(poll, phone, what, path, body)
    raw = await reader.read()
    writer.close()
    return Reply(raw)


def during(talk: Callable[[Poll], Awaitable[None]]) -> None:
    """Let phones talk to a poll on this machine."""

    async def run() -> None:
        poll = Poll("127.0.0.1")
        try:
            await asyncio.wait_for(talk(poll), 60)
        finally:
            await poll.close()

    asyncio.run(run())


linux = pytest.mark.skipif(sys.platform != "linux", reason="needs many addresses of one machine")


@linux
def test_three_hundred_phones_hear_the_question_and_vote() -> None:
    phones = [f"127.0.{1 + n // 200}.{1 + n % 200}" for n in range(300)]

    async def talk(poll: Poll) -> None:
        where = f"/{poll.token}"

        async def attend(phone: str, key: str) -> None:
            reader, writer = await connect(poll, phone, "GET", f"{where}/asked", "")
            while True:
                line = await reader.readline()
                if line.startswith(b"data: ") and (asked := json.loads(line[6:])):
                    break
                if b"data: {" in line:
                    asked = json.loads(line[line.index(b"{") :])
                    break
            ballot = json.dumps({"number": asked["number"], "key": key})
            reply = await send(poll, phone, "POST", f"{where}/vote", ballot)
            assert reply.status == 204, reply.body
            writer.close()

        attending = [
            asyncio.ensure_future(attend(phone, "aeiou"[n % 5])) for n, phone in enumerate(phones)
        ]
        await asyncio.sleep(0.5)
        poll.votes.ask(LETTERS)
        await asyncio.gather(*attending)
        assert poll.votes.open is not None
        assert poll.votes.open.counts() == dict.fromkeys("aeiou", 60)

    during(talk)


def test_a_phone_reaches_nothing_but_its_page() -> None:
    async def talk(poll: Poll) -> None:
        me = "127.0.0.1"
        poll.votes.ask(QUIZ)
        where = f"/{poll.token}"
        page = await send(poll, me, "GET", f"{where}/")
        assert page.status == 200
        assert "<h1" in page.body
        assert "default-src 'none'" in page.head
        assert (
            await send(poll, me, "GET", where)
        ).status == 301  # to where its script is beside it
        for path in (
            *(
                "/",
                "/asked",
                "/vote",
                "/api/kernels",
                "/votes",
                f"/{'a' * 6}/",
                f"/{'a' * 6}/asked",
            ),
            *(f"{where}/../votes.py", f"{where}/%2e%2e/votes.py", f"{where}/..%2fvotes.py"),
            *(f"{where}/votes", f"{where}//etc/passwd", f"{where}/phone.py"),
        ):
            reply = await send(poll, me, "GET", path)
            assert reply.status in (403, 404, 405), path
            assert "import" not in reply.body
        # No page of another site can read or be shown this one.
        assert "Access-Control" not in page.head
        assert (await send(poll, me, "PUT", f"{where}/vote", "")).status == 405

    during(talk)


def test_hostile_votes_change_nothing_and_are_not_repeated() -> None:
    script = "<script>alert(1)</script>"
    bodies = [
        *map(json.dumps, HOSTILE),
        *("", "{", "nan", "[" * 900, json.dumps({"number": 1, "key": script}), "\x00" * 99),
    ]

    async def talk(poll: Poll) -> None:
        question = poll.votes.ask(QUIZ)
        assert question is not None
        for body in bodies:
            reply = await send(poll, "127.0.0.1", "POST", f"/{poll.token}/vote", body)
            assert (reply.status, reply.body) == (400, "That was no vote."), body
            assert "text/plain" in reply.head
        assert question.counts() == {}
        with pytest.raises((ConnectionError, IndexError)):  # more than it ever reads
            await send(poll, "127.0.0.1", "POST", f"/{poll.token}/vote", "a" * 100_000)
        poll.votes.ask(None)
        late = await send(
            poll, "127.0.0.1", "POST", f"/{poll.token}/vote", json.dumps({"number": 1, "key": "a"})
        )
        assert (late.status, late.body) == (
            409,
            "This question is closed; your vote came too late.",
        )

    during(talk)


def test_a_phone_opens_a_few_pages_at_once_and_leaving_frees_them() -> None:
    async def talk(poll: Poll) -> None:
        where, me = f"/{poll.token}/asked", "127.0.0.1"
        opened = [await connect(poll, me, "GET", where, "") for _ in range(votes.AT_ONCE)]
        for reader, _ in opened:
            await reader.readuntil(b"data: ")
        assert (await send(poll, me, "GET", where)).status == 429
        for _, writer in opened:
            writer.close()
        await asyncio.sleep(0.2)
        reader, writer = await connect(poll, me, "GET", where, "")
        assert b"200" in await reader.readline()
        writer.close()

    during(talk)


# --- where phones vote --------------------------------------------------------------------------


@pytest.fixture
def taken() -> Iterator[int]:
    with socket.socket() as other:
        other.bind(("127.0.0.1", 0))
        other.listen()
        yield other.getsockname()[1]


def test_what_cannot_be_listened_at_is_told(taken: int, monkeypatch: pytest.MonkeyPatch) -> None:
    for where in (f"127.0.0.1:{taken}", "192.0.2.1", "127.0.0.1:x", "127.0.0.1:99999", "nowhere."):
        with pytest.raises(ValueError, match=r"^(Nobody can listen|--votes takes)"):
            Poll(where)
    monkeypatch.setattr(votes, "own_address", lambda: "")
    with pytest.raises(ValueError, match="is in no network, so nobody can vote"):
        Poll()


def test_two_lectures_have_ports_and_tokens_of_their_own() -> None:
    async def talk(one: Poll) -> None:
        other = Poll("127.0.0.1")
        await other.close()
        assert one.address != other.address
        assert one.token != other.token
        assert escape(one.address) == one.address  # it stands in the page as it is

    during(talk)


@pytest.mark.parametrize(
    ("arguments", "where", "others"),
    [
        (["90"], None, ["90"]),
        (["90", "--votes", "--no-browser"], "", ["90", "--no-browser"]),
        (["--votes=10.0.0.5:9000"], "10.0.0.5:9000", []),
    ],
)
def test_the_flag(arguments: list[str], where: str | None, others: list[str]) -> None:
    assert split(arguments) == (where, others)
