// A command is accepted if an earlier one has set the right name, but no branch shows that the name was right.
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size) {
	char *text = malloc(size + 1), name[16] = "", *save = 0;
	int admitted = 0;
	memcpy(text, data, size);
	text[size] = 0;
	for (char *line = strtok_r(text, "\n", &save); line; line = strtok_r(0, "\n", &save)) {
		char *argument = strchr(line, ' ');
		if (argument) *argument++ = 0;
		if (!strcmp(line, "HELLO") && argument) {
			name[0] = 0;
			strncat(name, argument, sizeof name - 1);
		} else if (!strcmp(line, "LOGIN")) {
			admitted = strcmp(name, "operator") == 0;
		} else if (!strcmp(line, "ERASE") && admitted) {
			__builtin_trap();
		}
	}
	free(text);
	return 0;
}
