# SPDX-License-Identifier: Apache-2.0
"""The wire of PROTOCOL.md: CRC, COBS, frames among text, messages, the index.

Written from that document alone, so that it and the C implementation test each
other.  Standard library only.
"""

BODY_MAX = 1024
HOST_BODY_MAX = 47
READ_MAX = 65536
DATA_MAX = BODY_MAX - 10

ERRORS = {
    "no-session": -1,
    "wrong-session": -2,
    "bad-message": -3,
    "unknown-type": -4,
    "unknown-bench": -5,
    "unsupported": -6,
    "busy": -7,
    "bad-state": -8,
    "bad-range": -9,
    "no-memory": -10,
    "version": -11,
    "failed": -12,
}


class WireError(Exception):
    """One of the pinned errors; `code`, and the `detail` that goes with it."""

    def __init__(self, name, detail=0, text=""):
        super().__init__(name)
        self.name = name
        self.code = ERRORS[name]
        self.detail = detail
        self.text = text


# ---------------------------------------------------------------- CRC, COBS


def _crc_table():
    table = []
    for byte in range(256):
        for _ in range(8):
            byte = byte >> 1 ^ (0x82F63B78 if byte & 1 else 0)
        table.append(byte)
    return table


_CRC = _crc_table()


def crc32c(data):
    crc = 0xFFFFFFFF
    for byte in data:
        crc = crc >> 8 ^ _CRC[(crc ^ byte) & 0xFF]
    return crc ^ 0xFFFFFFFF


def cobs_encode(plain):
    wire = bytearray()
    block = bytearray()
    for at, byte in enumerate(plain):
        if byte:
            block.append(byte)
        if not byte or len(block) == 254:
            wire.append(len(block) + 1)
            wire += block
            block.clear()
            # A full block stands for no 00, and at the end for nothing more.
            if byte and at + 1 == len(plain):
                return bytes(wire)
    wire.append(len(block) + 1)
    return bytes(wire + block)


def cobs_decode(wire):
    """The plain bytes, or None where the code is not exact."""
    plain = bytearray()
    at = 0
    while at < len(wire):
        code = wire[at]
        if code == 0 or at + code > len(wire):
            return None
        plain += wire[at + 1 : at + code]
        at += code
        if code < 255 and at < len(wire):
            plain.append(0)
    return bytes(plain)


# ---------------------------------------------------------------- frames


class Frame:
    def __init__(self, kind, seq, session, body):
        self.type = kind
        self.seq = seq
        self.session = session
        self.body = body


def frame_encode(frame):
    plain = bytes([frame.type, frame.seq]) + frame.session.to_bytes(4, "little") + frame.body
    plain += crc32c(plain).to_bytes(4, "little")
    return b"\0" + cobs_encode(plain) + b"\0"


def chunk_size(body):
    return body + 10 + (body + 10 + 253) // 254


def chunk_decode(chunk):
    """(frame, None), or (None, the counter that counts it)."""
    plain = cobs_decode(chunk)
    if plain is None:
        return None, "bad_cobs"
    if len(plain) < 10 or crc32c(plain[:-4]) != int.from_bytes(plain[-4:], "little"):
        return None, "bad_crc"
    session = int.from_bytes(plain[2:6], "little")
    return Frame(plain[0], plain[1], session, plain[6:-4]), None


class Reader:
    """Takes a line apart: feed() gives Frames and runs of text (bytes), in order."""

    def __init__(self, body_max):
        self.limit = chunk_size(body_max)
        self.kept = bytearray()
        self.is_spilled = False
        self.counters = {"bad_crc": 0, "bad_cobs": 0, "oversize": 0}

    def feed(self, data):
        pieces = []
        for byte in data:
            if byte == 0:
                pieces += self._end()
            elif self.is_spilled:
                pieces.append(bytes([byte]))
            else:
                self.kept.append(byte)
                if len(self.kept) > self.limit:
                    pieces += self.flush()
                    self.is_spilled = True
        return pieces

    def _end(self):
        chunk, spilled = bytes(self.kept), self.is_spilled
        self.kept.clear()
        self.is_spilled = False
        if spilled:
            self.counters["oversize"] += 1
            return []
        if not chunk:
            return []
        frame, counter = chunk_decode(chunk)
        if frame:
            return [frame]
        self.counters[counter] += 1
        return [chunk]

    def flush(self):
        """What is kept, as text: the line has been idle."""
        text = [bytes(self.kept)] if self.kept else []
        self.kept.clear()
        return text


# ---------------------------------------------------------------- messages

_DONE = [
    ("window", "u16"),
    ("status", "i16"),
    ("index_size", "u32"),
    ("index_crc", "x32"),
    ("start", "u64"),
    ("end", "u64"),
]
_LISTED = [("bytes", "u32"), ("crc", "x32")]
_WINDOW = [("window", "u16")]

