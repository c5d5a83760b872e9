// Lists an archive in memory and unpacks the first 64 KiB of each of its first eight files.
#include <stddef.h>
#include <stdint.h>
#include <string.h>
#include <unzip.h>

struct file {
	const uint8_t *data;
	size_t size, at;
};

static voidpf open_memory(voidpf f, const char *name, int mode) { return (void)name, (void)mode, f; }

static uLong read_memory(voidpf opaque, voidpf stream, void *to, uLong n) {
	(void)opaque;
	struct file *f = stream;
	if (n > f->size - f->at) n = f->size - f->at;
	memcpy(to, f->data + f->at, n);
	f->at += n;
	return n;
}

static uLong write_memory(voidpf opaque, voidpf stream, const void *from, uLong n) { return (void)opaque, (void)stream, (void)from, (void)n, 0; }
static long tell_memory(voidpf opaque, voidpf stream) { return (void)opaque, (long)((struct file *)stream)->at; }

static long seek_memory(voidpf opaque, voidpf stream, uLong offset, int origin) {
	(void)opaque;
	struct file *f = stream;
	size_t from = origin == ZLIB_FILEFUNC_SEEK_CUR ? f->at : origin == ZLIB_FILEFUNC_SEEK_END ? f->size : 0;
	if (offset > f->size - from) return -1;
	f->at = from + offset;
	return 0;
}

static int nothing(voidpf opaque, voidpf stream) { return (void)opaque, (void)stream, 0; }

static void unpack(unzFile z) {
	char name[256], extra[256], comment[256], out[4096];
	unz_file_info info;
	if (unzGetCurrentFileInfo(z, &info, name, sizeof name, extra, sizeof extra, comment, sizeof comment) != UNZ_OK) return;
	if (unzOpenCurrentFile(z) != UNZ_OK) return;
	for (int i = 0; i < 16 && unzReadCurrentFile(z, out, sizeof out) > 0; i++) {
	}
	unzGetLocalExtrafield(z, extra, sizeof extra);
	unzCloseCurrentFile(z);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size) {
	struct file f = {data, size, 0};
	zlib_filefunc_def functions = {open_memory, read_memory, write_memory, tell_memory, seek_memory, nothing, nothing, &f};
	unzFile z = unzOpen2("memory", &functions);
	if (!z) return 0;
	char comment[256];
	unzGetGlobalComment(z, comment, sizeof comment);
	int n = 0;
	for (int r = unzGoToFirstFile(z); r == UNZ_OK && n < 8; r = unzGoToNextFile(z), n++) unpack(z);
	unzLocateFile(z, "a.txt", 1);
	unzClose(z);
	return 0;
}
