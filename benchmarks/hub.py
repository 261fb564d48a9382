"""How many learners one JupyterHub serves, what each takes, and what one can do to another.

``python -m benchmarks.hub --learners 16`` starts a real JupyterHub with its proxy on this machine's
loopback, with the configuration in ``hub/``. Learners log in with a password, all at the same
moment; get their copy of the series; open notebook 05, start its kernel, run its cells down to the
explorer and click there every two seconds for a minute. They speak HTTP and the kernel's protocol
as a browser does, and fetch the same files. One more does the same in Chromium. First a single
learner, then all. Afterwards each opens a second notebook, one server is killed, and one learner
closes a notebook and waits for its kernel to end.

As root on Linux learners are users of the system, made for this and removed afterwards; otherwise
all servers run as whoever runs this. ``npm ci`` brings the proxy. Learners' servers run with
``--python``, which has to be an environment that others may read, and in which the package is
installed with its extra ``hub``.
"""

from __future__ import annotations

import argparse
import asyncio
import json
import math
import os
import random
import re
import secrets
import shutil
import statistics
import subprocess
import sys
import tempfile
import time
import urllib.request
import uuid
from collections.abc import AsyncIterator, Iterator, Mapping, Sequence
from contextlib import AsyncExitStack, ExitStack, contextmanager, suppress
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any
from urllib.parse import parse_qs, urlsplit

import aiohttp
import nbformat
import psutil
from playwright.sync_api import Error as PlaywrightError
from yarl import URL

from benchmarks.classroom import EVERY, LINE
from benchmarks.machine import machine
from tests.browser.jupyter import Notebook, Server, click_and_time, free_port, mortal
from web.browser import browsing, chromium

ROOT = Path(__file__).resolve().parents[1]
PATIENCE = 300.0
SECONDS = 60.0
COPY = "cloze/notebooks"
"""Where a learner's notebooks are."""
CULLED_AFTER = 20
"""Seconds after which the kernel of a closed notebook ends here, where a hub has half an hour."""
SERVERS = {
    "hub/": ("-P", "-m", "cloze.serving.hub"),
    "hub/ with plain kernels": (
        "-P",
        "-c",
        "import sys; from cloze.serving import hub, warm; warm.start = lambda _: None; "
        "hub.start(sys.argv[1:])",
    ),
    "jupyterhub-singleuser": ("-P", "-m", "jupyterhub.singleuser"),
}
"""What a learner's server can be."""
CONFIGURATION = """\
load_subconfig({hub!r})
c = get_config()
c.Spawner.cmd = {command!r}
c.Spawner.args = {arguments!r}
c.Spawner.environment = {{"GIT_CONFIG_SYSTEM": {git!r}}}
c.Spawner.start_timeout = c.Spawner.http_timeout = 120
c.JupyterHub.bind_url = {url!r}
c.JupyterHub.hub_port = {ports[1]}
c.JupyterHub.concurrent_spawn_limit = 0
c.JupyterHub.spawner_class = {spawner!r}
c.JupyterHub.authenticator_class = {authenticator!r}
c.ConfigurableHTTPProxy.command = {proxy!r}
c.ConfigurableHTTPProxy.api_url = "http://127.0.0.1:{ports[2]}"
c.Authenticator.allow_all = True
c.PAMAuthenticator.open_sessions = False
c.DummyAuthenticator.password = {password!r}
c.SimpleLocalProcessSpawner.home_dir_template = {home!r}
"""


def proxy() -> list[str] | None:
    """Find the command of JupyterHub's proxy: what npm put here, or what is installed."""
    script = ROOT / "node_modules/configurable-http-proxy/bin/configurable-http-proxy"
    node = shutil.which("node")
    if node and script.exists():
        return [node, str(script)]
    installed = shutil.which("configurable-http-proxy")
    return [installed] if installed else None


def healthy(url: str) -> bool:
    """Tell whether the hub answers, and not only its proxy, which does so first."""
    with suppress(OSError), urllib.request.urlopen(f"{url}/hub/health", timeout=5):  # noqa: S310
        return True
    return False


