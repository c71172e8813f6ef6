# SPDX-License-Identifier: Apache-2.0
"""agent.py TTY: an agent in Python, written from PROTOCOL.md alone.

It measures what Python can (wake-ups, the OS clock, timed sleeps) and shows
that the document says enough.  For tests; standard library only.
"""

import os
import random
import select
import struct
import sys
import termios
import time
import tty

import wire

COUNTER_HZ = 1_000_000_000
SILENCE_LIMIT_S = 600
MAJOR, MINOR = 1, 1
IDLE, ARMED, RUNNING, DONE = range(4)
FLOOR_SAMPLES = 1000
WINDOW_FACTS, SERIES_FACTS, SERIES_CATALOGUE, SERIES_PATTERN = 0, 1, 2, 3
N_MAX = 100_000
PATTERN = bytes((167 * i + 59 * (i // 256)) & 0xFF for i in range(65536))
UART_BASE = 24_000_000 // 16
CONSOLE_BAUD = UART_BASE // 13
RATE_REQUESTS = ("BAUD", "PING", "READ")


def counter():
    return time.monotonic_ns()


def sleep_until(deadline):
    while counter() < deadline:
        time.sleep((deadline - counter()) / COUNTER_HZ if deadline > counter() else 0)
    return counter()


# ---------------------------------------------------------------- benches


def pack_counts(values):
    """(bytes, how many were clipped)"""
    low, high = -(1 << 31), (1 << 31) - 1
    fit = [min(max(value, low), high) for value in values]
    return struct.pack(f"<{len(fit)}i", *fit), sum(a != b for a, b in zip(values, fit))


def measure_floor():
    stamps = [counter() for _ in range(FLOOR_SAMPLES + 1)]
    return [b - a for a, b in zip(stamps, stamps[1:])]


def bench_wake(arm):
    """Lateness on a fixed grid; a release that was missed is measured at once."""
    period = arm["period_us"] * 1000
    phase = random.Random(arm["seed"]).randrange(period) if arm["flags"] & 1 else 0
    cold_count = min(1000, arm["n"] // 5)
    first = counter() + 10_000_000 + phase
    late = []
    for i in range(cold_count + arm["n"]):
        deadline = first + i * period
        late.append(sleep_until(deadline) - deadline)
    return {"cold": late[:cold_count], "latency": late[cold_count:]}


def bench_floor(arm):
    return {"latency": measure_floor()[: arm["n"]]}


def bench_clock(arm):
    end = counter() + (arm["duration_ms"] or 20_000) * 1_000_000
    points = []
    while counter() < end:
        points.append((counter(), time.clock_gettime_ns(time.CLOCK_MONOTONIC)))
        time.sleep(0.05)
    return {"counter": [a for a, _ in points], "os_ns": [b for _, b in points]}


def bench_sleep(arm):
    late = []
    for ms in (1, 10, 100, 1000):
        deadline = counter() + ms * 1_000_000
        late.append(sleep_until(deadline) - deadline)
    return {"latency": late}


# id: name, how long it takes in ms, what it does
BENCHES = {
    0: ("floor", lambda arm: 10, bench_floor),
    1: ("wake.idle", lambda arm: arm["n"] * 6 // 5 * arm["period_us"] // 1000 + 100, bench_wake),
    42: ("clock.audit", lambda arm: arm["duration_ms"] or 20_000, bench_clock),
    98: ("sleep.check", lambda arm: 1200, bench_sleep),
}
STAMPS = ("counter", "os_ns")
UNSUPPORTED = {33: ("spawn", "no processes")}


# ---------------------------------------------------------------- the line


class Line:
    def __init__(self, path):
        self.fd = os.open(path, os.O_RDWR | os.O_NOCTTY)
        self.before = termios.tcgetattr(self.fd)
        tty.setraw(self.fd, termios.TCSAFLUSH)
        self.reader = wire.Reader(wire.HOST_BODY_MAX)
        self.frames = []

        self.baud = CONSOLE_BAUD

    def set_baud(self, baud):
        """A pty has no rate: what is left of a switch is that half a frame is dropped."""
        self.baud = baud
        self.reader = wire.Reader(wire.HOST_BODY_MAX)
        self.frames = []

    def close(self):
        termios.tcsetattr(self.fd, termios.TCSADRAIN, self.before)
        os.close(self.fd)

    def next_frame(self, timeout_s):
        """A frame, or None when none came; text is nothing to a target."""
        if not self.frames and select.select([self.fd], [], [], timeout_s)[0]:
            data = os.read(self.fd, 256)
            if not data:
                raise EOFError
            self.frames += [x for x in self.reader.feed(data) if isinstance(x, wire.Frame)]
        return self.frames.pop(0) if self.frames else None

    def send(self, frame):
        data = wire.frame_encode(frame)
        while data:
            data = data[os.write(self.fd, data) :]
        termios.tcdrain(self.fd)


# ---------------------------------------------------------------- the agent


class Agent:
    def __init__(self, line):
        self.line = line
        self.session = 0
        self.texts = {}  # series of window 0
        self.last_request = None
        self.has_quit = False
        self.idle_ms = 0
        self.rate_deadline = 0
        self.has_new_rate = False
        self.give_up_window()

    def give_up_window(self):
        self.state = IDLE
        self.arm = None
        self.done = None
        self.series = {}

    def send(self, name, seq, **fields):
        body = wire.encode(name, **fields)
        self.line.send(wire.Frame(wire.TYPES[name], seq, self.session, body))

    def hello(self, seq):
        self.send(
            "HELLO",
            seq,
            major=MAJOR,
            minor=MINOR,
            max_body=wire.BODY_MAX,
            state=self.state,
            uptime=counter(),
            counter_hz=COUNTER_HZ,
            system="python",
            version="1",
        )

    def serve(self):
        heard = counter()
        self.hello(0)
        while not self.has_quit and counter() - heard < SILENCE_LIMIT_S * COUNTER_HZ:
            is_raised = self.line.baud != CONSOLE_BAUD
            left_s = (self.rate_deadline - counter()) / COUNTER_HZ
            frame = self.line.next_frame(max(0, min(1, left_s)) if is_raised else 1)
            if frame:
                self.handle(frame)
                heard = counter()
            elif is_raised and counter() >= self.rate_deadline:
                self.line.set_baud(CONSOLE_BAUD)

    def handle(self, frame):
        received = counter()
        try:
            self.check_session(frame)
            fields = wire.decode(frame.type, frame.body)
            name, sender, _ = wire.MESSAGES[frame.type]
            if self.line.baud != CONSOLE_BAUD and name not in RATE_REQUESTS:
                raise wire.WireError("bad-state", self.state)
            if sender == "H":
                getattr(self, "on_" + name.lower())(frame, received=received, **fields)
        except wire.WireError as error:
            if frame.type != wire.TYPES["GO"]:
                self.send(
                    "ERROR",
                    frame.seq,
                    code=error.code,
                    type=frame.type,
                    detail=error.detail,
                    text=error.text or error.name,
                )
        self.last_request = (frame.type, frame.seq)
        if frame.session == self.session and not self.has_new_rate:
            self.rate_deadline = counter() + self.idle_ms * 1_000_000
        self.has_new_rate = False

    def check_session(self, frame):
        if frame.type == wire.TYPES["SESSION"]:
            return
        if self.session == 0:
            raise wire.WireError("no-session")
        if frame.session != self.session:
            raise wire.WireError("wrong-session")

    # Each takes the request's fields.

    def on_session(self, frame, received, major, minor, nonce):
        if major != MAJOR:
            raise wire.WireError("version", MAJOR << 8 | MINOR)
        if nonce == 0:
            raise wire.WireError("bad-range", 0)
        if nonce != self.session:
            self.session = nonce
            self.give_up_window()
        self.hello(frame.seq)

    def on_ping(self, frame, received, cookie):
        done = self.done or {key: 0 for key in ("status", "index_size", "index_crc", "start", "end")}
        window = self.arm["window"] if self.arm else 0
        times = {"received": received, "sent": counter()}
        done = {**done, "window": window}
        self.send("PONG", frame.seq, cookie=cookie, state=self.state, **times, **done)

    def list_text(self, frame, series, answer, make):
        if self.last_request != (frame.type, frame.seq) or series not in self.texts:
            self.texts[series] = make().encode()
        text = self.texts[series]
        self.send(answer, frame.seq, bytes=len(text), crc=wire.crc32c(text))

    def on_probe(self, frame, received):
        def make():
            machine = os.uname()
            return (
                f"system=python\nsystem_version={sys.version.split()[0]}\nplatform=host\n"
                f"machine={machine.machine}\ncounter_rate_hz={COUNTER_HZ}\nmade_at={counter()}\n"
            )

        self.list_text(frame, SERIES_FACTS, "PROBED", make)

    def on_catalog(self, frame, received):
        def make():
            lines = [f"{key} {name} supported\n" for key, (name, _, _) in BENCHES.items()]
            lines += [f"{key} {name} unsupported {why}\n" for key, (name, why) in UNSUPPORTED.items()]
            return "".join(lines)

        self.list_text(frame, SERIES_CATALOGUE, "CATALOGED", make)

    def on_arm(self, frame, received, **arm):
        if self.state == IDLE:
            self.check_arm(arm)
            self.arm = arm
            self.state = ARMED
        elif arm != self.arm:
            raise wire.WireError("busy", self.arm["window"])
        _, estimate, _ = BENCHES[arm["bench"]]
        estimate_ms = arm["settle_ms"] + estimate(arm) + 10
        self.send("ARMED", frame.seq, window=arm["window"], estimate_ms=estimate_ms)

    def check_arm(self, arm):
        if arm["window"] == 0:
            raise wire.WireError("bad-range", 0)
        if arm["flags"] & ~1:
            raise wire.WireError("bad-range", arm["flags"])
        if arm["bench"] in UNSUPPORTED:
            raise wire.WireError("unsupported", arm["bench"], UNSUPPORTED[arm["bench"]][1])
        if arm["bench"] not in BENCHES:
            raise wire.WireError("unknown-bench", arm["bench"])
        if arm["load"] != 0:
            raise wire.WireError("unsupported", arm["bench"], "no load")
        if arm["bench"] == 1 and not 100 <= arm["period_us"] <= 1_000_000:
            raise wire.WireError("bad-range", arm["period_us"])
        if arm["n"] > N_MAX:
            raise wire.WireError("no-memory", N_MAX)

    def on_go(self, frame, received, window):
        if self.state != ARMED or window != self.arm["window"]:
            return
        self.state = RUNNING
        sleep_until(counter() + self.arm["settle_ms"] * 1_000_000)
        start = counter()
        named = {"floor.before": measure_floor()}
        named.update(BENCHES[self.arm["bench"]][2](self.arm))
        named["floor.after"] = measure_floor()
        end = counter()
        index = self.make_index(named)
        self.state = DONE
        self.done = {"status": 0, "index_size": len(index), "start": start, "end": end}
        self.done["index_crc"] = wire.crc32c(index)
        self.send("DONE", frame.seq, window=window, **self.done)

    def make_index(self, named):
        self.series = {}
        entries = []
        named["counters"] = f"seed={self.arm['seed']}\nuart_rx=unknown\n".encode()
        for number, (name, values) in enumerate(named.items(), 1):
            clipped = 0
            if name == "counters":
                kind, data = wire.KIND_TEXT, values
            elif name in STAMPS:
                kind, data = wire.KIND_STAMPS, struct.pack(f"<{len(values)}Q", *values)
            else:
                kind = wire.KIND_COUNTS
                data, clipped = pack_counts(values)
            self.series[number] = data
            entry = {"id": number, "kind": kind, "encoding": 0, "count": len(values)}
            entry.update(clipped=clipped, bytes=len(data), crc=wire.crc32c(data), name=name)
            entries.append(entry)
        self.series[0] = wire.index_encode(entries)
        return self.series[0]

    def find_series(self, window, series):
        if window == WINDOW_FACTS:
            if series == SERIES_PATTERN:
                return PATTERN
            if series not in (SERIES_FACTS, SERIES_CATALOGUE):
                raise wire.WireError("bad-range", series)
            if series not in self.texts:
                raise wire.WireError("bad-state", self.state)
            return self.texts[series]
        if self.state != DONE:
            raise wire.WireError("bad-state", self.state)
        if window != self.arm["window"]:
            raise wire.WireError("bad-range", window)
        if series not in self.series:
            raise wire.WireError("bad-range", series)
        return self.series[series]

    def on_read(self, frame, received, window, series, offset, length):
        data = self.find_series(window, series)
        if not 1 <= length <= wire.READ_MAX:
            raise wire.WireError("bad-range", length)
        if offset + length > len(data):
            raise wire.WireError("bad-range", offset)
        end = offset + length
        while offset < end:
            part = data[offset : min(offset + wire.DATA_MAX, end)]
            self.send("DATA", frame.seq, window=window, series=series, offset=offset, size=part)
            offset += len(part)
            # The next request ends the train; it stays in the line's list.
            waiting = self.line.next_frame(0)
            if waiting:
                self.line.frames.insert(0, waiting)
                return

    def on_release(self, frame, received, window):
        if self.state != IDLE and window != self.arm["window"]:
            raise wire.WireError("busy", self.arm["window"])
        self.give_up_window()
        self.send("RELEASED", frame.seq, window=window)

    def on_baud(self, frame, received, baud, confirm_ms, idle_ms):
        rates = {"console": CONSOLE_BAUD, "base": UART_BASE}
        if baud == 0:
            self.send("BAUDED", frame.seq, baud=self.line.baud, **rates)
            return
        if self.state == ARMED:
            raise wire.WireError("bad-state", self.state)
        near = UART_BASE // max(1, (UART_BASE + baud // 2) // baud)
        if abs(near - baud) * 50 > baud:
            raise wire.WireError("bad-range", near)
        if not 50 <= confirm_ms <= 10_000 or not 100 <= idle_ms <= 60_000:
            raise wire.WireError("bad-range", confirm_ms)
        self.send("BAUDED", frame.seq, baud=near, **rates)
        if near != self.line.baud:
            self.line.set_baud(near)
        self.idle_ms = idle_ms
        self.rate_deadline = counter() + confirm_ms * 1_000_000
        self.has_new_rate = True

    def on_quit(self, frame, received):
        self.has_quit = True
        self.send("BYE", frame.seq)


def main():
    line = Line(sys.argv[1])
    try:
        Agent(line).serve()
    except (EOFError, OSError):
        return 3
    finally:
        line.close()
    return 0


if __name__ == "__main__":
    sys.exit(main())
