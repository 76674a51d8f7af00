"""Undercroft's models for Python, by ctypes alone.

    import undercroft
    print(undercroft.run("hbm1", [("R", 0x40 * i) for i in range(1000)])["dram.row_hits"])
    rows = undercroft.sweep("hbm1", trace, {"dram.tCL": ["14 ns", "20 ns"], "dram.page": ["open", "closed"]})

Times are femtoseconds. The library is found beside an installation of croft, or as UNDERCROFT_LIBRARY says.
"""

import ctypes
import itertools
import os

FOREVER = 2**64 - 1
READ, WRITE = 0, 1
_FULL = 1


class Error(Exception):
    """A call that the library refuses: `status` is that of undercroft.h."""

    def __init__(self, status, text):
        super().__init__(text)
        self.status = status


class _Error(ctypes.Structure):
    _fields_ = [("status", ctypes.c_int32), ("text", ctypes.c_char * 1024)]


class _Source(ctypes.Structure):
    _fields_ = [
        ("size", ctypes.c_size_t),
        ("file", ctypes.c_char_p),
        ("text", ctypes.c_char_p),
        ("sets", ctypes.POINTER(ctypes.c_char_p)),
        ("set_count", ctypes.c_size_t),
    ]


class _Statistic(ctypes.Structure):
    _fields_ = [
        ("name", ctypes.c_char_p),
        ("unit", ctypes.c_char_p),
        ("meaning", ctypes.c_char_p),
        ("value", ctypes.c_double),
        ("count", ctypes.c_uint64),
        ("is_real", ctypes.c_int32),
    ]


class _Packet(ctypes.Structure):
    _fields_ = [
        ("tag", ctypes.c_uint64),
        ("source", ctypes.c_uint32),
        ("destination", ctypes.c_uint32),
        ("flits", ctypes.c_uint32),
        ("message_class", ctypes.c_uint32),
    ]


class _Program(ctypes.Structure):
    _fields_ = [
        ("size", ctypes.c_size_t),
        ("program", ctypes.c_char_p),
        ("arguments", ctypes.POINTER(ctypes.c_char_p)),
        ("argument_count", ctypes.c_size_t),
        ("directory", ctypes.c_char_p),
        ("input", ctypes.c_char_p),
        ("output", ctypes.c_char_p),
        ("errors", ctypes.c_char_p),
        ("share", ctypes.c_char_p),
    ]


class _State(ctypes.Structure):
    _fields_ = [
        ("ended", ctypes.c_int32),
        ("status", ctypes.c_int32),
        ("harts", ctypes.c_uint32),
        ("instructions", ctypes.c_uint64),
        ("messages", ctypes.c_char_p),
    ]


_Answer = ctypes.CFUNCTYPE(None, ctypes.c_void_p, ctypes.c_uint64, ctypes.c_uint64)
_Room = ctypes.CFUNCTYPE(None, ctypes.c_void_p, ctypes.c_uint64)
_Deliver = ctypes.CFUNCTYPE(ctypes.c_int, ctypes.c_void_p, ctypes.POINTER(_Packet), ctypes.c_uint64)
_NodeRoom = ctypes.CFUNCTYPE(None, ctypes.c_void_p, ctypes.c_uint32, ctypes.c_uint32, ctypes.c_uint64)
_Each = ctypes.CFUNCTYPE(ctypes.c_int, ctypes.c_void_p, ctypes.POINTER(_Statistic))


class _MemoryClient(ctypes.Structure):
    _fields_ = [("size", ctypes.c_size_t), ("context", ctypes.c_void_p), ("answer", _Answer), ("room", _Room)]


class _NetworkClient(ctypes.Structure):
    _fields_ = [("size", ctypes.c_size_t), ("context", ctypes.c_void_p), ("deliver", _Deliver), ("room", _NodeRoom)]


def _load():
    """Opens the library: the one that is named, beside this file's installation, or where the system looks."""
    here = os.path.dirname(os.path.abspath(__file__))
    name = "libundercroft.so.1"
    for path in (
        os.environ.get("UNDERCROFT_LIBRARY"),
        os.path.join(here, "..", "..", "..", "lib", name),
    ):
        if path and os.path.exists(path):
            return ctypes.CDLL(path)
    return ctypes.CDLL(name)


_library = _load()


def _call(name, *arguments):
    """Calls a function of the library, with the error as its last argument; returns its status."""
    error = _Error()
    status = getattr(_library, "undercroft_" + name)(*arguments, ctypes.byref(error))
    if status < 0:
        raise Error(status, error.text.decode(errors="replace"))
    return status