def can_make_users() -> bool:
    """Tell whether learners can be users of this system."""
    return sys.platform == "linux" and os.geteuid() == 0 and bool(shutil.which("useradd"))


@dataclass
class Hub:
    """A running JupyterHub."""

    url: str
    folder: Path
    passwords: Mapping[str, str]
    """By the names of the learners."""
    process: subprocess.Popen[bytes]

    def megabytes(self) -> float:
        """Memory of the hub and its proxy in MB."""
        hub = psutil.Process(self.process.pid)
        services = [p for p in hub.children() if learner_of(p) not in self.passwords]
        return sum(map(megabytes, [hub, *services]))

    def processes(self) -> dict[str, list[psutil.Process]]:
        """Find the processes of each learner."""
        found: dict[str, list[psutil.Process]] = {name: [] for name in self.passwords}
        for process in psutil.process_iter():
            if (name := learner_of(process)) in found:
                found[name].append(process)
        return found


def learner_of(process: psutil.Process) -> str:
    """Tell whose a process is, by what its server was started with; "" if it is nobody's."""
    with suppress(psutil.Error):
        return str(process.environ().get("JUPYTERHUB_USER", ""))
    return ""


def megabytes(process: psutil.Process) -> float:
    """Memory of a process in MB; what it shares with others is counted in parts."""
    with suppress(psutil.NoSuchProcess):
        memory = process.memory_full_info()
        return float(getattr(memory, "pss", memory.uss)) / 2**20
    return 0.0


def core_seconds(process: psutil.Process) -> float:
    """Seconds that a process, and what it has waited for, have spent on a processor."""
    with suppress(psutil.NoSuchProcess):
        times = process.cpu_times()
        return float(times.user + times.system + times.children_user + times.children_system)
    return 0.0


@contextmanager
def users(names: Sequence[str], home: Path) -> Iterator[dict[str, str]]:
    """Make users of the system for this block; yield their passwords.

    Raises:
        ValueError: there is one of that name.
    """
    passwords = {name: secrets.token_urlsafe(12) for name in names}
    made = []
    try:
        for name in names:
            command = ["useradd", "--create-home", "--base-dir", str(home), "--shell", "/bin/bash"]
            done = subprocess.run(  # noqa: S603
                [*command, "--key", "HOME_MODE=0700", name], capture_output=True, text=True
            )
            if done.returncode:
                raise ValueError(f"The user {name} cannot be made: {done.stderr.strip()}.")
            made.append(name)
        lines = "".join(f"{name}:{password}\n" for name, password in passwords.items())
        subprocess.run(["chpasswd"], input=lines, text=True, check=True)  # noqa: S607
        yield passwords
    finally:
        for name in made:  # by force, for a kernel takes a second to end
            delete = ["userdel", "--force", "--remove", name]
            subprocess.run(delete, capture_output=True)  # noqa: S603


