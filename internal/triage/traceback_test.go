package triage

import "testing"

// TestTraceback reads the tracebacks of CPython 3.11, and incomplete ones.
func TestTraceback(t *testing.T) {
	const (
		plain = "Traceback (most recent call last):\n  File \"/srv/run.py\", line 3, in <module>\n    main()\n  File \"/srv/app.py\", line 9, in handle\n    x[1]\n    ~^^^\nKeyError: 1\n"
		json  = "Traceback (most recent call last):\n  File \"/srv/app.py\", line 7, in parse\n    json.loads(s)\n  File \"/usr/lib/python3.11/json/__init__.py\", line 346, in loads\n" +
			"    return _default_decoder.decode(s)\njson.decoder.JSONDecodeError: Expecting value: line 1 column 1 (char 0)\n"
		during = "\nDuring handling of the above exception, another exception occurred:\n\n"
		cause  = "\nThe above exception was the direct cause of the following exception:\n\n"
	)
	for _, test := range []struct{ name, text, message, key string }{
		{"plain", "listening\n" + plain + "bye\n", "KeyError: 1", "handle:9 < <module>, KeyError"},
		{"in the library", json, "json.decoder.JSONDecodeError: Expecting value: line 1 column 1 (char 0)", "parse:7, json.decoder.JSONDecodeError"},
		{"two", json + "noise\n" + plain, "KeyError: 1", "handle:9 < <module>, KeyError"},
		{"while handled", plain + during + json, "KeyError: 1", "handle:9 < <module>, KeyError"},
		{"chain of three", "noise\n" + plain + cause + json + during + json, "KeyError: 1", "handle:9 < <module>, KeyError"},
		{"a package", "Traceback (most recent call last):\n  File \"/usr/lib/python3/dist-packages/aiohttp/web.py\", line 5, in go\n    f()\nValueError\n", "ValueError", "go:5, ValueError"},
		{"cut off", plain[:len(plain)-len("KeyError: 1\n")], "", ""},
		{"none", "Traceback of the user's\n", "", ""},
	} {
		r := &Report{Fault: Exit}
		found := r.Traceback(test.text)
		if found != (test.message != "") || found != (r.Fault == Exception) || r.Message != test.message || r.Key() != test.key {
			t.Errorf("%s: %v, %s %q in %q, want %q in %q", test.name, found, r.Fault, r.Message, r.Key(), test.message, test.key)
		}
	}
}
