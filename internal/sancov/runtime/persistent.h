// The loop of a program in AFL's persistent mode, in the child that runs a batch. A run ends where the next begins, or with the
// process: then the server forks another child for the rest of the batch.

static struct {
	int active;       // in a child that is to run inputs
	int running;      // an input is in flight
	uint32_t at, end; // of the batch
	uint32_t runs;    // of this child
} loop;

static void loop_begin(void) {
	loop.active = 1;
	batch_process_begin();
	coverage_begin();
	if (!__afl_fuzz_ptr && !input_path) dup2(SHARED.first_fd + FD_INPUT, 0);
	atexit(program_judge);
	at_quick_exit(program_judge);
}

// loop_input makes the input ready that is at loop.at.
static void loop_input(void) {
	const struct slot *s = SHARED.slots + loop.at;
	__atomic_store_n(&SHARED.results->cur, loop.at, __ATOMIC_RELAXED);
	SHARED.state->judged = JUDGED_NOT;
	if (__afl_fuzz_ptr) afl_input_set(s);
	else if (!input_write(s)) _exit(1);
	else if (!input_path) rewind(stdin); // forgets what was read ahead of the last input, and its end
	if (!loop.runs) counters_clear(); // of what the program did to get here
	allocation_stacks_begin(s->ask);
	if (s->ask & ASK_OPERANDS) record_begin(SHARED.outcomes + loop.at);
	coverage_begin();
	loop_cpu = s->ask & ASK_TRACE ? cpu_used() : 0;
	loop.running = program_runs = running = 1;
}

// loop_input_end judges the run in flight. An exit from now on is not the run's.
static void loop_input_end(void) {
	if (program_runs) program_judge();
	allocation_stacks_end(SHARED.slots[loop.at].ask);
	loop.running = running = 0;
	loop.runs++;
	loop.at++;
}

// teasel_loop_next reports whether the loop goes on, with the next input. After as many runs as the program asks for it returns 0: the
// program goes on to its end, and a crash on the way there is one of the last input.
int teasel_loop_next(unsigned most) {
	static int by_hand;
	if (!loop.active) return !by_hand++;
	exit_if_forked();
	if (loop.running) {
		end_if_forked_died();
		loop_input_end();
		if (most && loop.runs >= most) {
			SHARED.state->judged = JUDGED_LOOP_ENDED;
			return 0;
		}
		if (loop.at == loop.end) {
			if (!send_status(STATUS_DONE)) {
				SHARED.state->exit_reason = ANSWER_FAILED;
				_exit(0);
			}
			SHARED.state->judged = JUDGED_NOT;
			if (SHARED.control->max_runs && loop.runs >= SHARED.control->max_runs) __real__exit(0);
		}
	}
	if (loop.at == loop.end) {
		struct command command;
		if (SHARED.state->resume) {
			loop.at = SHARED.state->resume;
			loop.end = SHARED.control->count < SHARED.slot_count ? SHARED.control->count : SHARED.slot_count;
			SHARED.state->resume = 0;
		} else {
			if (!command_read(&command)) __real__exit(0);
			if (command.word != COMMAND_RUN) {
				send_status(STATUS_RENEWED);
				__real__exit(0);
			}
			loop.at = SHARED.control->from;
			loop.end = batch_begin();
		}
		set_running_pid(getpid());
	}
	if (loop.at >= loop.end) __real__exit(0);
	loop_input();
	return 1;
}

// loop_resumes reports whether the batch goes on after the end of a child, and sets where. A program that exits has run its input.
static int loop_resumes(uint32_t status) {
	uint32_t i = SHARED.results->cur, judged = SHARED.state->judged;
	if (!WIFEXITED(status) || judged == JUDGED_NOT || i >= SHARED.slot_count) return 0;
	if (judged == JUDGED) SHARED.outcomes[i].status = status;
	SHARED.state->resume = i + 1;
	return 1;
}

// loop_serve forks children that run batches. It returns in each of them, for the program to go on to its loop.
static void loop_serve(void) {
	uint32_t idle = 0, last = 0;
	SHARED.state->resume = 0;
	for (;;) {
		SHARED.state->exit_reason = 0;
		SHARED.state->judged = JUDGED_NOT;
		pid_t p = child();
		if (p < 0) _exit(1);
		if (p == 0) {
			loop_begin();
			return;
		}
		struct rusage used;
		uint32_t status = child_wait(p, &used), round = last_round_taken();
		int over = 0;
		if (loop_resumes(status)) {
			if (SHARED.state->resume < SHARED.control->count) continue;
			over = 1;
		}
		SHARED.state->resume = 0;
		idle = round != last ? 0 : idle + 1;
		last = round;
		if (idle == IDLE_DEATHS) _exit(1);
		if (!over && command_pending()) continue; // for the next child
		if (!send_answer(round, over || SHARED.state->exit_reason == ANSWER_FAILED ? STATUS_DONE : STATUS_DEAD, over ? 0 : status)) _exit(0);
	}
}
