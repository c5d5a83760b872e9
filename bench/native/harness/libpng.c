// Reads a picture row by row, with the transformations that viewers ask for. Checksums are checked.
#include <png.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

struct input {
	const uint8_t *at;
	size_t left;
};

static void take(png_structp png, png_bytep to, png_size_t n) {
	struct input *in = png_get_io_ptr(png);
	if (n > in->left) png_error(png, "end of input");
	memcpy(to, in->at, n);
	in->at += n;
	in->left -= n;
}

// Chunks say how long they are, and libpng clears as much memory before it reads them.
static png_voidp some(png_structp png, png_alloc_size_t n) {
	(void)png;
	return n > 1 << 16 ? NULL : malloc(n);
}

static void give(png_structp png, png_voidp p) {
	(void)png;
	free(p);
}

static void quiet(png_structp png, png_const_charp message) { (void)png, (void)message; }

static void fail(png_structp png, png_const_charp message) {
	(void)message;
	png_longjmp(png, 1);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size) {
	struct input in = {data, size};
	png_structp png = png_create_read_struct_2(PNG_LIBPNG_VER_STRING, NULL, fail, quiet, NULL, some, give);
	png_infop info = png_create_info_struct(png), end = png_create_info_struct(png);
	png_bytep volatile row = NULL;
	if (setjmp(png_jmpbuf(png)) == 0) {
		png_set_read_fn(png, &in, take);
		png_set_user_limits(png, 1024, 1024);
		png_set_chunk_cache_max(png, 64);
		png_read_info(png, info);
		png_set_gray_to_rgb(png);
		png_set_expand(png);
		png_set_packing(png);
		png_set_scale_16(png);
		png_set_tRNS_to_alpha(png);
		int passes = png_set_interlace_handling(png);
		png_read_update_info(png, info);
		row = malloc(png_get_rowbytes(png, info));
		png_uint_32 height = png_get_image_height(png, info);
		for (int pass = 0; pass < passes; pass++)
			for (png_uint_32 y = 0; y < height; y++) png_read_row(png, row, NULL);
		png_read_end(png, end);
	}
	free(row);
	png_destroy_read_struct(&png, &info, &end);
	return 0;
}
