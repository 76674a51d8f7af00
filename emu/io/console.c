#include "emu/io/console.h"

#include <errno.h>
#include <inttypes.h>
#include <poll.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "emu/io/terminal.h"
#include "emu/sim/alloc.h"
#include "emu/sim/text/say.h"

enum source { SOURCE_NONE, SOURCE_FILE, SOURCE_PIPE, SOURCE_STREAM, SOURCE_TERMINAL, SOURCE_REPLAY };

enum {
    INPUT_ROOM = 4096,
    OUTPUT_ROOM = 4096,
    TELL_AFTER = 10000, /* ms of the host's time */
    HOST_TICKS = 10000, /* ticks between checks of the host: each simulated millisecond */
    CTRL_A = 1,
};

struct console {
    enum source source;
    int input, output;
    bool escaped; /* the last key was Ctrl-A */
    bool quit, look_now;
    bool piped;  /* the source is or was SOURCE_PIPE */
    bool given;  /* a byte was delivered since the last poll */
    bool spoken; /* a byte of the pipe was delivered */
    bool wrote;  /* there was output since the last poll */
    bool stuck;  /* nothing but input can happen in the guest */
    bool told;   /* the warning about a silent pipe was printed */
    bool failed;
    unsigned first, count; /* in `queue` */
    unsigned used;         /* bytes in `out` */
    uint64_t next_look;    /* tick of the next check of the host */
    uint64_t patience;     /* ticks without output after which a guest that waits asks */
    uint64_t silent_since; /* tick of the last poll before which there was output */
    struct moment (*moment)(void *context);
    void (*writes)(void *context);
    bool (*stops)(void *context);
    void *context;
    struct input_record *record;
    struct input_replay *replay;
    struct terminal terminal;
    struct error error;
    uint8_t queue[INPUT_ROOM];
    uint8_t out[OUTPUT_ROOM];
};

static void fail(struct console *console, const char *what)
{
    if (console->failed)
        return;
    console->failed = true;
    (void)error_set(&console->error, "console: %s: %s", what, strerror(errno));
}

void console_flush(struct console *console)
{
    unsigned done = 0;
    if (console->used && console->writes)
        console->writes(console->context);
    while (done < console->used && !console->failed && console->output >= 0) {
        ssize_t got = write(console->output, console->out + done, console->used - done);
        struct pollfd ready = {.fd = console->output, .events = POLLOUT};
        if (got >= 0)
            done += (unsigned)got;
        else if (errno == EAGAIN)
            (void)poll(&ready, 1, -1);
        else if (errno != EINTR)
            fail(console, "the output cannot be written");
    }
    console->used = 0;
}

void console_put(struct console *console, uint8_t byte)
{
    if (console->used == OUTPUT_ROOM)
        console_flush(console);
    console->wrote = true;
    console->out[console->used++] = byte;
}

static void put_text(struct console *console, const char *text)
{
    for (; *text; text++)
        console_put(console, (uint8_t)*text);
}

/* Queues a byte. Drops it if the queue is full, as a terminal's own buffer does. */
static void enqueue(struct console *console, uint8_t byte)
{
    if (console->count < INPUT_ROOM)
        console->queue[(console->first + console->count++) % INPUT_ROOM] = byte;
}

static void quit(struct console *console)
{
    if (!console->quit && console->record)
        input_record_add(console->record, console->moment(console->context), INPUT_END);
    console->quit = true;
}

/* Handles a byte from the terminal, which may be an escape. The escapes are those of qemu -nographic. */
static void take_key(struct console *console, uint8_t byte)
{
    if (!console->escaped) {
        console->escaped = byte == CTRL_A;
        if (byte != CTRL_A)
            enqueue(console, byte);
        return;
    }
    console->escaped = false;
    switch (byte) {
    case CTRL_A: enqueue(console, byte); break;
    case 'x': quit(console); break;
    case 'h':
        put_text(console, "\r\nCtrl-A x: end the run. Ctrl-A Ctrl-A: send Ctrl-A. Ctrl-A h: this list.\r\n");
        break;
    default: break;
    }
}

