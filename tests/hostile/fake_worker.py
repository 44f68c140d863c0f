#!/usr/bin/env python3
"""The far end of a lane, as somebody would write it who means harm: fake_worker.py SEED MODE [what allot adds].

MODE "records": true frames with fields that lie. MODE "frames": now and then bytes that are no frame at all.
"""
import math
import os
import pathlib
import random
import struct
import sys

sys.path.insert(0, str(pathlib.Path(__file__).parent))
from hostile import Texts  # noqa: E402

HELLO, SETUP, REQUEST, STARTED, RECORD, KILL, PAUSE, RESUME, FINISH, HEARTBEAT = range(10)
ODD = [0.0, -0.0, 1.0, -1.0, 1e300, -1e300, 1e18, math.nan, math.inf, -math.inf, 5e-324, 2e9, 1.7e9, 4e12]


def text(value):
    data = value if isinstance(value, bytes) else value.encode("utf-8", "surrogatepass")
    return struct.pack("<I", len(data)) + data


def maybe(value):
    return b"\0" if value is None else b"\1" + struct.pack("<I", value & 0xFFFFFFFF)


def frame(kind, fields):
    body = bytes([kind]) + fields + b"\n"
    return struct.pack("<I", len(body)) + body


def hello(version, program):
    return frame(HELLO, struct.pack("<I", version) + text(program))


class Worker:
    def __init__(self, seed, mode):
        self.texts = Texts(seed)
        self.random = self.texts.random
        self.mode = mode
        self.inbox = b""

    def say(self, data):
        while data:
            data = data[os.write(1, data):]

    def odd(self):
        return self.random.choice(ODD) if self.random.random() < 0.7 else self.random.uniform(-1e6, 1e6)

    def record(self, task):
        r = self.random
        status = r.choice([0, 0, 1, 1, 2, 3, 4])
        error = self.texts.text() if r.random() < 0.7 else self.texts.bytes(200)
        if r.random() < 0.002:
            error = b"e" * r.choice([5000, 1 << 20, 15 << 20])
        out = self.texts.bytes(300) if r.random() < 0.8 else self.texts.text()
        return frame(RECORD, struct.pack("<Q", task) + bytes([status]) +
                     maybe(r.choice([None, 0, 0, 1, 255, 256, -1, 1 << 30])) + maybe(r.choice([None, 9, 15, 64, 65, -1, 1 << 31])) +
                     bytes([r.random() < 0.05]) + text(error) + struct.pack("<dddd", self.odd(), self.odd(), self.odd(), self.odd()) +
                     struct.pack("<q", r.choice([0, 1000, -1, (1 << 62), -(1 << 62)])) + bytes([r.random() < 0.2]) +
                     text(out) + text(self.texts.bytes(100)) + bytes([r.random() < 0.5, r.random() < 0.5]))

    def answer(self, task):
        r = self.random
        data = b""
        if r.random() < 0.7:
            data += frame(STARTED, struct.pack("<Q", r.choice([task, task, task, task + 1, 0, (1 << 64) - 1])))
        if r.random() < 0.2:
            data += self.record(r.choice([task + 1000, 0, (1 << 64) - 1]))  # nobody asked
        data += self.record(task)
        if r.random() < 0.1:
            data += self.record(task)  # twice
        if r.random() < 0.1:
            data += frame(HEARTBEAT, b"") * r.randint(1, 50)
        if self.mode == "frames" and r.random() < 0.01:
            kind = r.randrange(6)
            if kind == 0:
                data += self.texts.bytes(500)
            elif kind == 1:
                data += struct.pack("<I", r.choice([0, 1, 2, 1 << 24, (1 << 32) - 1])) + self.texts.bytes(100)
            elif kind == 2:
                data = bytearray(data)
                data[r.randrange(len(data))] ^= 1 << r.randrange(8)
            elif kind == 3:
                data += frame(r.choice([SETUP, REQUEST, KILL, PAUSE, FINISH, 77]), self.texts.bytes(60))
            elif kind == 4:
                data += hello(r.choice([0, 1, 2, 1 << 31]), self.texts.text())
            else:
                data = data[: r.randrange(len(data))]
        return bytes(data)

    def run(self):
        r = self.random
        if r.random() < 0.3:
            self.say(self.texts.text().encode("utf-8", "replace"))  # what a login shell may say first
            os.write(2, self.texts.text().encode("utf-8", "replace"))
        self.say(b"\x01allot-work\n")
        version = 1 if self.mode == "records" or r.random() < 0.9 else r.choice([0, 2, 99])
        self.say(hello(version, self.texts.text() if r.random() < 0.9 else b"\x1b" * 3_000_000))
        self.inbox = b""
        magic = False
        while True:
            piece = os.read(0, 1 << 16)
            if not piece:
                return
            self.inbox += piece
            if not magic:
                at = self.inbox.find(b"\x01allot-near\n")
                if at < 0:
                    continue
                self.inbox = self.inbox[at + 12:]
                magic = True
            while len(self.inbox) >= 4:
                size = struct.unpack("<I", self.inbox[:4])[0]
                if len(self.inbox) < 4 + size:
                    break
                body, self.inbox = self.inbox[4:4 + size], self.inbox[4 + size:]
                if body[0] == REQUEST:
                    self.say(self.answer(struct.unpack("<Q", body[1:9])[0]))
                elif body[0] == FINISH:
                    return


if __name__ == "__main__":
    try:
        Worker(int(sys.argv[1]), sys.argv[2]).run()
    except (BrokenPipeError, ConnectionError):
        pass
