// A server of several clients at once, with four faults (without -DCLEAN) that no mutation of one seed is likely to show: one takes two
// clients, one a name of the largest length that is all separators, one a message that only the server sends, one a state that no seed
// reaches. Messages are a kind, a length, and so many bytes.
#include <arpa/inet.h>
#include <poll.h>
#include <signal.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <unistd.h>

enum { HELLO = 1, WATCH, TELL, ELEVATE, WIPE, ANSWER = 0x81, NEWS = 0x82 };
enum { MOST = 16 };

static struct client {
    int fd, greeted, watches, elevated;
    uint8_t in[512];
    size_t have;
} all[MOST];

#ifndef CLEAN
#define FAULT(signal) raise(signal)
#else
#define FAULT(signal) (void)0
#endif

static void answer(struct client *c, uint8_t kind, uint8_t code) {
    uint8_t b[] = {kind, 1, code};
    (void)!write(c->fd, b, sizeof b);
}

static void tell(struct client *from, uint8_t text) {
    for (int i = 0; i < MOST; i++)
        if (all[i].fd > 0 && all[i].watches) {
            if (&all[i] != from) FAULT(SIGBUS); // of one that watches itself nothing is wrong
            answer(&all[i], NEWS, text);
        }
}

static void handle(struct client *c, uint8_t kind, const uint8_t *text, size_t n) {
    if (kind == HELLO) {
        size_t slashes = 0;
        for (size_t i = 0; i < n; i++) slashes += text[i] == '/';
        if (slashes == 255) FAULT(SIGFPE);
        c->greeted = 1;
    } else if (!c->greeted) {
        answer(c, ANSWER, 4);
        return;
    } else if (kind == WATCH) {
        c->watches = 1;
    } else if (kind == TELL) {
        tell(c, n ? text[0] : 0);
    } else if (kind == ELEVATE) {
        if (n == 4 && !memcmp(text, "root", 4)) c->elevated = 1;
    } else if (kind == WIPE) {
        if (c->elevated) FAULT(SIGABRT);
    } else if (kind == NEWS) {
        FAULT(SIGILL);
    } else {
        answer(c, ANSWER, 5);
        return;
    }
    answer(c, ANSWER, 0);
}

static void receive(struct client *c) {
    ssize_t n = read(c->fd, c->in + c->have, sizeof c->in - c->have);
    if (n <= 0) {
        close(c->fd);
        memset(c, 0, sizeof *c);
        return;
    }
    for (c->have += n; c->have >= 2 && c->have >= 2u + c->in[1];) {
        size_t size = 2u + c->in[1];
        handle(c, c->in[0], c->in + 2, c->in[1]);
        memmove(c->in, c->in + size, c->have -= size);
    }
}

int main(int argc, char **argv) {
    struct sockaddr_in at = {.sin_family = AF_INET, .sin_port = htons(atoi(argv[1])), .sin_addr.s_addr = htonl(INADDR_LOOPBACK)};
    int yes = 1, l = socket(AF_INET, SOCK_STREAM, 0);
    (void)argc;
    setsockopt(l, SOL_SOCKET, SO_REUSEADDR, &yes, sizeof yes);
    signal(SIGPIPE, SIG_IGN);
    if (bind(l, (struct sockaddr *)&at, sizeof at) || listen(l, 16)) return 1;
    for (;;) {
        struct pollfd p[MOST + 1] = {{.fd = l, .events = POLLIN}};
        for (int i = 0; i < MOST; i++) p[i + 1] = (struct pollfd){.fd = all[i].fd > 0 ? all[i].fd : -1, .events = POLLIN};
        if (poll(p, MOST + 1, -1) < 0) continue;
        for (int i = 0; i < MOST; i++)
            if (p[i + 1].revents) receive(&all[i]);
        if (!p[0].revents) continue;
        int fd = accept(l, NULL, NULL), i = 0;
        while (i < MOST && all[i].fd > 0) i++;
        if (i == MOST) close(fd);
        else all[i].fd = fd;
    }
}
