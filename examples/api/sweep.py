"""How a memory's latency depends on its page policy and its reads' latency: sweep.py MEMORY TRACE."""

import sys

import undercroft

TRACE = undercroft.read_trace(sys.argv[2])
ROWS = undercroft.sweep(
    sys.argv[1], TRACE, {"dram.page": ["open", "closed"], "dram.read_queue": [4, 32]}
)
for row in ROWS if isinstance(ROWS, list) else ROWS.to_dict("records"):
    print(
        f"{row['dram.page']:7} {row['dram.read_queue']:3} entries: {row['bandwidth'] * 1e-9:7.3f} GB/s,"
        f" reads {row['latency'] * 1e-6:8.3f} ns, {row['dram.row_hits']} row hits"
    )