def _source(description, sets):
    """Makes a source: a description with a line or a colon and a blank is a text, another one a file or a name."""
    settings = [f"{name}={value}".encode() for name, value in dict(sets or {}).items()]
    array = (ctypes.c_char_p * len(settings))(*settings)
    text = "\n" in description or ": " in description
    return _Source(
        ctypes.sizeof(_Source),
        None if text else description.encode(),
        description.encode() if text else None,
        array,
        len(settings),
    )


class Model:
    """What all models have: time, statistics, an end. Use it in a `with`, or call close()."""

    def __init__(self):
        self._handle = ctypes.c_void_p()
        self._failure = None

    def close(self):
        if self._handle:
            _call("free", self._handle)
            self._handle = ctypes.c_void_p()

    def __enter__(self):
        return self

    def __exit__(self, *_):
        self.close()

    def __del__(self):
        try:
            self.close()
        except Error:
            pass  # freed while one of its callbacks runs: its memory is lost

    def _get(self, name):
        value = ctypes.c_uint64()
        _call(name, self._handle, ctypes.byref(value))
        return value.value

    @property
    def now(self):
        return self._get("now")

    @property
    def next(self):
        return self._get("next")

    @property
    def period(self):
        return self._get("period")

    def _move(self, name, *arguments):
        """Lets time pass, and raises what a callback has raised."""
        status = _call(name, self._handle, *arguments)
        failure, self._failure = self._failure, None
        if failure:
            raise failure
        return status

    def run(self, until=FOREVER):
        self._move("run", ctypes.c_uint64(until))

    def tick(self):
        self._move("tick")

    def step(self):
        self._move("step")

    def _guarded(self, function):
        """Wraps a callback: ctypes would print what it raises, and go on."""

        def call(_, *arguments):
            try:
                return function(*arguments)
            except Exception as failure:  # pylint: disable=broad-except
                self._failure = self._failure or failure
                return 0

        return call

    def statistic(self, name):
        """The value of a statistic: an int, or a float (NaN for a mean of nothing)."""
        statistic = _Statistic()
        _call("statistic", self._handle, name.encode(), ctypes.byref(statistic))
        return statistic.value if statistic.is_real else statistic.count

    def statistics(self):
        """All statistics, as a dictionary by name, in their order."""
        values = {}

        def each(_, statistic):
            one = statistic.contents
            values[one.name.decode()] = one.value if one.is_real else one.count
            return 0

        _call("statistics", self._handle, _Each(each), None)
        return values


class Memory(Model):
    """A memory: answer(tag, now) is called when a request is done, room(now) when there is room after request() was False."""

    def __init__(self, description, answer, room=None, sets=None):
        super().__init__()
        self._client = _MemoryClient(
            ctypes.sizeof(_MemoryClient),
            None,
            _Answer(self._guarded(answer)),
            _Room(self._guarded(room)) if room else _Room(),
        )
        source = _source(description, sets)
        _call("memory_new", ctypes.byref(self._handle), ctypes.byref(source), ctypes.byref(self._client))

    def request(self, write, address, size=64, tag=0):
        """Offers a request. False: there is no room now."""
        return (
            _call(
                "memory_request",
                self._handle,
                ctypes.c_int(WRITE if write else READ),
                ctypes.c_uint64(address),
                ctypes.c_uint64(size),
                ctypes.c_uint64(tag),
            )
            != _FULL
        )

    @property
    def size(self):
        return self._get("memory_size")

    @property
    def outstanding(self):
        return self._get("memory_outstanding")


class Network(Model):
    """A network: deliver(tag, source, destination, flits, message_class, now) returns whether the packet is taken."""

    def __init__(self, description, deliver, flits, room=None, sets=None):
        super().__init__()

        def taken(packet, now):
            one = packet.contents
            return not deliver(one.tag, one.source, one.destination, one.flits, one.message_class, now)

        self._client = _NetworkClient(
            ctypes.sizeof(_NetworkClient),
            None,
            _Deliver(self._guarded(taken)),
            _NodeRoom(self._guarded(room)) if room else _NodeRoom(),
        )
        source = _source(description, sets)
        _call(
            "network_new",
            ctypes.byref(self._handle),
            ctypes.byref(source),
            ctypes.c_uint32(flits),
            ctypes.byref(self._client),
        )

    def send(self, source, destination, flits=1, message_class=0, tag=0):
        """Sends a packet. False: there is no room now."""
        packet = _Packet(tag, source, destination, flits, message_class)
        return _call("network_send", self._handle, ctypes.byref(packet)) != _FULL

    def unblock(self, node, message_class=0):
        _call("network_unblock", self._handle, ctypes.c_uint32(node), ctypes.c_uint32(message_class))

    @property
    def nodes(self):
        value = ctypes.c_uint32()
        _call("network_nodes", self._handle, ctypes.byref(value))
        return value.value


