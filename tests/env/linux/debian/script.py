import bisect, collections, datetime, decimal, fractions, glob, hashlib, itertools, json, math, mmap, os, random, re
import select, shutil, signal, sqlite3, stat, struct, sys, tempfile, time, zlib, lzma, bz2, gzip
import xml.etree.ElementTree as tree

print(json.dumps({"a": [1, 2.5, None, {"b": math.pi}], "c": "\u00e9"}))
print(re.findall(r"(\d+) of", open("lines").read())[:5])
print(hashlib.sha256(b"x" * 10000).hexdigest(), hashlib.md5(b"y").hexdigest())
data = open("numbers", "rb").read()
for packer in (zlib, lzma, bz2, gzip):
    assert packer.decompress(packer.compress(data)) == data
print(zlib.crc32(data), struct.pack("<Qd", 5, 2.5).hex())
random.seed(1)
print(random.random(), random.sample(range(100), 5))
print(decimal.Decimal(1) / 7, fractions.Fraction(3, 9), 2**200, math.factorial(30))
print(datetime.datetime.fromtimestamp(0, datetime.timezone.utc).isoformat())
print(sorted(os.listdir(".")), stat.filemode(os.stat("lines").st_mode & 0o170000))
with tempfile.TemporaryDirectory(dir=".") as folder:
    shutil.copy("lines", folder)
    print(glob.glob("l*", root_dir=folder))
fd = os.open("mapped", os.O_RDWR | os.O_CREAT)
os.ftruncate(fd, 8192)
with mmap.mmap(fd, 8192) as m:
    m[4095:4099] = b"abcd"
    print(os.pread(fd, 4, 4095))
    os.pwrite(fd, b"XY", 4096)
    print(m[4095:4099])
base = sqlite3.connect("base.db")
base.execute("pragma journal_mode=wal")
base.execute("create table t (a integer primary key, b text)")
base.executemany("insert into t values (?, ?)", ((i, str(i * i)) for i in range(500)))
base.commit()
print(base.execute("select sum(a), max(b) from t where b like '%4'").fetchone())
base.close()
print(tree.fromstring("<a><b x='1'>text</b></a>")[0].attrib)
signal.signal(signal.SIGALRM, lambda *_: print("alarm"))
signal.setitimer(signal.ITIMER_REAL, 0.05)
time.sleep(0.2)
r, w = os.pipe()
poll = select.epoll()
poll.register(r, select.EPOLLIN)
print(poll.poll(0.01))
os.write(w, b"text")
print(len(poll.poll(1)), select.select([r], [w], [], 1)[1] == [w], os.read(r, 10))
print(os.path.islink("lines"), os.access("lines", os.R_OK), os.get_terminal_size is not None)
try:
    open("missing")
except FileNotFoundError as e:
    print(e.errno)
print(collections.Counter("mississippi").most_common(2), bisect.bisect([1, 3, 5], 4))
print(sum(itertools.accumulate(range(1000))), sys.maxsize, sys.byteorder)
print(sys.stdin.readline().strip())
sys.exit(6)
