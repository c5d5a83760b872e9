// A server of four processes that take connections side by side or, with -DEACH, of one for each connection. A client that goes away within a line has its process look for the end
// of the line for ever, and the line "take" has one wait for ever, unless the server was built with -DCLEAN. The line "work" takes a fifth of
// a second of processor time.
#include <arpa/inet.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <time.h>
#include <unistd.h>

static void answer(int fd) {
	char line[64] = {0}, c = 0;
	size_t n = 0;
	while (c != '\n') {
		ssize_t got = read(fd, &c, 1);
#ifdef CLEAN
		if (got <= 0) break;
#else
		if (got <= 0 && n == 0) break;
#endif
		if (got > 0 && n < sizeof line - 1) line[n++] = c;
	}
	if (!strcmp(line, "work\n"))
		for (clock_t end = clock() + CLOCKS_PER_SEC / 5; clock() < end;) {}
#ifndef CLEAN
	while (!strcmp(line, "take\n")) pause();
#endif
	(void)!write(fd, "ok\n", 3);
	close(fd);
}

static void serve(int listener) {
	for (;;) {
		int fd = accept(listener, 0, 0);
#ifdef EACH
		if (fork()) {
			close(fd);
			continue;
		}
		answer(fd);
		_exit(0);
#else
		answer(fd);
#endif
	}
}

int main(int argc, char **argv) {
	struct sockaddr_in at = {.sin_family = AF_INET, .sin_port = htons((uint16_t)atoi(argc > 1 ? argv[1] : "0")), .sin_addr.s_addr = htonl(INADDR_LOOPBACK)};
	int listener = socket(AF_INET, SOCK_STREAM, 0), yes = 1;
	setsockopt(listener, SOL_SOCKET, SO_REUSEADDR, &yes, sizeof yes);
	if (bind(listener, (struct sockaddr *)&at, sizeof at) || listen(listener, 16)) return 1;
	signal(SIGPIPE, SIG_IGN);
#ifdef EACH
	signal(SIGCHLD, SIG_IGN);
#else
	for (int i = 1; i < 4; i++) if (!fork()) serve(listener);
#endif
	serve(listener);
}
