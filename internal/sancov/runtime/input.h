// The input file, whose path replaces @@ in a program's arguments. It is in a folder that teasel has made for it.

static const char *input_path; // 0: the input is on standard input

static int remove_one(const char *path, const struct stat *st, int kind, struct FTW *where) {
	(void)st, (void)where;
	if (kind == FTW_DP || kind == FTW_DNR) rmdir(path);
	else unlink(path);
	return 0;
}

// remove_all removes a file, or a folder with its contents. It does not follow links.
static void remove_all(const char *path) { nftw(path, remove_one, 16, FTW_DEPTH | FTW_PHYS); }

// input_remove removes the input file and its folder, in which the program may have created other files.
static void input_remove(void) {
	char folder[4096];
	size_t n = 0, slash = 0;
	for (; input_path[n] && n < sizeof folder - 1; n++) {
		folder[n] = input_path[n];
		if (folder[n] == '/') slash = n;
	}
	folder[slash] = 0;
	remove_all(folder);
}

// input_write writes an input to the input file. The file stays open, and is created again if the program has removed or
// replaced it.
static int input_write(const struct slot *s) {
	int fd = SHARED.first_fd + FD_INPUT;
	struct stat open_file, named;
	if (input_path && (fstat(fd, &open_file) || lstat(input_path, &named) || open_file.st_ino != named.st_ino || open_file.st_dev != named.st_dev)) {
		remove_all(input_path); // the program may have put anything there
		int made = open(input_path, O_RDWR | O_CREAT | O_EXCL | O_NOFOLLOW, 0600);
		if (made < 0 || dup2(made, fd) < 0) return 0;
		close(made);
		fcntl(fd, F_SETFD, FD_CLOEXEC);
	}
	for (size_t done = 0; done < s->length;) {
		ssize_t n = pwrite(fd, SHARED.inputs + s->offset + done, s->length - done, (off_t)done);
		if (n <= 0 && errno != EINTR) return 0;
		if (n > 0) done += (size_t)n;
	}
	return ftruncate(fd, (off_t)s->length) == 0 && lseek(fd, 0, SEEK_SET) == 0;
}
