// Parses an answer as each kind of reply.
#include <ares.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/socket.h>

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size) {
	struct hostent *host = NULL;
	struct ares_addrttl v4[5];
	struct ares_addr6ttl v6[5];
	int n = 5;
	if (ares_parse_a_reply(data, size, &host, v4, &n) == ARES_SUCCESS) ares_free_hostent(host);
	n = 5;
	if (ares_parse_aaaa_reply(data, size, &host, v6, &n) == ARES_SUCCESS) ares_free_hostent(host);
	if (ares_parse_ptr_reply(data, size, "\x10\x20\x30\x40", 4, AF_INET, &host) == ARES_SUCCESS) ares_free_hostent(host);
	if (ares_parse_ns_reply(data, size, &host) == ARES_SUCCESS) ares_free_hostent(host);
	struct ares_srv_reply *srv = NULL;
	if (ares_parse_srv_reply(data, size, &srv) == ARES_SUCCESS) ares_free_data(srv);
	struct ares_mx_reply *mx = NULL;
	if (ares_parse_mx_reply(data, size, &mx) == ARES_SUCCESS) ares_free_data(mx);
	struct ares_txt_reply *txt = NULL;
	if (ares_parse_txt_reply(data, size, &txt) == ARES_SUCCESS) ares_free_data(txt);
	struct ares_soa_reply *soa = NULL;
	if (ares_parse_soa_reply(data, size, &soa) == ARES_SUCCESS) ares_free_data(soa);
	struct ares_naptr_reply *naptr = NULL;
	if (ares_parse_naptr_reply(data, size, &naptr) == ARES_SUCCESS) ares_free_data(naptr);
	return 0;
}
