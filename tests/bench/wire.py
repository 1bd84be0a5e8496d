# SPDX-License-Identifier: Apache-2.0
"""A D-Bus client that sends whatever it is told to, also what no library would. Source: the D-Bus Specification, "Message Format"."""
import os
import socket
import struct

CALL, RETURN, ERROR = 1, 2, 3
DAEMON = ("org.rdmaconfigd1", "/org/rdmaconfigd1", "org.rdmaconfigd1.Manager")
BUS = ("org.freedesktop.DBus", "/org/freedesktop/DBus", "org.freedesktop.DBus")


def pad(data, to):
    return data + b"\0" * (-len(data) % to)


def text(value):
    raw = value if isinstance(value, bytes) else value.encode()
    return struct.pack("<I", len(raw)) + raw + b"\0"


def no_options():
    return struct.pack("<II", 0, 0)  # a{sv}: its first entry would be aligned to 8


def documents(files):
    """a(ss) of (name, text) pairs, then a{sv} without entries."""
    body = b""
    for name, content in files:
        body = pad(pad(body, 8) + text(name), 4) + text(content)
    return pad(struct.pack("<II", len(body), 0) + body, 4) + struct.pack("<I", 0) + b"\0" * (-(len(pad(body, 4)) + 12) % 8)


class Message:
    def __init__(self, kind, serial, fields, body):
        self.kind, self.serial, self.fields, self.body = kind, serial, fields, body

    def word(self):
        """The first argument, a string."""
        return self.body[4:4 + struct.unpack_from("<I", self.body)[0]].decode() if len(self.body) > 4 else ""


class Connection:
    def __init__(self, path):
        self.socket = socket.socket(socket.AF_UNIX)
        self.socket.connect(path)
        self.socket.sendall(b"\0AUTH EXTERNAL " + str(os.getuid()).encode().hex().encode() + b"\r\n")
        if not self.socket.recv(512).startswith(b"OK"):
            raise ConnectionError("the bus refuses the user")
        self.socket.sendall(b"BEGIN\r\n")
        self.serial = 0
        self.call(BUS, "Hello")

    def send(self, kind, fields, body=b""):
        """fields: code to (signature, value)."""
        packed = b""
        for code, (signature, value) in fields.items():
            packed = pad(packed, 8) + bytes((code, 1)) + signature.encode() + b"\0"
            if signature == "g":
                packed += bytes((len(value),)) + value.encode() + b"\0"
            elif signature == "u":
                packed = pad(packed, 4) + struct.pack("<I", value)
            else:
                packed = pad(packed, 4) + text(value)
        self.serial += 1
        head = struct.pack("<cBBBIII", b"l", kind, 0, 1, len(body), self.serial, len(packed))
        self.socket.sendall(pad(head + packed, 8) + body)
        return self.serial

    def exactly(self, count):
        out = b""
        while len(out) < count:
            part = self.socket.recv(min(count - len(out), 1 << 20))
            if not part:
                raise ConnectionError("the bus closed the connection")
            out += part
        return out

    def receive(self):
        head = self.exactly(16)
        _, kind, _, _, size, serial, length = struct.unpack("<cBBBIII", head)
        packed = self.exactly(length + -length % 8)
        fields, at = {}, 0
        while at < length:
            at += -at % 8
            code, signature = packed[at], packed[at + 2:at + 2 + packed[at + 1]].decode()
            at += 3 + packed[at + 1]
            if signature == "g":
                fields[code] = packed[at + 1:at + 1 + packed[at]].decode()
                at += 2 + packed[at]
            else:
                at += -at % 4
                number = struct.unpack_from("<I", packed, at)[0]
                at += 4
                if signature == "u":
                    fields[code] = number
                else:
                    fields[code] = packed[at:at + number].decode()
                    at += number + 1
        return Message(kind, serial, fields, self.exactly(size))

    def start(self, where, member, signature="", body=b""):
        name, path, interface = where
        fields = {1: ("o", path), 2: ("s", interface), 3: ("s", member), 6: ("s", name)}
        if signature:
            fields[8] = ("g", signature)
        return self.send(CALL, fields, body)

    def call(self, where, member, signature="", body=b""):
        """The reply, or the error."""
        serial = self.start(where, member, signature, body)
        while True:
            message = self.receive()
            if message.kind in (RETURN, ERROR) and message.fields.get(5) == serial:
                return message


def polkit(path, allowed, ready):
    """Answers as polkit: yes to one action. Never returns."""
    bus = Connection(path)
    bus.call(BUS, "RequestName", "su", pad(text("org.freedesktop.PolicyKit1"), 4) + struct.pack("<I", 0))
    ready()
    while True:
        message = bus.receive()
        if message.kind != CALL:
            continue
        yes = int(message.fields.get(3) == "CheckAuthorization" and text(allowed) in message.body)
        bus.send(RETURN, {5: ("u", message.serial), 6: ("s", message.fields[7]), 8: ("g", "(bba{ss})")}, struct.pack("<IIII", yes, 0, 0, 0))
