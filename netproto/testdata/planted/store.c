// A server that keeps what it is sent, as a store does, and nothing more.
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
	if (bind(listener, (struct sockaddr *)&at, sizeof at) || listen(listener, 8)) return 1;
	signal(SIGPIPE, SIG_IGN);
	static char *kept;
	for (;;) {
		int fd = accept(listener, 0, 0);
		char line[4096];
		for (ssize_t n; (n = read(fd, line, sizeof line)) > 0;) {
			char *item = malloc(sizeof kept + (size_t)n);
			memcpy(item, &kept, sizeof kept);
			memcpy(item + sizeof kept, line, (size_t)n);
			kept = item;
			(void)!write(fd, "ok\n", 3);
		}
		close(fd);
	}
}
