// A target that has threads of its own before its first input, started by a constructor or by LLVMFuzzerInitialize, cannot be
// forked: the forked process would have only the calling thread. Its children execute the program again instead, at the same
// addresses.

static int respawning;
extern char **teasel_main_args; // a copy of the arguments of main
static int respawn_fd = -1; // file of the state, which such a child has to map

static void respawn_prepare(int threads) {
	respawning = threads && !__tsan_init; // ThreadSanitizer has a thread of its own
}

// respawn_state returns the descriptor of a file for the state, -1 if the state need not be in a file.
static int respawn_state(void) {
	if (__tsan_init) respawning = 0;
	if (!respawning) return -1;
	int fd = memfd_create("teasel-state", MFD_CLOEXEC);
	if (fd < 0 || ftruncate(fd, sizeof(struct state)) || dup2(fd, SHARED.first_fd + FD_COUNT) < 0) _exit(1);
	close(fd);
	return respawn_fd = SHARED.first_fd + FD_COUNT;
}

// respawn executes the program again in a forked process, or ends the process.
static _Noreturn void respawn(void) {
	char fd[16], server[16];
	snprintf(fd, sizeof fd, "%d", SHARED.first_fd);
	snprintf(server, sizeof server, "%d", (int)getppid());
	setenv("TEASEL_FD", fd, 1);
	setenv("TEASEL_CHILD", server, 1);
	if (input_path) setenv("TEASEL_INPUT", input_path, 1);
	for (int i = FD_COMMAND; i <= FD_COUNT; i++) fcntl(SHARED.first_fd + i, F_SETFD, 0);
	execv("/proc/self/exe", teasel_main_args);
	_exit(1);
}

static void prepare(void);
static void leaks_begin(void);
static void initialize(int *argc, char ***argv);
static _Noreturn void teasel_child(void);
static void program_begin(void);
static void loop_begin(void);

// child_main is called in a child that has executed the program again: it runs batches, or returns for main to be called.
static void child_main(int *argc, char ***argv, pid_t server) {
	if (!memory_map(SHARED.first_fd + FD_COUNT)) _exit(1);
	for (int fd = FD_CONTROL; fd <= FD_RESULTS; fd++) close(SHARED.first_fd + fd);
	close(SHARED.first_fd + FD_COUNT);
	initialize(argc, argv);
	prepare();
	memory_protect();
	child_begin(server);
	if (HARNESS) teasel_child();
	if (LOOPS) loop_begin();
	else program_begin();
}