@contextmanager
def hub(
    python: str, names: Sequence[str], command: Sequence[str] = SERVERS["hub/"]
) -> Iterator[Hub]:
    """Run a JupyterHub with these learners until this block ends.

    Args:
        python: of the environment of hub and learners.
        names: of the learners.
        command: what Python starts as their server.

    Raises:
        ValueError: something that it needs is missing.
    """
    found = proxy()
    if found is None:
        raise ValueError("There is no configurable-http-proxy: run `npm ci` here first.")
    with ExitStack() as stack:
        folder = Path(stack.enter_context(tempfile.TemporaryDirectory(prefix="hub-")))
        folder.chmod(0o755)
        series = folder / "cloze"
        copy = ["git", "clone", "--quiet", "--bare", f"file://{ROOT}", str(series)]
        subprocess.run(copy, check=True)  # noqa: S603
        git = folder / "gitconfig"
        git.write_text(f"[safe]\n\tdirectory = {series}\n", encoding="utf-8")
        shared = secrets.token_urlsafe(12)
        passwords = dict.fromkeys(names, shared)
        if can_make_users():
            passwords = stack.enter_context(users(names, folder))
            other = ["runuser", "-u", names[0], "--", python, "-c"]
            other.append("import cloze.serving.hub, jupyterhub")
            if subprocess.run(other, cwd=folder, capture_output=True).returncode:  # noqa: S603
                raise ValueError(
                    f"Other users of this machine cannot run {python} with the package and "
                    "JupyterHub: name another with --python."
                )
        ports = [free_port() for _ in range(3)]
        url = f"http://127.0.0.1:{ports[0]}"
        configuration = folder / "configuration.py"
        configuration.touch(0o600)
        configuration.write_text(
            CONFIGURATION.format(
                hub=str(ROOT / "hub" / "jupyterhub_config.py"),
                command=[python, *command],
                arguments=[
                    f"--MappingKernelManager.cull_idle_timeout={CULLED_AFTER}",
                    "--MappingKernelManager.cull_interval=5",
                    "--LabApp.expose_app_in_browser=True",
                ],
                git=str(git),
                url=url,
                ports=ports,
                spawner="localprocess" if can_make_users() else "simple",
                authenticator="pam" if can_make_users() else "dummy",
                proxy=found,
                password=shared,
                home=str(folder / "{username}"),
            ),
            encoding="utf-8",
        )
        environment = os.environ | {"CLOZE_SERIES": f"file://{series}"}
        log = stack.enter_context((folder / "log.txt").open("wb"))
        process = stack.enter_context(
            subprocess.Popen(  # noqa: S603
                mortal([python, "-m", "jupyterhub", "--config", str(configuration)]),
                cwd=folder,
                env=environment,
                stdout=log,
                stderr=log,
            )
        )
        stack.callback(process.terminate)  # whereupon it ends the servers
        deadline = time.monotonic() + PATIENCE
        while not healthy(url):
            if process.poll() is not None or time.monotonic() > deadline:
                raise RuntimeError(f"The hub did not start:\n{(folder / 'log.txt').read_text()}")
            time.sleep(0.1)
        yield Hub(url, folder, passwords, process)


# --- learners ---------------------------------------------------------------------------------


class HubError(Exception):
    """Something that a learner would have seen as an error."""


ERRORS = (HubError, aiohttp.ClientError, TimeoutError, TypeError)
"""And a connection that breaks: a message of a closed one is no text."""


class Kernel:
    """A notebook's kernel, and the connection through which a browser would speak to it."""

    def __init__(self, number: str, socket: aiohttp.ClientWebSocketResponse) -> None:
        self.number = number
        self._socket = socket
        self._session = uuid.uuid4().hex

    async def _send(self, kind: str, content: Mapping[str, Any]) -> str:
        number = uuid.uuid4().hex
        header = {"msg_id": number, "msg_type": kind, "session": self._session, "username": ""}
        header |= {"version": "5.3", "date": ""}
        message = {"header": header, "parent_header": {}, "metadata": {}, "buffers": []}
        await self._socket.send_json(message | {"channel": "shell", "content": content})
        return number

    async def _answers(self, number: str) -> AsyncIterator[dict[str, Any]]:
        while True:
            message = json.loads(await self._socket.receive_str())
            if message["parent_header"].get("msg_id") == number:
                yield message

    async def run(self, code: str) -> str:
        """Run a cell and return what it prints.

        Raises:
            HubError: the cell failed.
        """
        asked = {"code": code, "silent": False, "store_history": True, "user_expressions": {}}
        number = await self._send("execute_request", asked | {"allow_stdin": False})
        printed = ""
        async for message in self._answers(number):
            content = message["content"]
            if message["msg_type"] == "error":
                raise HubError(f"{content['ename']}: {content['evalue']}")
            if content.get("name") == "stdout":
                printed += content["text"]
            if content.get("execution_state") == "idle":
                return printed
        raise AssertionError

    async def leave(self) -> None:
        """Close the connection, as a page does that is closed."""
        await self._socket.close()

    async def click(self, comm_id: str, at: int) -> float:
        """Click a letter of an explorer; return the seconds until the new bars arrive."""
        state = {"masked": [at], "focus": at}
        sent = {"truth": list(LINE), "filled": {}, "hands": {}} | state
        question = {"ask": "guesses", "id": "0", "sent": sent}
        started = time.perf_counter()
        update = {"method": "update", "state": state, "buffer_paths": []}
        await self._send("comm_msg", {"comm_id": comm_id, "data": update})
        custom = {"method": "custom", "content": question}
        number = await self._send("comm_msg", {"comm_id": comm_id, "data": custom})
        async for message in self._answers(number):
            if "answer" in message["content"].get("data", {}).get("content", {}):
                return time.perf_counter() - started
        raise AssertionError


