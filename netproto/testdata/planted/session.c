// A server that gives out values that differ in every run, and dies (without -DCLEAN) when a client returns both of them: a session in
// bytes, and a token in text.
#include <arpa/inet.h>
#include <signal.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/random.h>
#include <sys/socket.h>
#include <unistd.h>

static int take(int fd, void *p, size_t n) {
    for (char *c = p; n > 0;) {
        ssize_t k = read(fd, c, n);
        if (k <= 0) return -1;
        c += k;
        n -= k;
    }
    return 0;
}

static void give(int fd, const void *p, size_t n) {
    if (write(fd, p, n) < 0) perror("write");
}

static void serve(int fd) {
    uint32_t session = 0, got = 0;
    uint8_t kind, answer[7] = {0, 5};
    char token[32], said[32];
    int known = 0;
    give(fd, "hi\n", 3);
    while (take(fd, &kind, 1) == 0) {
        if (kind == 1) {
            getrandom(&session, sizeof session, 0);
            memcpy(answer + 3, &session, 4);
            give(fd, answer, sizeof answer);
        } else if (kind == 2) {
            if (take(fd, &got, 4) || got != session || session == 0) return;
            getrandom(&got, sizeof got, 0);
            int n = snprintf(token, sizeof token, "%ct%u\n", 7, got);
            give(fd, token, n);
            known = 1;
        } else if (kind == 3) {
            size_t n = 0;
            while (n < sizeof said - 1 && take(fd, said + n, 1) == 0 && said[n] != '\n') n++;
            said[n] = 0;
#ifndef CLEAN
            token[strcspn(token, "\n")] = 0;
            if (known && strcmp(said, token + 1) == 0) abort();
#endif
            give(fd, answer, sizeof answer);
        } else return;
    }
}

int main(int argc, char **argv) {
    struct sockaddr_in at = {.sin_family = AF_INET, .sin_port = htons(atoi(argv[1])), .sin_addr.s_addr = htonl(INADDR_LOOPBACK)};
    int yes = 1, l = socket(AF_INET, SOCK_STREAM, 0);
    (void)argc;
    setsockopt(l, SOL_SOCKET, SO_REUSEADDR, &yes, sizeof yes);
    signal(SIGPIPE, SIG_IGN);
    if (bind(l, (void *)&at, sizeof at) || listen(l, 16)) return 1;
    for (;;) {
        int fd = accept(l, NULL, NULL);
        if (fd < 0) continue;
        serve(fd);
        close(fd);
    }
}
