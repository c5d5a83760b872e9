// Parses a text, with comments, and writes it again.
#include <stddef.h>
#include <stdint.h>
#include <yajl/yajl_gen.h>
#include <yajl/yajl_parse.h>

static int ok(yajl_gen_status s) { return s == yajl_gen_status_ok; }
static int null(void *g) { return ok(yajl_gen_null(g)); }
static int boolean(void *g, int b) { return ok(yajl_gen_bool(g, b)); }
static int integer(void *g, long long n) { return ok(yajl_gen_integer(g, n)); }
static int number(void *g, double d) { return ok(yajl_gen_double(g, d)); }
static int string(void *g, const unsigned char *s, size_t n) { return ok(yajl_gen_string(g, s, n)); }
static int open_map(void *g) { return ok(yajl_gen_map_open(g)); }
static int close_map(void *g) { return ok(yajl_gen_map_close(g)); }
static int open_array(void *g) { return ok(yajl_gen_array_open(g)); }
static int close_array(void *g) { return ok(yajl_gen_array_close(g)); }

static const yajl_callbacks callbacks = {null, boolean, integer, number, NULL, string, open_map, string, close_map, open_array, close_array};

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size) {
	yajl_gen g = yajl_gen_alloc(NULL);
	yajl_gen_config(g, yajl_gen_beautify, 1);
	yajl_handle h = yajl_alloc(&callbacks, NULL, g);
	yajl_config(h, yajl_allow_comments, 1);
	yajl_status s = yajl_parse(h, data, size);
	if (s == yajl_status_ok) s = yajl_complete_parse(h);
	if (s != yajl_status_ok) {
		unsigned char *text = yajl_get_error(h, 1, data, size);
		yajl_free_error(h, text);
	}
	yajl_gen_free(g);
	yajl_free(h);
	return 0;
}
