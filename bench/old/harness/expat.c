// Parses a document in one piece.
#include <expat.h>
#include <stddef.h>
#include <stdint.h>

static void start(void *data, const XML_Char *name, const XML_Char **attributes) { (void)data, (void)name, (void)attributes; }
static void end(void *data, const XML_Char *name) { (void)data, (void)name; }
static void text(void *data, const XML_Char *s, int n) { (void)data, (void)s, (void)n; }

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size) {
	XML_Parser p = XML_ParserCreate(NULL);
	XML_SetElementHandler(p, start, end);
	XML_SetCharacterDataHandler(p, text);
	XML_Parse(p, (const char *)data, (int)size, 1);
	XML_ParserFree(p);
	return 0;
}
