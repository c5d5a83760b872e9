// A server that takes one connection after the other, with room for few that wait, and after the line "busy" waits for a second and
// a half for nothing at all. After "deaf" it takes no connections any more, unless it was built with -DCLEAN.
#include <arpa/inet.h>
#include <poll.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <unistd.h>

int main(int argc, char **argv) {
	struct sockaddr_in at = {.sin_family = AF_INET, .sin_port = htons((uint16_t)atoi(argc > 1 ? argv[1] : "0")), .sin_addr.s_addr = htonl(INADDR_LOOPBACK)};
	int listener = socket(AF_INET, SOCK_STREAM, 0), yes = 1;
	setsockopt(listener, SOL_SOCKET, SO_REUSEADDR, &yes, sizeof yes);
	if (bind(listener, (struct sockaddr *)&at, sizeof at) || listen(listener, 0)) return 1;
	signal(SIGPIPE, SIG_IGN);
	for (;;) {
		int fd = accept(listener, 0, 0);
		char line[64];
		for (ssize_t n; (n = read(fd, line, sizeof line)) > 0;) {
			if (n >= 4 && !memcmp(line, "busy", 4)) poll(0, 0, 1500);
#ifndef CLEAN
			if (n >= 4 && !memcmp(line, "deaf", 4)) poll(0, 0, -1);
#endif
			(void)!write(fd, "ok\n", 3);
		}
		close(fd);
	}
}
