"""Comments over three faces: RESP2, RESP3 and HTTP. A face takes the same call and gives an answer in the same
form, so that a test can be run over each of them and what they said compared field by field."""
import json
import re
from urllib.parse import quote

import laud
from http_raw import Raw
from laud import Error, expect

# How each operation is called over HTTP: method, path, and which arguments go into the query or the body.
ROUTES = {
    "COMMENT": ("POST", "/v1/items/{item}/comments", "body"),
    "EDIT": ("PUT", "/v1/comments/{comment}/text", "body"),
    "UNCOMMENT": ("DELETE", "/v1/comments/{comment}", "query"),
    "COMMENTS": ("GET", "/v1/items/{item}/comments", "query"),
    "CARDS": ("POST", "/v1/cards", "body"),
    "WRITTEN": ("GET", "/v1/users/{user}/comments", "query"),
    "INBOX": ("GET", "/v1/users/{user}/inbox", "query"),
    "SEEN": ("PUT", "/v1/users/{user}/inbox/seen", "body"),
    "HISTORY": ("GET", "/v1/comments/{comment}/history", "query"),
    "MODERATE": ("PUT", "/v1/comments/{comment}/state", "body"),
    "PIN": ("PUT", "/v1/comments/{comment}/pin", "query"),
    "UNPIN": ("DELETE", "/v1/comments/{comment}/pin", "query"),
    "SUBJECT": ("GET", "/v1/items/{item}/subject", "query"),
    "SUBJECTSET": ("PUT", "/v1/items/{item}/subject", "body"),
    "QUEUE": ("GET", "/v1/queue/{type}/{state}", "query"),
    "BAN": ("PUT", "/v1/users/{user}/ban", "body"),
    "UNBAN": ("DELETE", "/v1/users/{user}/ban", "query"),
    "PURGE": ("DELETE", "/v1/comments/{comment}/content", "query"),
}

# Over RESP: the arguments that are words, in their order; all others follow as pairs with their keyword.
WORDS = {
    "COMMENT": "user item text", "EDIT": "user comment text", "UNCOMMENT": "user comment",
    "COMMENTS": "item", "CARDS": "comments", "WRITTEN": "user", "INBOX": "user", "SEEN": "user cursor",
    "HISTORY": "comment", "MODERATE": "comment state", "PIN": "comment", "UNPIN": "comment",
    "SUBJECT": "item", "SUBJECTSET": "item", "QUEUE": "type state", "BAN": "user", "UNBAN": "user",
    "PURGE": "comment",
}
KEYWORDS = {"mentions": "MENTION"}
SWITCHES = ("all", "shadow")


class Refused(Exception):
    """An error: its sentence and, over HTTP, its number."""

    def __init__(self, sentence, code=None):
        super().__init__(sentence)
        self.sentence = sentence
        self.code = code


def words_of(operation, arguments):
    """What is sent over RESP."""
    names = WORDS[operation].split()
    words = [operation]
    for name in names:
        value = arguments[name]
        words += value if isinstance(value, list) else [value]
    for name, value in arguments.items():
        if name in names or value is None or value is False:
            continue
        if name in SWITCHES:
            words.append(name.upper())
        elif isinstance(value, list):
            words += [KEYWORDS.get(name, name.upper()), *value]
        else:
            words += [KEYWORDS.get(name, name.upper()), value]
    return words


def flat(value):
    """As RESP2 has it: maps as flat pairs, flags as numbers."""
    if isinstance(value, dict):
        return [part for pair in value.items() for part in (pair[0], flat(pair[1]))]
    if isinstance(value, list):
        return [flat(one) for one in value]
    return int(value) if isinstance(value, bool) else value


class Resp:
    def __init__(self, server, version=3, token=None):
        self.connection = Wide(server.port)
        if token:
            expect(self.connection.call("AUTH", token) == "OK", "AUTH")
        if version == 3:
            self.connection.call("HELLO", "3")

    def call(self, operation, **arguments):
        reply = self.connection.call(*words_of(operation, arguments))
        if isinstance(reply, Error):
            raise Refused(reply.split(" ", 1)[1])
        return reply

    def close(self):
        self.connection.close()


class Wide(laud.Connection):
    """Also reads the booleans of RESP3."""

    def read(self):
        if self.file.peek(1)[:1] == b"#":
            return self.line() == b"#t"
        return super().read()


class Http:
    def __init__(self, server, token=None):
        self.http = Raw(server)
        self.headers = {"Authorization": f"Bearer {token}"} if token else {}
        self.code = None

    def call(self, operation, **arguments):
        method, path, where = ROUTES[operation]
        left = {name: value for name, value in arguments.items() if value not in (None, False)}
        for name in re.findall(r"{(\w+)}", path):
            path = path.replace("{" + name + "}", quote(str(left.pop(name)), safe=":"))
        if "extra" in left:
            left["extra"] = json.loads(left["extra"])
        body = {name: str(value) if isinstance(value, int) and value is not True else value
                for name, value in left.items()} if where == "body" else None
        if where == "query" and left:
            path += "?" + "&".join(f"{name}={quote(str(1 if value is True else value))}"
                                   for name, value in left.items())
        response = self.http.call(method, path, body, **self.headers)
        self.code = response.code
        answer = response.json()
        if response.code >= 400:
            raise Refused(answer["error"]["message"], response.code)
        return unwrapped(answer)

    def close(self):
        self.http.close()


def unwrapped(answer):
    """JSON in the form of RESP3: an empty cursor, a plain number or list, extra as text."""
    if isinstance(answer, dict) and list(answer) == ["changed"]:
        return int(answer["changed"])
    if isinstance(answer, dict) and len(answer) == 1 and isinstance(next(iter(answer.values())), list):
        return [plain(one) for one in next(iter(answer.values()))]
    return plain(answer)


def plain(value):
    if isinstance(value, list):
        return [plain(one) for one in value]
    if not isinstance(value, dict):
        return value
    made = {}
    for name, one in value.items():
        if name in ("cursor", "back") and one is None:
            made[name] = ""
        elif name == "extra" and one is not None:
            made[name] = json.dumps(one, separators=(",", ":"))
        else:
            made[name] = plain(one)
    return made


def field(answer, name):
    """A field of a map, in either form."""
    return laud.pairs(answer)[name]


def card_texts(answer):
    """All texts anywhere in an answer of RESP3 or HTTP."""
    if isinstance(answer, dict):
        own = [answer["text"]] if isinstance(answer.get("text"), str) else []
        return own + [text for value in answer.values() for text in card_texts(value)]
    if isinstance(answer, list):
        return [text for value in answer for text in card_texts(value)]
    return []
