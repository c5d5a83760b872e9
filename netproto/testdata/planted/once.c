// A server that has one conversation and ends when the client closes the connection, as many examples of libraries do. The line
// "exit" ends it with status 3. With -DCLEAN it does not.
#include <arpa/inet.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <unistd.h>

int main(int argc, char **argv) {
	struct sockaddr_in at = {.sin_family = AF_INET, .sin_port = htons((uint16_t)atoi(argc > 1 ? argv[1] : "0")), .sin_addr.s_addr = htonl(INADDR_LOOPBACK)};
	int listener = socket(AF_INET, SOCK_STREAM, 0), yes = 1;
	setsockopt(listener, SOL_SOCKET, SO_REUSEADDR, &yes, sizeof yes);
	if (bind(listener, (struct sockaddr *)&at, sizeof at) || listen(listener, 1)) return 1;
	signal(SIGPIPE, SIG_IGN);
	int fd = accept(listener, 0, 0);
	char line[64];
	for (ssize_t n; (n = read(fd, line, sizeof line)) > 0;) {
#ifndef CLEAN
		if (n >= 4 && !memcmp(line, "exit", 4)) return 3;
#endif
		if (n >= 3 && !memcmp(line, "bye", 3)) return 0;
		(void)!write(fd, "ok\n", 3);
	}
	return 0;
}
