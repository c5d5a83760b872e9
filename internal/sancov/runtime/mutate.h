// LLVMFuzzerMutate, which a harness's own mutator may call to mutate plain bytes, as with libFuzzer. Each call makes one change,
// drawn from the seed that teasel has chosen for the input.

static uint64_t mutate_state;
static const uint8_t *mutate_token; // a token that the program has compared with part of an input; 0: none
static size_t mutate_token_size;

void teasel_mutate_begin(uint64_t seed, const uint8_t *token, size_t size) {
	mutate_state = seed;
	mutate_token = token;
	mutate_token_size = size;
}

// draw returns a number below n: splitmix64 (Steele, Lea and Flood, OOPSLA 2014).
static size_t draw(size_t n) {
	uint64_t x = mutate_state += 0x9e3779b97f4a7c15u;
	x = (x ^ x >> 30) * 0xbf58476d1ce4e5b9u;
	x = (x ^ x >> 27) * 0x94d049bb133111ebu;
	return n ? (size_t)((x ^ x >> 31) % n) : 0;
}

static size_t at_most(size_t a, size_t b) { return a < b ? a : b; }

// open_gap makes room for n bytes at a random position and returns it.
static uint8_t *open_gap(uint8_t *data, size_t *size, size_t n) {
	uint8_t *at = data + draw(*size + 1);
	memmove(at + n, at, (size_t)(data + *size - at));
	*size += n;
	return at;
}

static void insert_bytes(uint8_t *data, size_t *size, size_t room) {
	size_t n = at_most(1 + draw(draw(4) ? 4 : 64), room);
	uint8_t *at = open_gap(data, size, n);
	int same = draw(2) != 0;
	for (size_t i = 0; i < n; i++) at[i] = same && i ? at[0] : (uint8_t)draw(256);
}

static void erase_bytes(uint8_t *data, size_t *size) {
	size_t n = 1 + draw(draw(2) ? at_most(*size / 2, 4) : *size / 2);
	size_t at = draw(*size - n + 1);
	memmove(data + at, data + at + n, *size - at - n);
	*size -= n;
}

// copy_part copies a random part of the bytes over, or between, other bytes.
static void copy_part(uint8_t *data, size_t *size, size_t room) {
	uint8_t part[64];
	size_t n = 1 + draw(at_most(*size, sizeof part)), from = draw(*size - n + 1);
	memcpy(part, data + from, n);
	if (draw(2) && n <= room) memcpy(open_gap(data, size, n), part, n);
	else memcpy(data + draw(*size - n + 1), part, n);
}

static void put_token(uint8_t *data, size_t *size, size_t room) {
	size_t n = mutate_token_size;
	if (draw(2) && n <= room) memcpy(open_gap(data, size, n), mutate_token, n);
	else if (n <= *size) memcpy(data + draw(*size - n + 1), mutate_token, n);
	else data[draw(*size)] ^= 1;
}

// change_number adds a small number to an integer of 1, 2, 4 or 8 bytes, or replaces it by a boundary value of that width.
static void change_number(uint8_t *data, size_t size) {
	size_t width = (size_t)1 << draw(4);
	while (width > size) width /= 2;
	uint8_t *at = data + draw(size - width + 1);
	int big = draw(2) != 0;
	uint64_t n = 0;
	for (size_t i = 0; i < width; i++) n |= (uint64_t)at[big ? width - 1 - i : i] << 8 * i;
	if (draw(3)) n += draw(2) ? 1 + draw(35) : -(1 + draw(35));
	else n = (UINT64_MAX >> (64 - 8 * width + draw(2))) + 2 - draw(4);
	for (size_t i = 0; i < width; i++) at[big ? width - 1 - i : i] = (uint8_t)(n >> 8 * i);
}

// change_digit replaces the first digit after a random position, or, if there is none, the byte at that position.
static void change_digit(uint8_t *data, size_t size) {
	size_t at = draw(size), i = at;
	while (i < size && (data[i] < '0' || data[i] > '9')) i++;
	if (i < size) data[i] = (uint8_t)('0' + draw(10));
	else data[at] = (uint8_t)draw(256);
}

// change makes one change.
static size_t change(uint8_t *data, size_t size, size_t most) {
	if (!most || size > most) return at_most(size, most);
	size_t room = most - size;
	if (!size) {
		if (mutate_token_size && mutate_token_size <= room && draw(2)) put_token(data, &size, room);
		else insert_bytes(data, &size, room);
		return size;
	}
	switch (draw(mutate_token_size ? 9 : 7)) {
	case 0:
		data[draw(size)] ^= (uint8_t)(1 << draw(8));
		break;
	case 1:
		data[draw(size)] = (uint8_t)draw(256);
		break;
	case 2:
		change_number(data, size);
		break;
	case 3:
		change_digit(data, size);
		break;
	case 4:
		copy_part(data, &size, room);
		break;
	case 5:
		if (room) insert_bytes(data, &size, room);
		else data[draw(size)] ^= (uint8_t)(1 + draw(255));
		break;
	case 6:
		if (size > 1) erase_bytes(data, &size);
		else data[0] = (uint8_t)draw(256);
		break;
	default:
		put_token(data, &size, room);
	}
	return size;
}

// The function is weak: a harness may define its own.
__attribute__((weak)) size_t LLVMFuzzerMutate(uint8_t *data, size_t size, size_t most) {
	size = change(data, size, most);
	initialised(data, size);
	return size;
}
