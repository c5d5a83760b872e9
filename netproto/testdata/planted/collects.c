// A server that frees what its connections have left only when there is much of it, as a garbage collector does. With -DWARMS it keeps what
// it has, as one does whose heap grows to its working size: much for each of the first connections, and less for each of the next.
#include <arpa/inet.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <unistd.h>

#define ONE 6000
#define MOST 800

int main(int argc, char **argv) {
	struct sockaddr_in at = {.sin_family = AF_INET, .sin_port = htons((uint16_t)atoi(argc > 1 ? argv[1] : "0")), .sin_addr.s_addr = htonl(INADDR_LOOPBACK)};
	int listener = socket(AF_INET, SOCK_STREAM, 0), yes = 1;
	setsockopt(listener, SOL_SOCKET, SO_REUSEADDR, &yes, sizeof yes);
	if (bind(listener, (struct sockaddr *)&at, sizeof at) || listen(listener, 8)) return 1;
	signal(SIGPIPE, SIG_IGN);
#ifdef WARMS
	static char *volatile kept;
	for (int n = 0;; n++) {
		int fd = accept(listener, 0, 0), size = n < 1800 ? 7000 : 2000;
		char line[4096];
		kept = malloc(size);
		memset(kept, 1, size);
		while (read(fd, line, sizeof line) > 0) (void)!write(fd, "ok\n", 3);
		close(fd);
	}
#endif
	static char *garbage[MOST];
	for (int n = 0;; n++) {
		int fd = accept(listener, 0, 0);
		char line[4096];
		if (n == MOST)
			for (; n > 0; n--) free(garbage[n - 1]);
		garbage[n] = malloc(ONE);
		memset(garbage[n], 1, ONE);
		while (read(fd, line, sizeof line) > 0) (void)!write(fd, "ok\n", 3);
		close(fd);
	}
}
