// Loads all documents of a stream and writes them again.
#include <stddef.h>
#include <stdint.h>
#include <yaml.h>

static int drop(void *data, unsigned char *buffer, size_t size) {
	(void)data, (void)buffer, (void)size;
	return 1;
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size) {
	yaml_parser_t parser;
	yaml_emitter_t emitter;
	if (!yaml_parser_initialize(&parser)) return 0;
	if (!yaml_emitter_initialize(&emitter)) {
		yaml_parser_delete(&parser);
		return 0;
	}
	yaml_parser_set_input_string(&parser, data, size);
	yaml_emitter_set_output(&emitter, drop, NULL);
	if (yaml_emitter_open(&emitter)) {
		yaml_document_t document;
		while (yaml_parser_load(&parser, &document)) {
			int last = !yaml_document_get_root_node(&document);
			if (last) yaml_document_delete(&document);
			if (last || !yaml_emitter_dump(&emitter, &document)) break;
		}
		yaml_emitter_close(&emitter);
	}
	yaml_emitter_delete(&emitter);
	yaml_parser_delete(&parser);
	return 0;
}