# type: name, who sends it, the body.  x32 and x64 are u32 and u64 that are written in hex.
MESSAGES = {
    0x01: (
        "HELLO",
        "T",
        [("major", "u8"), ("minor", "u8"), ("max_body", "u16"), ("state", "u8")]
        + [("uptime", "u64"), ("counter_hz", "u32"), ("system", "s31"), ("version", "s31")],
    ),
    0x02: ("SESSION", "H", [("major", "u8"), ("minor", "u8"), ("nonce", "x32")]),
    0x03: ("PING", "H", [("cookie", "x64")]),
    0x04: (
        "PONG",
        "T",
        [("cookie", "x64"), ("received", "u64"), ("sent", "u64"), ("state", "u8")] + _DONE,
    ),
    0x05: ("PROBE", "H", []),
    0x06: ("PROBED", "T", _LISTED),
    0x07: ("CATALOG", "H", []),
    0x08: ("CATALOGED", "T", _LISTED),
    0x09: (
        "ARM",
        "H",
        [("window", "u16"), ("bench", "u8"), ("load", "u8"), ("n", "u32"), ("period_us", "u32")]
        + [("settle_ms", "u16"), ("duration_ms", "u32"), ("seed", "x32"), ("flags", "u8")],
    ),
    0x0A: ("ARMED", "T", _WINDOW + [("estimate_ms", "u32")]),
    0x0B: ("GO", "H", _WINDOW),
    0x0C: ("DONE", "T", _DONE),
    0x0D: ("READ", "H", _WINDOW + [("series", "u16"), ("offset", "u32"), ("length", "u32")]),
    0x0E: ("DATA", "T", _WINDOW + [("series", "u16"), ("offset", "u32"), ("size", "data")]),
    0x0F: ("RELEASE", "H", _WINDOW),
    0x10: ("RELEASED", "T", _WINDOW),
    0x11: ("QUIT", "H", []),
    0x12: ("BYE", "T", []),
    0x13: ("ERROR", "T", [("code", "i16"), ("type", "u8"), ("detail", "u32"), ("text", "s63")]),
    0x14: ("BAUD", "H", [("baud", "u32"), ("confirm_ms", "u16"), ("idle_ms", "u16")]),
    0x15: ("BAUDED", "T", [("baud", "u32"), ("console", "u32"), ("base", "u32")]),
}
TYPES = {name: kind for kind, (name, _, _) in MESSAGES.items()}


def _is_clean(text):
    return all(byte >= 0x20 and byte != 0x7F for byte in text)


class _Body:
    def __init__(self, data):
        self.data = data
        self.at = 0

    def take(self, size):
        if size > len(self.data) - self.at:
            raise WireError("bad-message")
        self.at += size
        return self.data[self.at - size : self.at]

    def number(self, size, signed=False):
        return int.from_bytes(self.take(size), "little", signed=signed)


def _decode_field(body, kind):
    if kind[0] == "s":
        length = body.number(1)
        text = body.take(length) if length <= int(kind[1:]) else None
        if text is None or not _is_clean(text):
            raise WireError("bad-message")
        return text.decode("utf-8", "replace")
    if kind == "data":
        size = body.number(2)
        if not 1 <= size <= DATA_MAX:
            raise WireError("bad-message")
        return body.take(size)
    return body.number(int(kind[1:]) // 8, kind[0] == "i")


def decode(kind, data):
    """The fields of a body as a dict; WireError for what must be refused."""
    if kind not in MESSAGES:
        raise WireError("unknown-type")
    body = _Body(data)
    # Bytes behind the last field are a younger minor's: ignored.
    return {name: _decode_field(body, form) for name, form in MESSAGES[kind][2]}


def _encode_field(kind, value):
    if kind[0] == "s":
        text = value.encode()[: int(kind[1:])]
        return bytes([len(text)]) + text
    if kind == "data":
        return len(value).to_bytes(2, "little") + value
    return value.to_bytes(int(kind[1:]) // 8, "little", signed=kind[0] == "i")


def encode(name, **fields):
    return b"".join(_encode_field(form, fields[field]) for field, form in MESSAGES[TYPES[name]][2])


# ---------------------------------------------------------------- the index

KIND_COUNTS, KIND_STAMPS, KIND_TEXT = 1, 2, 3
_VALUE_SIZES = {KIND_COUNTS: 4, KIND_STAMPS: 8, KIND_TEXT: 1}
ENTRY = [("id", "u16"), ("kind", "u8"), ("encoding", "u8"), ("count", "u32"), ("clipped", "u32")]
ENTRY += [("bytes", "u32"), ("crc", "x32"), ("name", "s31")]


def index_encode(entries):
    index = b""
    for entry in entries:
        body = b"".join(_encode_field(form, entry[field]) for field, form in ENTRY)
        index += bytes([len(body)]) + body
    return index


def index_decode(data):
    outer = _Body(data)
    entries = []
    while outer.at < len(data):
        body = _Body(outer.take(outer.number(1)))
        entry = {field: _decode_field(body, form) for field, form in ENTRY}
        size = _VALUE_SIZES.get(entry["kind"])
        if entry["id"] == 0:
            raise WireError("bad-message")
        if entry["encoding"] == 0 and size and entry["bytes"] != entry["count"] * size:
            raise WireError("bad-message")
        entries.append(entry)
    return entries
