// A program with a main: it reads standard input or a file, and behaves as the input says.
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

int main(int argc, char **argv) {
	char text[16] = {0};
	char *name = argc > 1 ? argv[1] : 0;
	if (name && strncmp(name, "--file=", 7) == 0) name += 7;
	FILE *f = name ? fopen(name, "rb") : stdin;
	if (!f) return 9;
	if (fread(text, 1, sizeof text - 1, f) == 0) return 1;
	if (name && text[0] == 'u') unlink(name);
	if (name && text[0] == 'm') rename(name, strcat(strdup(name), ".moved"));
	if (text[0] == 'd') { // a daemon
		if (fork() == 0) {
			setsid();
			if (fork() == 0) sleep(1000);
			_exit(0);
		}
	}
	if (text[0] == '_') _exit(4);
	if (text[0] == 'i') { // ignores SIGTERM
		signal(SIGTERM, SIG_IGN);
		for (;;) pause();
	}
	if (strcmp(text, "open") == 0) abort();
	printf("%s\n", text);
	return 0;
}
