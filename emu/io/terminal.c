#include "emu/io/terminal.h"

#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

/* The guard's process: sleeps until its parent dies, which closes the pipe, and then restores the
 * terminal. */
static void guard(const struct terminal *terminal, int pipe)
{
    sigset_t all;
    char byte;
    ssize_t got;
    sigfillset(&all);
    (void)sigprocmask(SIG_SETMASK, &all,
                      NULL); /* also SIGTTOU, so that tcsetattr() works in a background process */
    do
        got = read(pipe, &byte, 1);
    while (got < 0 && errno == EINTR);
    (void)tcsetattr(terminal->file, TCSANOW, &terminal->saved);
    _exit(0);
}

static bool start_guard(struct terminal *terminal, struct error *err)
{
    int ends[2];
    if (pipe2(ends, O_CLOEXEC) != 0)
        return error_set(err, "cannot create the pipe of the process that guards the terminal: %s",
                         strerror(errno));
    terminal->guard = fork();
    if (terminal->guard == 0) {
        (void)close(ends[1]);
        guard(terminal, ends[0]);
    }
    (void)close(ends[0]);
    terminal->guard_pipe = ends[1];
    if (terminal->guard > 0)
        return true;
    (void)close(ends[1]);
    return error_set(err, "cannot start the process that guards the terminal: %s", strerror(errno));
}

bool terminal_make_raw(struct terminal *terminal, int file, struct error *err)
{
    *terminal = (struct terminal){.file = file};
    if (tcgetattr(file, &terminal->saved) != 0)
        return error_set(err, "the terminal's settings cannot be read: %s", strerror(errno));
    if (!start_guard(terminal, err))
        return false;
    struct termios raw = terminal->saved;
    raw.c_iflag &= ~(tcflag_t)(IGNBRK | BRKINT | PARMRK | ISTRIP | INLCR | IGNCR | ICRNL | IXON);
    raw.c_lflag &= ~(tcflag_t)(ECHO | ECHONL | ICANON | IEXTEN | ISIG);
    raw.c_cflag = (raw.c_cflag & ~(tcflag_t)(CSIZE | PARENB)) | CS8;
    raw.c_cc[VMIN] = 1;
    raw.c_cc[VTIME] = 0;
    if (tcsetattr(file, TCSANOW, &raw) == 0)
        return true;
    (void)error_set(err, "the terminal cannot be set to raw mode: %s", strerror(errno));
    terminal_restore(terminal);
    return false;
}

void terminal_restore(struct terminal *terminal)
{
    (void)tcsetattr(terminal->file, TCSADRAIN, &terminal->saved);
    (void)kill(terminal->guard, SIGKILL); /* before the pipe closes, because the terminal has been restored */
    (void)close(terminal->guard_pipe);
    while (waitpid(terminal->guard, NULL, 0) < 0 && errno == EINTR)
        ;
    terminal->guard = 0;
}