@dataclass
class Learner:
    """Somebody with a browser's cookies."""

    hub: Hub
    name: str
    session: aiohttp.ClientSession
    kernels: list[Kernel] = field(default_factory=list)
    comm_id: str = ""
    answers: list[float] = field(default_factory=list)
    """Seconds from each click to its answer."""

    @property
    def base(self) -> str:
        """The address of the learner's server."""
        return f"{self.hub.url}/user/{self.name}"

    def forgery(self, base: str) -> dict[str, str]:
        """What a page sends along to show that it comes from there."""
        cookies = [c for c in self.session.cookie_jar if c.key == "_xsrf"]
        paths = {cookie["path"].rstrip("/"): cookie.value for cookie in cookies}
        path = urlsplit(base).path
        return {"X-XSRFToken": paths[max((p for p in paths if path.startswith(p)), key=len)]}

    async def arrive(self) -> None:
        """Log in and wait until the server is up.

        Raises:
            HubError: the hub refuses.
        """
        login = f"{self.hub.url}/hub/login"
        async with self.session.get(login) as page:
            stranger = page.url.path == "/hub/login"
        if stranger:
            form = {"username": self.name, "password": self.hub.passwords[self.name]}
            form["_xsrf"] = self.forgery(login)["X-XSRFToken"]
            async with self.session.post(f"{login}?next=/hub/spawn", data=form) as page:
                if page.status >= 400 or page.url.path == "/hub/login":
                    raise HubError(f"{self.name} cannot log in: {page.status}")
        while True:
            async with self.session.get(f"{self.hub.url}/hub/spawn") as page:
                if page.ok and page.url.path.startswith(f"/user/{self.name}/"):
                    self.opened = page.url
                    return
                if not page.ok and page.status != 503:  # a server that ended, as a hub sees late
                    raise HubError(f"{self.name} has no server: {page.status}")
            await asyncio.sleep(0.5)

    async def get_copy(self) -> None:
        """Let nbgitpuller fetch what is new, as the page does at which the server opens.

        Raises:
            HubError: it does not get there.
        """
        repo = parse_qs(self.opened.query_string)["repo"][0]
        api = URL(f"{self.base}/git-pull/api").with_query(repo=repo, targetpath="cloze")
        async with self.session.get(api, headers=self.forgery(self.base)) as said:
            told = await said.text()
        if '"phase": "finished"' not in told:
            raise HubError(told[-500:])

    async def fetch(self, paths: Sequence[str]) -> None:
        """Fetch what JupyterLab's page asks for, six at a time as a browser does."""
        gate = asyncio.Semaphore(6)

        async def one(path: str) -> None:
            async with gate, self.session.get(URL(self.base + path, encoded=True)) as file:
                await file.read()

        await asyncio.gather(*map(one, paths))

    async def open(self, name: str) -> Kernel:
        """Open a notebook, and start its kernel."""
        path = f"{COPY}/{name}"
        async with self.session.get(f"{self.base}/api/contents/{path}") as file:
            file.raise_for_status()
        kernel = {"name": "python3"}
        asked = {"path": path, "name": name, "type": "notebook", "kernel": kernel}
        sessions, headers = f"{self.base}/api/sessions", self.forgery(self.base)
        async with self.session.post(sessions, json=asked, headers=headers) as made:
            made.raise_for_status()
            number = (await made.json())["kernel"]["id"]
        channels = f"{self.base}/api/kernels/{number}/channels"
        self.kernels.append(Kernel(number, await self.session.ws_connect(channels, max_msg_size=0)))
        return self.kernels[-1]

    async def show_the_explorer(self) -> None:
        """Open 05, run its cells down to the explorer, and click once."""
        kernel = await self.open("05_the_explorer.ipynb")
        for cell in until_the_explorer():
            await kernel.run(cell)
        self.comm_id = (await kernel.run("print(explorer.comm.comm_id)")).strip()
        await kernel.click(self.comm_id, 0)

    async def click_for(self, seconds: float) -> None:
        """Click every two seconds, at moments that differ from learner to learner."""
        chance = random.Random(self.name)  # noqa: S311
        over = time.monotonic() + seconds
        due = time.monotonic() + chance.uniform(0, EVERY)
        while due < over:
            await asyncio.sleep(max(0.0, due - time.monotonic()))
            clicked = self.kernels[0].click(self.comm_id, chance.randrange(40))
            self.answers.append(await asyncio.wait_for(clicked, 10))
            due = max(time.monotonic(), due + chance.uniform(0.5, 1.5) * EVERY)

    async def running(self) -> set[str]:
        """Ask which kernels the server has."""
        async with self.session.get(f"{self.base}/api/kernels") as listed:
            listed.raise_for_status()
            return {kernel["id"] for kernel in await listed.json()}