class Machine(Model):
    """A machine with a program of croft cc. What the program prints goes to files; without one, nowhere."""

    def __init__(self, description, program, arguments=(), sets=None, directory=None, **streams):
        super().__init__()

        def text(value):
            return None if value is None else os.fsencode(value)

        words = [os.fsencode(argument) for argument in arguments]
        loaded = _Program(
            ctypes.sizeof(_Program),
            text(program),
            (ctypes.c_char_p * len(words))(*words),
            len(words),
            text(directory),
            *(text(streams.pop(name, None)) for name in ("input", "output", "errors", "share")),
        )
        if streams:
            raise TypeError(f"unknown arguments: {', '.join(streams)}")
        source = _source(description, sets)
        _call("machine_new", ctypes.byref(self._handle), ctypes.byref(source), ctypes.byref(loaded))

    def _state(self):
        state = _State()
        _call("machine_state", self._handle, ctypes.byref(state))
        return state

    def execute(self, instructions):
        """Runs until the hosts have executed about that many instructions more, or the program ends."""
        _call("machine_run", self._handle, ctypes.c_uint64(instructions))

    @property
    def status(self):
        """The exit status, as croft run's; None while the program runs."""
        state = self._state()
        return state.status if state.ended else None

    @property
    def instructions(self):
        return self._state().instructions

    @property
    def messages(self):
        return self._state().messages.decode(errors="replace")

    def register(self, number, hart=0):
        value = ctypes.c_uint64()
        _call("machine_register", self._handle, ctypes.c_uint32(hart), ctypes.c_uint32(number), ctypes.byref(value))
        return value.value

    @property
    def pc(self):
        return self.register(32)

    def read(self, address, size):
        """Bytes of the machine's memory."""
        data = ctypes.create_string_buffer(size)
        _call("machine_read", self._handle, ctypes.c_uint64(address), data, ctypes.c_uint64(size))
        return data.raw

    def write(self, address, data):
        _call("machine_write", self._handle, ctypes.c_uint64(address), bytes(data), ctypes.c_uint64(len(data)))


def read_trace(path):
    """The accesses of a trace in Ramulator 2's format, as ("R" or "W", address)."""
    with open(path, encoding="utf-8") as lines:
        words = [line.split() for line in lines if line.strip() and not line.startswith("#")]
    return [("W" if word[0] == "ST" else "R", int(word[1], 0)) for word in words]


def run(description, trace, size=64, sets=None):
    """Drives a memory with accesses ("R" or "W", address), one in each clock or when there is room. Returns the statistics,
    with "time" (fs), "bandwidth" (bytes a second) and "latency" (fs, the mean of reads)."""
    latencies, ends = [], [0]

    def answer(tag, now):
        ends.append(now)
        if tag != FOREVER:
            latencies.append(now - tag)

    count = 0
    with Memory(description, answer, sets=sets) as memory:
        now, period = 0, memory.period
        for operation, address in trace:
            write = operation == "W"
            while not memory.request(write, address, size, FOREVER if write else now):
                memory.step()
                now = memory.now
            now += period
            memory.run(now)
            count += 1
        memory.run()
        values = memory.statistics()
    time = max(ends)
    values["time"] = time
    values["bandwidth"] = count * size / (time * 1e-15) if time else 0
    values["latency"] = sum(latencies) / len(latencies) if latencies else float("nan")
    return values


def sweep(description, trace, axes, size=64):
    """Runs a trace on all combinations of keys' values: axes = {"dram.tCL": ["14 ns", "20 ns"]}. Returns a pandas frame with
    a row for each where pandas is there, otherwise a list of dictionaries."""
    trace = list(trace)
    rows = []
    for values in itertools.product(*axes.values()):
        sets = dict(zip(axes, values))
        rows.append({**sets, **run(description, trace, size, sets)})
    return frame(rows)


def frame(rows):
    """A pandas frame of dictionaries, or the dictionaries themselves where pandas is not there."""
    try:
        import pandas  # pylint: disable=import-outside-toplevel
    except ImportError:
        return rows
    return pandas.DataFrame(rows)
