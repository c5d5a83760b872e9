// A server that forks for each connection and answers every line alike, so that only what it counts tells how near a line is to
// the bug: half of each of three letters, which are looked at one after the other. With -DCLEAN there is none. How the kernel
// cuts what is sent changes nothing, so that a dialogue does the same each time.
#include <arpa/inet.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <unistd.h>

static volatile int reached;

static __attribute__((noinline)) void die(void) {
	reached++;
#ifndef CLEAN
	abort();
#endif
}

static __attribute__((noinline)) void look(const char *line) {
	if ((line[0] & 15) == ('z' & 15))
		if ((line[1] & 15) == ('Q' & 15))
			if ((line[2] & 15) == ('7' & 15)) die();
}

int main(int argc, char **argv) {
	struct sockaddr_in at = {.sin_family = AF_INET, .sin_port = htons((uint16_t)atoi(argc > 1 ? argv[1] : "0")), .sin_addr.s_addr = htonl(INADDR_LOOPBACK)};
	int listener = socket(AF_INET, SOCK_STREAM, 0), yes = 1;
	setsockopt(listener, SOL_SOCKET, SO_REUSEADDR, &yes, sizeof yes);
	if (bind(listener, (struct sockaddr *)&at, sizeof at) || listen(listener, 64)) return 1;
	signal(SIGCHLD, SIG_IGN);
	for (;;) {
		int fd = accept(listener, 0, 0);
		if (fork() == 0) {
			FILE *in = fdopen(fd, "r");
			for (char line[64] = {0}; fgets(line, sizeof line, in); look(line))
				if (write(fd, "no\n", 3) < 0) break;
			_exit(0);
		}
		close(fd);
	}
}