def code_of(name: str) -> list[str]:
    """Read the code cells of a notebook."""
    notebook = nbformat.read(ROOT / "notebooks" / name, as_version=4)
    return [cell.source for cell in notebook.cells if cell.cell_type == "code"]


def until_the_explorer() -> list[str]:
    """List the cells of 05 down to the one that shows the explorer."""
    cells = code_of("05_the_explorer.ipynb")
    at = next(i for i, cell in enumerate(cells) if "MaskExplorer(" in cell)
    return cells[: at + 1]


async def learner(stack: AsyncExitStack, hub: Hub, name: str) -> Learner:
    """Give a learner a browser's session, until the stack is closed."""
    jar = aiohttp.CookieJar(unsafe=True)  # or it would keep none of an address in numbers
    limits = aiohttp.ClientTimeout(total=PATIENCE)
    session = aiohttp.ClientSession(cookie_jar=jar, timeout=limits)
    return Learner(hub, name, await stack.enter_async_context(session))


# --- a lesson ---------------------------------------------------------------------------------


@dataclass(frozen=True)
class HubServer(Server):
    """A learner's server, which asks for no token once somebody has logged in."""

    def address(self, name: str) -> str:
        """Name the page of a notebook."""
        return f"{self.url}/{self.opens}/{name}"


def in_chromium(hub: Hub, name: str, clicks: int) -> tuple[float, list[float], list[str]]:
    """Log in, open 05, run its cells down to the explorer and click there, as a person does.

    Returns:
        Seconds until the explorer was there; seconds until each click was answered; and which
        files of the learner's server the browser asked for.
    """
    executable = chromium()
    assert executable
    server = HubServer(f"{hub.url}/user/{name}", "lab/tree", hub.folder)
    files: list[str] = []
    with browsing(executable) as browser:
        page = browser.new_page()
        page.on("request", lambda request: files.append(request.url))
        started = time.perf_counter()
        page.goto(hub.url)
        page.locator("input[name=username]").fill(name)
        page.locator("input[name=password]").fill(hub.passwords[name])
        page.locator("input[type=submit]").click()
        page.wait_for_url("**/lab/tree/**", timeout=1000 * PATIENCE)
        notebook = Notebook(server, page)
        notebook.name = f"{COPY}/05_the_explorer.ipynb"
        notebook.open()
        notebook.tell(
            """async ({ content }, n, { commands }) => {
                const code = content.widgets.filter(({ model }) => model.type === "code");
                for (const cell of code.slice(0, n)) {
                    content.activeCellIndex = content.widgets.indexOf(cell);
                    await commands.execute("notebook:run-cell");
                }
            }""",
            len(until_the_explorer()),
        )
        explorer = notebook.widget().first
        buttons = explorer.locator("button[data-do=toggle]")
        buttons.first.wait_for()
        there = time.perf_counter() - started
        answers = []
        for at in range(clicks):
            page.wait_for_timeout(300)
            answer = rf"Position {at},? masked\. From both"
            answers.append(click_and_time(buttons.nth(at), explorer, answer).html)
    paths = [file.removeprefix(server.url) for file in files if file.startswith(server.url)]
    return there, answers, [p for p in paths if re.match("/(static|lab/extensions|lab/api)/", p)]


