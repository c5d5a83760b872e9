// A target that has threads of its own before its first input, started by a constructor or by LLVMFuzzerInitialize, cannot be
// forked: the copy has only the thread that forks. Its children begin anew instead, as the same program at the same addresses.

static int respawning;
static char **respawn_args; // as the program was started
static int respawn_fd = -1; // of the state, which such a child has to map

static void respawn_prepare(int argc, char **argv, int threads) {
	respawning = threads && !__tsan_init; // which has a thread of its own
	respawn_args = calloc((size_t)argc + 1, sizeof *respawn_args);
	if (!respawn_args) _exit(1);
	for (int i = 0; i < argc; i++) respawn_args[i] = strdup(argv[i]);
}

// respawn_state returns the file that the state is kept in, -1 if it needs none.
static int respawn_state(void) {
	if (__tsan_init) respawning = 0;
	if (!respawning) return -1;
	int fd = memfd_create("teasel-state", MFD_CLOEXEC);
	if (fd < 0 || ftruncate(fd, sizeof(struct state)) || dup2(fd, AT.first_fd + FD_COUNT) < 0) _exit(1);
	close(fd);
	return respawn_fd = AT.first_fd + FD_COUNT;
}

// respawn begins anew in a forked process, or ends it.
static _Noreturn void respawn(void) {
	char fd[16], server[16];
	snprintf(fd, sizeof fd, "%d", AT.first_fd);
	snprintf(server, sizeof server, "%d", (int)getppid());
	setenv("TEASEL_FD", fd, 1);
	setenv("TEASEL_CHILD", server, 1);
	if (input_path) setenv("TEASEL_INPUT", input_path, 1);
	for (int i = FD_COMMAND; i <= FD_COUNT; i++) fcntl(AT.first_fd + i, F_SETFD, 0);
	execv("/proc/self/exe", respawn_args);
	_exit(1);
}

static void prepare(void);
static void leaks_begin(void);
static void initialize(int *argc, char ***argv);
static _Noreturn void teasel_child(void);
static void program_begin(void);

// child_main is what a child that began anew does: it runs batches, or returns for the program to run.
static void child_main(int *argc, char ***argv, pid_t server) {
	unsetenv("TEASEL_FD");
	unsetenv("TEASEL_CHILD");
	unsetenv("TEASEL_INPUT");
	if (!memory_map(AT.first_fd + FD_COUNT)) _exit(1);
	for (int fd = FD_CONTROL; fd <= FD_RESULTS; fd++) close(AT.first_fd + fd);
	close(AT.first_fd + FD_COUNT);
	initialize(argc, argv);
	prepare();
	memory_protect();
	child_begin(server);
	if (&teasel_harness) teasel_child();
	program_begin();
}
