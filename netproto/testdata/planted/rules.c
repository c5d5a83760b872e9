// A server of lines, for TCP, that breaks one rule for each word, and answers OK to all others. Built with -DCLEAN it answers
// OK to every word. The second argument is the folder that it may write to.
#include <arpa/inet.h>
#include <assert.h>
#include <fcntl.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <unistd.h>

static int listener;
static const char *folder;
char *kept;
volatile int shift = 40;

static void say(int fd, const char *text) {
	if (write(fd, text, strlen(text)) < 0) return;
}

#ifndef CLEAN
static void *hold(size_t n) {
	char **more = malloc(n);
	memset(more, 1, n);
	*more = kept;
	return kept = (char *)more;
}

static __attribute__((noinline)) void overflow(char *block) { block[8] = 1; }

static int misbehave(int fd, const char *word) {
	if (!strcmp(word, "overflow")) {
		overflow(malloc(8));
	} else if (!strcmp(word, "segv")) {
		raise(SIGSEGV);
	} else if (!strcmp(word, "assert")) {
		assert(!"reached");
	} else if (!strcmp(word, "exit")) {
		exit(7);
	} else if (!strcmp(word, "undefined")) {
		if (1 << shift) say(fd, "");
	} else if (!strcmp(word, "spin")) {
		for (volatile int i = 0;; i++) {
		}
	} else if (!strcmp(word, "stuck")) {
		if (vfork() == 0) { // who has called it waits for this one
			pause();
			_exit(0);
		}
	} else if (!strcmp(word, "close")) {
		close(listener);
		listener = -1;
	} else if (!strcmp(word, "mute")) {
		for (;;) pause();
	} else if (!strcmp(word, "flood")) {
		char *block = calloc(1, 1 << 20);
		while (write(fd, block, 1 << 20) > 0) {
		}
	} else if (!strcmp(word, "big")) {
		hold(8 << 20);
	} else if (!strcmp(word, "leak")) {
		hold(4096);
	} else if (!strcmp(word, "file")) {
		dup(0);
	} else if (!strcmp(word, "sick")) {
		char path[4096];
		snprintf(path, sizeof path, "%s/sick", folder);
		close(open(path, O_CREAT | O_WRONLY, 0600));
	} else if (!strcmp(word, "odd")) {
		say(fd, "WHAT\n");
		return 1;
	} else if (!strcmp(word, "third")) {
		static int times;
		if (++times == 3) raise(SIGILL);
	}
	return 0;
}
#endif

int main(int argc, char **argv) {
	struct sockaddr_in at = {.sin_family = AF_INET, .sin_port = htons((uint16_t)atoi(argv[1])), .sin_addr.s_addr = htonl(INADDR_LOOPBACK)};
	int yes = 1;
	(void)argc;
	folder = argv[2];
	listener = socket(AF_INET, SOCK_STREAM, 0);
	setsockopt(listener, SOL_SOCKET, SO_REUSEADDR, &yes, sizeof yes);
	if (bind(listener, (struct sockaddr *)&at, sizeof at) || listen(listener, 64)) {
		perror("rules");
		return 1;
	}
	signal(SIGPIPE, SIG_IGN);
	for (;;) {
		int fd = accept(listener, 0, 0);
		if (fd < 0) {
			pause();
			continue;
		}
		FILE *in = fdopen(fd, "r");
		char line[256];
		while (fgets(line, sizeof line, in)) {
			line[strcspn(line, "\r\n")] = 0;
#ifndef CLEAN
			if (misbehave(fd, line)) continue;
#endif
			say(fd, "OK\n");
		}
		fclose(in);
	}
}
