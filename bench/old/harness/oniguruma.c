// The first half is an expression, the second half is searched for it. The first byte chooses whether case matters.
#include <oniguruma.h>
#include <stddef.h>
#include <stdint.h>

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size) {
	if (size < 2) return 0;
	OnigOptionType options = data[0] & 1 ? ONIG_OPTION_IGNORECASE : ONIG_OPTION_NONE;
	const uint8_t *end = data + size, *middle = data + 1 + (size - 1) / 2;
	regex_t *expression;
	OnigErrorInfo info;
	if (onig_new(&expression, data + 1, middle, options, ONIG_ENCODING_UTF8, ONIG_SYNTAX_DEFAULT, &info) != ONIG_NORMAL) return 0;
	OnigRegion *region = onig_region_new();
	onig_search(expression, middle, end, middle, end, region, ONIG_OPTION_NONE);
	onig_region_free(region, 1);
	onig_free(expression);
	return 0;
}