@dataclass
class Lesson:
    """What was measured in one lesson."""

    learners: int
    up: float = math.nan
    """Seconds until all had a server."""
    explorer: float = math.nan
    """Seconds from then until all had the answer to a first click."""
    answers: list[float] = field(default_factory=list)
    chromium: float = math.nan
    """Seconds from logging in to the explorer, for somebody who comes into the lesson."""
    chromium_answers: list[float] = field(default_factory=list)
    megabytes: float = math.nan
    """Memory of a learner: server, warm process and kernel."""
    second: float = math.nan
    """The same with a second notebook open."""
    of_the_hub: float = math.nan
    core: float = math.nan
    """Seconds of a core that a learner's processes took to arrive."""
    errors: list[str] = field(default_factory=list)
    files: list[str] = field(default_factory=list)
    """What JupyterLab's page asked its server for."""

    def __str__(self) -> str:
        def ms(seconds: Sequence[float]) -> str:
            if not seconds:
                return f"{'':>14}"
            p90 = sorted(seconds)[math.ceil(0.9 * len(seconds)) - 1]
            return f"{1000 * statistics.median(seconds):>8.0f}{1000 * p90:>6.0f}"

        return (
            f"{self.learners:>8}{self.up:>8.1f}{self.explorer:>10.1f}{ms(self.answers)}"
            f"{self.chromium:>10.1f}{ms(self.chromium_answers)}{self.megabytes:>8.0f}"
            f"{self.second:>8.0f}{self.of_the_hub:>6.0f}{self.core:>8.1f}{len(self.errors):>8}"
        )


HEADER = (
    f"{'':>8}{'s until':>16}{'click, ms':>14}{'Chromium: s, ms':>24}{'MB a learner':>16}{'MB':>6}"
    f"{'core s':>8}\n"
    f"{'learners':>8}{'servers':>8}{'explorer':>10}{'median':>8}{'90%':>6}{'explorer':>10}{'median':>8}"
    f"{'90%':>6}{'one nb.':>8}{'two':>8}{'hub':>6}{'each':>8}{'errors':>8}"
)


async def lesson(hub: Hub, files: Sequence[str], seconds: float, *, watched: bool) -> Lesson:
    """Let all learners of a hub arrive at the same moment, and click for so long.

    Args:
        hub: with the learners; with ``watched``, the last of them uses Chromium and comes later.
        files: what JupyterLab's page asks for.
        seconds: how long they click.
        watched: whether there is a Chromium.
    """
    *names, late = hub.passwords if watched else [*hub.passwords, ""]
    held = Lesson(len(names))
    async with AsyncExitStack() as stack:
        all_of_them = [await learner(stack, hub, name) for name in names]
        up: list[float] = []
        started = time.perf_counter()

        async def come(one: Learner) -> Learner | None:
            try:
                await one.arrive()
                up.append(time.perf_counter() - started)
                await one.get_copy()
                await one.fetch(files)
                await one.show_the_explorer()
            except ERRORS as error:
                held.errors.append(f"{one.name}: {error!r}")
                return None
            return one

        there = [one for one in await asyncio.gather(*map(come, all_of_them)) if one]
        if not there:
            raise RuntimeError("\n".join(held.errors))
        held.up, held.explorer = max(up), time.perf_counter() - started - max(up)
        processes = hub.processes()
        held.megabytes = statistics.mean(sum(map(megabytes, processes[one.name])) for one in there)
        held.core = statistics.mean(sum(map(core_seconds, processes[one.name])) for one in there)
        held.of_the_hub = hub.megabytes()
        clicks = asyncio.gather(*(one.click_for(seconds) for one in there), return_exceptions=True)
        if late:
            count = max(3, min(20, round(seconds)))
            try:
                person = await asyncio.to_thread(in_chromium, hub, late, count)
                held.chromium, held.chromium_answers, held.files = person
            except (AssertionError, PlaywrightError) as error:
                held.errors.append(f"in Chromium: {error}")
        held.errors += [repr(failed) for failed in await clicks if failed]
        held.answers = [answer for one in there for answer in one.answers]
        try:
            for said in await afterwards(hub, there, held):
                print(said, flush=True)
        except ERRORS as error:
            held.errors.append(f"afterwards: {error!r}")
    return held


