# SPDX-License-Identifier: Apache-2.0
"""vectors.py FILE: holds wire.py against the test vectors.

Prints what differs, then "N vectors, N differ"; exit code 1 if any does.
Vectors of what an agent may leave out (encodings but 0) are not counted.
"""

import sys

import wire


def unhex(text):
    return b"" if text == "-" else bytes.fromhex(text)


def print_field(name, form, value):
    if form == "data":
        return f"size={len(value)} bytes={value.hex()}"
    if form[0] == "x":
        return f"{name}={value:0{int(form[1:]) // 4}x}"
    return f"{name}={value}"


def print_message(frame):
    name, _, form = wire.MESSAGES[frame.type]
    fields = wire.decode(frame.type, frame.body)
    words = [f"{name} seq={frame.seq} session={frame.session:08x}"]
    return " ".join(words + [print_field(key, kind, fields[key]) for key, kind in form])


def parse_value(form, text):
    if form[0] == "s":
        return text
    return int(text, 16 if form[0] == "x" else 10)


def parse_message(text):
    """The frame that those fields stand for."""
    name, _, rest = text.partition(" ")
    kind = wire.TYPES[name]
    fields = {}
    keys = [("seq", "u8"), ("session", "x32")] + wire.MESSAGES[kind][2]
    starts = []
    at = 0
    for key, _ in keys:
        at = rest.index(key + "=", at)
        starts.append(at)
        at += len(key) + 1
    for (key, form), start, end in zip(keys, starts, starts[1:] + [len(rest) + 1]):
        value = rest[start + len(key) + 1 : end - 1]
        if form == "data":
            fields[key] = bytes.fromhex(value.partition("bytes=")[2])
        else:
            fields[key] = parse_value(form, value)
    seq, session = fields.pop("seq"), fields.pop("session")
    return wire.Frame(kind, seq, session, wire.encode(name, **fields))


def read_line(data):
    reader = wire.Reader(wire.BODY_MAX)
    return reader, reader.feed(data) + reader.flush()


def check_crc(data, _):
    return f"{wire.crc32c(data):08x}"


def check_frame(data, text):
    _, pieces = read_line(data)
    if len(pieces) != 1 or not isinstance(pieces[0], wire.Frame):
        return "no frame"
    again = wire.frame_encode(parse_message(text))
    return print_message(pieces[0]) if again == data else "encoded as " + again.hex()


def check_grown(data, _):
    _, pieces = read_line(data)
    return print_message(pieces[0])


def check_bad_frame(data, _):
    reader, _ = read_line(data)
    return " ".join(key for key, count in reader.counters.items() if count)


def check_bad_body(data, _, kind):
    try:
        wire.decode(wire.TYPES[kind] if kind in wire.TYPES else int(kind, 16), data)
    except wire.WireError as error:
        return error.name
    return "accepted"


def check_line(data, text):
    """Runs of text are joined: where they are cut is the reader's own affair."""
    reader = wire.Reader(wire.BODY_MAX)
    words = []
    parted = True
    for byte in data:
        for piece in reader.feed(bytes([byte])):
            if isinstance(piece, wire.Frame):
                words.append(wire.MESSAGES[piece.type][0])
                parted = True
            elif parted:
                words.append("text:" + piece.hex())
                parted = False
            else:
                words[-1] += piece.hex()
        parted = parted or byte == 0
    for piece in reader.flush():
        if parted:
            words.append("text:")
            parted = False
        words[-1] += piece.hex()
    return " ".join(words)


def print_entry(entry):
    first = "/".join(str(entry[key]) for key in ("id", "kind", "encoding", "count", "clipped"))
    return f"{first}/{entry['bytes']}/{entry['crc']:08x}/{entry['name']}"


def check_index(data, _):
    return " ".join(print_entry(entry) for entry in wire.index_decode(data))


def check_bad_index(data, _):
    try:
        wire.index_decode(data)
    except wire.WireError as error:
        return error.name
    return "accepted"


CHECKS = {
    "crc": check_crc,
    "frame": check_frame,
    "grown": check_grown,
    "bad-frame": check_bad_frame,
    "bad-body": check_bad_body,
    "line": check_line,
    "index": check_index,
    "bad-index": check_bad_index,
}


def check_vector(kind, words, text):
    got = CHECKS[kind](unhex(words[-1]), text, *words[:-1])
    return None if got == text.strip() else f"{kind}: {got}"


def main():
    count = differ = 0
    with open(sys.argv[1], encoding="utf-8") as file:
        for number, line in enumerate(file, 1):
            line = line.rstrip("\n")
            if not line or line[0] == "#":
                continue
            left, _, text = line.partition(" | ")
            kind, *words = left.split(" ")
            if kind not in CHECKS:
                continue
            count += 1
            complaint = check_vector(kind, words, text)
            if complaint:
                differ += 1
                print(f"{sys.argv[1]}:{number}: {complaint}")
    print(f"{count} vectors, {differ} differ")
    return 1 if differ or not count else 0


if __name__ == "__main__":
    sys.exit(main())
