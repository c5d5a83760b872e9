package netproto

import "testing"

func TestRefusals(t *testing.T) {
	for answers, all := range map[[2]string]bool{
		{"HTTP/1.1 500 Internal Server Error\r\n", "HTTP/1.1 404 Not Found\r\n"}: true,
		{"-ERR unknown command\r\n", "error: no database\n"}:                     true,
		{"530 Please login\r\n", "SIP/2.0 503 Service Unavailable\r\n"}:          true,
		{"HTTP/1.1 500 Internal Server Error\r\n", "HTTP/1.1 200 OK\r\n"}:        false,
		{"5000 entries\r\n", "500 entries\r\n"}:                                  false,
		{"errand 1\n", "err 1\n"}:                                                false,
	} {
		var r Refusals
		for _, a := range answers {
			r.add([]byte(a))
		}
		if n, _ := r.All(); (n == 2) != all {
			t.Errorf("%q: %d answers are all errors, want that: %t", answers, n, all)
		}
	}
}
