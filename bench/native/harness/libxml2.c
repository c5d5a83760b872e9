// Reads a document, with recovery, and writes it again.
#include <libxml/parser.h>
#include <libxml/tree.h>
#include <libxml/xmlerror.h>
#include <stddef.h>
#include <stdint.h>

static void quiet(void *context, const char *format, ...) { (void)context, (void)format; }

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size) {
	xmlSetGenericErrorFunc(NULL, quiet);
	xmlDocPtr doc = xmlReadMemory((const char *)data, (int)size, "input.xml", NULL, XML_PARSE_RECOVER | XML_PARSE_NOENT | XML_PARSE_NONET);
	if (doc) {
		xmlChar *text = NULL;
		int length = 0;
		xmlDocDumpMemory(doc, &text, &length);
		xmlFree(text);
		xmlFreeDoc(doc);
	}
	xmlResetLastError();
	return 0;
}