async def afterwards(hub: Hub, there: Sequence[Learner], held: Lesson) -> list[str]:
    """Let everybody open a second notebook; kill one server; close one notebook."""

    async def second(one: Learner) -> None:
        kernel = await one.open("06_a_small_world.ipynb")
        for cell in code_of("06_a_small_world.ipynb")[:3]:
            await kernel.run(cell)

    await asyncio.gather(*map(second, there))
    processes = hub.processes()
    held.second = statistics.mean(sum(map(megabytes, processes[one.name])) for one in there)
    if len(there) < 3:
        return []
    struck, leaves, *others = there
    before = {one.name: await one.running() for one in others}
    servers = [p for p in processes[struck.name] if "cull_interval" in " ".join(p.cmdline())]
    servers[0].kill()
    await asyncio.sleep(3)
    lost = 0
    for one in others:
        try:
            await asyncio.wait_for(one.kernels[0].click(one.comm_id, 3), 10)
            lost += len(before[one.name] - await one.running())
        except ERRORS as error:
            held.errors.append(f"after the kill, {one.name}: {error!r}")
            lost += 1
    started = time.perf_counter()
    await struck.arrive()
    back = time.perf_counter() - started
    for kernel in leaves.kernels:
        await kernel.leave()
    started = time.perf_counter()
    while await leaves.running() and time.perf_counter() - started < 3 * CULLED_AFTER:
        await asyncio.sleep(1)
    gone = time.perf_counter() - started
    ended = not await leaves.running()
    kept = 0
    for one in others:
        kept += len(before[one.name] & await one.running())
    had = sum(map(len, before.values()))
    return [
        f"a killed server: the {len(others)} others lost {lost} kernels; it was back after "
        f"{back:.0f} s",
        f"closed notebooks: their kernels {'ended' if ended else 'had not ended'} after "
        f"{gone:.0f} s (asked for: {CULLED_AFTER}); of those in use {kept} of {had} went on",
    ]


def names_of(n: int) -> list[str]:
    """Make up names for so many learners."""
    return [f"cloze-learner-{i:02}" for i in range(1, n + 1)]


def main(arguments: list[str] | None = None) -> int:
    """Print a line for one learner and a line for all; return the exit code."""
    parser = argparse.ArgumentParser(prog="python -m benchmarks.hub", description=__doc__)
    parser.add_argument("--learners", type=int, default=16, help="how many arrive together")
    parser.add_argument("--python", default=sys.executable, help="of the learners' environment")
    parser.add_argument("--server", choices=SERVERS, default="hub/", help="what they are given")
    parser.add_argument("--quick", action="store_true", help="three learners, a few seconds")
    options = parser.parse_args(arguments)
    if options.learners < 1:
        parser.error("a class needs at least 1 learner")
    sizes = (3,) if options.quick else tuple(dict.fromkeys((1, options.learners)))
    seconds = 3.0 if options.quick else SECONDS
    whose = "users of this system" if can_make_users() else "all of them one user of this system"
    watched = chromium() is not None
    print(f"{machine()}\nlearners: {whose}; their servers: {options.server}")
    print(f"load before: {os.getloadavg()[0]:.1f}\n{HEADER}", flush=True)
    files: list[str] = []
    failed = 0
    try:
        for n in sizes:
            names = names_of(n + watched)
            with hub(options.python, names, SERVERS[options.server]) as running:
                held = asyncio.run(lesson(running, files, seconds, watched=watched))
                print(held, flush=True)
                for error in held.errors:
                    print(error, file=sys.stderr)
                failed += len(held.errors)
                files = held.files
    except (ValueError, RuntimeError) as error:
        print(error, file=sys.stderr)
        return 1
    except KeyboardInterrupt:
        print("\nStopped; what is printed holds.")
    return bool(failed)


if __name__ == "__main__":
    sys.exit(main())
