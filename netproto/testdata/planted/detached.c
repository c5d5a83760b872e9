// A server that sends its standard error to nowhere once it listens, as daemons do, so that what a sanitizer has to say is lost
// there. A line that is longer than its buffer is copied beyond it. With a second argument it forks for each connection. With
// -DCLEAN it copies as much as there is room for.
#include <arpa/inet.h>
#include <fcntl.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <unistd.h>

static __attribute__((noinline)) void keep(const char *line, size_t n) {
	enum { ROOM = 16 };
	char *copy = malloc(ROOM);
#ifdef CLEAN
	n = n < ROOM ? n : ROOM;
#endif
	for (size_t i = 0; i < n; i++) ((volatile char *)copy)[i] = line[i];
	free(copy);
}

static void serve(int fd) {
	char line[64];
	for (ssize_t n; (n = read(fd, line, sizeof line)) > 0; keep(line, (size_t)n))
		if (write(fd, "no\n", 3) < 0) break;
	close(fd);
}

int main(int argc, char **argv) {
	struct sockaddr_in at = {.sin_family = AF_INET, .sin_port = htons((uint16_t)atoi(argc > 1 ? argv[1] : "0")), .sin_addr.s_addr = htonl(INADDR_LOOPBACK)};
	int listener = socket(AF_INET, SOCK_STREAM, 0), yes = 1, nowhere = open("/dev/null", O_RDWR);
	setsockopt(listener, SOL_SOCKET, SO_REUSEADDR, &yes, sizeof yes);
	if (bind(listener, (struct sockaddr *)&at, sizeof at) || listen(listener, 64)) return 1;
	for (int fd = 0; fd <= 2; fd++) dup2(nowhere, fd);
	signal(SIGCHLD, SIG_IGN);
	for (;;) {
		int fd = accept(listener, 0, 0);
		if (argc > 2 && fork() == 0) {
			serve(fd);
			_exit(0);
		}
		if (argc > 2) close(fd);
		else serve(fd);
	}
}
