// A server of a protocol of lines with a login, one client at a time. RSET forgets who has logged in and not that somebody has, and STAT
// then crashes; LIST crashes for whoever has logged in if the server was built with -DLIST. Built with -DCLEAN it does neither.
#include <arpa/inet.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <unistd.h>

static void serve(FILE *in, int out) {
	char line[256], name[256] = "";
	int user = 0, in_now = 0;
	dprintf(out, "220 hello\r\n");
	while (fgets(line, sizeof line, in)) {
		line[strcspn(line, "\r\n")] = 0;
		if (!strncmp(line, "USER ", 5)) {
			strcpy(name, line + 5);
			user = 1;
			dprintf(out, "331 password\r\n");
		} else if (!strncmp(line, "PASS ", 5)) {
			in_now = user;
			dprintf(out, user ? "230 welcome\r\n" : "503 who are you\r\n");
		} else if (!strcmp(line, "RSET")) {
			user = 0;
#ifdef CLEAN
			in_now = 0;
#endif
			dprintf(out, "250 forgotten\r\n");
		} else if (!strcmp(line, "STAT")) {
			if (in_now && !user) abort();
			dprintf(out, in_now ? "211 %s\r\n" : "530 log in\r\n", name);
		} else if (!strcmp(line, "LIST")) {
#ifdef LIST
			if (in_now) abort();
#endif
			dprintf(out, in_now ? "226 nothing\r\n" : "530 log in\r\n");
		} else if (!strcmp(line, "QUIT")) {
			dprintf(out, "221 bye\r\n");
			return;
		} else {
			dprintf(out, "500 unknown\r\n");
		}
	}
}

int main(int argc, char **argv) {
	struct sockaddr_in at = {.sin_family = AF_INET, .sin_port = htons((uint16_t)atoi(argc > 1 ? argv[1] : "0")), .sin_addr.s_addr = htonl(INADDR_LOOPBACK)};
	int listener = socket(AF_INET, SOCK_STREAM, 0), yes = 1;
	setsockopt(listener, SOL_SOCKET, SO_REUSEADDR, &yes, sizeof yes);
	if (bind(listener, (struct sockaddr *)&at, sizeof at) || listen(listener, 64)) return 1;
	signal(SIGPIPE, SIG_IGN);
	for (int fd; (fd = accept(listener, 0, 0)) >= 0;) {
		FILE *in = fdopen(fd, "r");
		serve(in, fd);
		fclose(in);
	}
}