/* Reads input once, at most `room` bytes. */
static void read_host(struct console *console, size_t room)
{
    uint8_t bytes[512];
    ssize_t got = read(console->input, bytes, room < sizeof bytes ? room : sizeof bytes);
    if (got < 0 && (errno == EINTR || errno == EAGAIN))
        return;
    if (got < 0 && errno != EIO)
        fail(console, "the input cannot be read");
    if (got <= 0) {
        console->source = SOURCE_NONE; /* end of input; EIO: the terminal has hung up */
        return;
    }
    for (ssize_t i = 0; i < got; i++) {
        if (console->source == SOURCE_TERMINAL)
            take_key(console, bytes[i]);
        else
            enqueue(console, bytes[i]);
    }
}

static void look_at_host(struct console *console)
{
    size_t room = console->source == SOURCE_TERMINAL ? SIZE_MAX : INPUT_ROOM - console->count;
    struct pollfd ready = {.fd = console->input, .events = POLLIN};
    if (room > 0 && poll(&ready, 1, 0) > 0)
        read_host(console, room);
}

static bool stops(const struct console *console)
{
    return console->stops && console->stops(console->context);
}

/* Sleeps until the host's input can be read, or a signal arrives and the run ends. Tells the user once if that takes long. */
static void await_host(struct console *console)
{
    struct pollfd ready = {.fd = console->input, .events = POLLIN};
    int got;
    while ((got = poll(&ready, 1, console->told ? -1 : TELL_AFTER)) <= 0 && !stops(console)) {
        if (got < 0 && errno != EINTR)
            return;
        if (got == 0)
            say_warning("the guest waits for input from a pipe that is open and sends nothing; </dev/null "
                        "gives it none");
        console->told |= got == 0;
    }
}

/* Fails because the run differs from the recorded one. */
static void deviate(struct console *console, struct moment at, const char *how, struct moment now)
{
    if (console->failed)
        return;
    console->failed = true;
    (void)error_set(&console->error,
                    "console: this run differs from the recorded one: the input for instruction %" PRIu64
                    ", tick %" PRIu64 " was %s instruction %" PRIu64 ", tick %" PRIu64
                    "; replay with the same machine, program and options",
                    at.instructions, at.ticks, how, now.instructions, now.ticks);
}

/* Returns whether the replay's next entry belongs to this moment. */
static bool replay_due(struct console *console, int *what)
{
    struct moment at, now = console->moment(console->context);
    if (!input_replay_peek(console->replay, &at, what))
        return false;
    if (now.instructions == at.instructions && now.ticks == at.ticks)
        return true;
    if (now.instructions > at.instructions || now.ticks > at.ticks)
        deviate(console, at, "not requested until", now);
    return false;
}

static bool get_replayed(struct console *console, uint8_t *byte)
{
    int what;
    if (!replay_due(console, &what) || what == INPUT_END)
        return false;
    input_replay_next(console->replay);
    *byte = (uint8_t)what;
    return true;
}

/* Reads a pipe until it delivers a byte or ends. Writes the output first, because the other end may wait for
 * it. */
static void fill_from_pipe(struct console *console)
{
    console_flush(console);
    while (console->count == 0 && console->source == SOURCE_PIPE && !console->failed && !stops(console)) {
        await_host(console);
        if (!stops(console))
            read_host(console, INPUT_ROOM);
    }
}

static bool get_queued(struct console *console, uint8_t *byte)
{
    /* Deliver one byte per poll point, so that the guest can answer it before the next one. */
    if (console->piped && console->given)
        return false;
    if (console->count == 0 && console->source == SOURCE_PIPE)
        fill_from_pipe(console);
    if (console->count == 0 && console->source == SOURCE_FILE)
        read_host(console, INPUT_ROOM);
    if (console->count == 0)
        return false;
    *byte = console->queue[console->first];
    console->first = (console->first + 1) % INPUT_ROOM;
    console->count--;
    console->given = true;
    console->spoken = console->piped;
    return true;
}

bool console_get(struct console *console, uint8_t *byte)
{
    if (console->failed || console->quit)
        return false;
    bool got = console->source == SOURCE_REPLAY ? get_replayed(console, byte) : get_queued(console, byte);
    if (got && console->record)
        input_record_add(console->record, console->moment(console->context), *byte);
    return got;
}

