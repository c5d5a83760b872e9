// A program with a main: it reads standard input or the file it is given, and does as it says.
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

int main(int argc, char **argv) {
	char text[16] = {0};
	FILE *f = argc > 1 ? fopen(argv[1], "rb") : stdin;
	if (!f) return 9;
	if (fread(text, 1, sizeof text - 1, f) == 0) return 1;
	if (argc > 1 && text[0] == 'u') unlink(argv[1]);
	if (argc > 1 && text[0] == 'm') rename(argv[1], strcat(strdup(argv[1]), ".moved"));
	if (text[0] == 'd') { // a daemon
		if (fork() == 0) {
			setsid();
			if (fork() == 0) sleep(1000);
			_exit(0);
		}
	}
	if (text[0] == '_') _exit(4);
	if (text[0] == 'i') { // deaf
		signal(SIGTERM, SIG_IGN);
		for (;;) pause();
	}
	if (strcmp(text, "open") == 0) abort();
	printf("%s\n", text);
	return 0;
}
