import asyncio, concurrent.futures, queue, threading, time

done = []
lock = threading.Lock()


def work(n):
    total = 0
    for i in range(5000):
        total += i * n % 7
    with lock:
        done.append((n, total))
    return total


threads = [threading.Thread(target=work, args=(n,)) for n in range(6)]
for t in threads:
    t.start()
for t in threads:
    t.join()
print(sorted(done))
with concurrent.futures.ThreadPoolExecutor(4) as pool:
    print(list(pool.map(work, range(8))))
q = queue.Queue(3)


def produce():
    for i in range(50):
        q.put(i)
    q.put(None)


threading.Thread(target=produce).start()
print(sum(iter(q.get, None)))
event = threading.Event()
print(event.wait(0.02))
timer = threading.Timer(0.02, event.set)
timer.start()
print(event.wait(10))
barrier = threading.Barrier(3)
for i in range(2):
    threading.Thread(target=barrier.wait).start()
print(barrier.wait() in range(3))


async def step(n):
    await asyncio.sleep(0.01 * n)
    return n


async def main():
    print(await asyncio.gather(*(step(n) for n in range(5))))
    try:
        await asyncio.wait_for(asyncio.sleep(10), 0.05)
    except asyncio.TimeoutError:
        print("in time")
    print(await asyncio.to_thread(work, 3))


asyncio.run(main())