bool console_offer(struct console *console, uint8_t *byte)
{
    uint64_t silence = console->moment(console->context).ticks - console->silent_since;
    bool asks = console->spoken || console->stuck || silence >= console->patience;
    return (console->source != SOURCE_PIPE || asks) && console_get(console, byte);
}

enum console_state console_poll(struct console *console, struct error *err)
{
    uint64_t now = console->moment(console->context).ticks;
    int what;
    console->given = false;
    if (console->wrote) {
        console->silent_since = now;
        console->stuck = false;
    }
    console->wrote = false;
    if (console->source == SOURCE_REPLAY && replay_due(console, &what) && what == INPUT_END)
        quit(console);
    if (console->look_now || now >= console->next_look) {
        console->look_now = false;
        console->next_look = now + HOST_TICKS;
        console_flush(console);
        if (console->source == SOURCE_TERMINAL || console->source == SOURCE_STREAM)
            look_at_host(console);
    }
    if (console->failed)
        *err = console->error;
    if (console->failed)
        return CONSOLE_FAILED;
    return console->quit ? CONSOLE_QUIT : CONSOLE_RUNNING;
}

bool console_wait(struct console *console, int milliseconds)
{
    console_flush(console);
    console->look_now = console->stuck = true;
    if (console->count > 0 || console->failed || console->quit)
        return true;
    struct moment at;
    int what;
    if (console->source == SOURCE_REPLAY)
        return input_replay_peek(console->replay, &at,
                                 &what); /* simulated time goes on, so the entry's moment comes */
    if (console->source == SOURCE_NONE || console->source == SOURCE_FILE || console->source == SOURCE_PIPE)
        return console->source != SOURCE_NONE;
    struct pollfd ready = {.fd = console->input, .events = POLLIN};
    (void)poll(&ready, 1, milliseconds);
    return true;
}

bool console_await(struct console *console, int milliseconds)
{
    struct moment at;
    int what;
    if (console->source == SOURCE_REPLAY && !console->quit && !replay_due(console, &what) &&
        input_replay_peek(console->replay, &at, &what))
        deviate(console, at, "already requested at", console->moment(console->context));
    return console_wait(console, milliseconds);
}

bool console_interactive(const struct console *console)
{
    struct moment at;
    int what;
    return console->source == SOURCE_TERMINAL ||
           (console->source == SOURCE_REPLAY && input_replay_peek(console->replay, &at, &what));
}

int console_input(const struct console *console)
{
    return console->source == SOURCE_STREAM || console->source == SOURCE_TERMINAL ? console->input : -1;
}

static bool open_source(struct console *console, const struct console_options *options, struct error *err)
{
    struct stat stat;
    if (options->replay) {
        console->source = SOURCE_REPLAY;
        console->replay = input_replay_open(options->replay, err);
        return console->replay;
    }
    if (options->input < 0 || fstat(options->input, &stat) != 0)
        return true; /* closed: no input */
    if (S_ISREG(stat.st_mode)) {
        console->source = SOURCE_FILE;
        return true;
    }
    if (!isatty(options->input)) {
        console->source = options->live ? SOURCE_STREAM : SOURCE_PIPE;
        console->piped = !options->live;
        return true;
    }
    if (!terminal_make_raw(&console->terminal, options->input, err))
        return false;
    console->source = SOURCE_TERMINAL;
    return true;
}

struct console *console_new(const struct console_options *options, struct error *err)
{
    struct console *console = alloc(1, sizeof *console);
    console->input = options->input;
    console->output = options->output;
    console->moment = options->moment;
    console->writes = options->writes;
    console->stops = options->stops;
    console->context = options->context;
    console->patience = options->patience;
    console->look_now = true;
    console->wrote = true; /* silence begins with the run, also with one that goes on from a snapshot */
    struct error ignored;
    bool good = open_source(console, options, err);
    if (good && options->record)
        good = (console->record = input_record_open(options->record, err)) != NULL;
    if (good)
        return console;
    (void)console_close(console, &ignored);
    return NULL;
}

bool console_close(struct console *console, struct error *err)
{
    if (!console)
        return true;
    console_flush(console);
    if (console->terminal.guard > 0)
        terminal_restore(&console->terminal);
    bool good = input_record_close(console->record, err);
    input_replay_free(console->replay);
    if (console->failed)
        *err = console->error;
    good = good && !console->failed;
    free(console);
    return good;
}
