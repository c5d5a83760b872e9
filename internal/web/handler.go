package web

import (
	"cmp"
	"crypto/subtle"
	"encoding/json"
	"fmt"
	"net"
	"net/http"
	"net/url"
	"os"
	"path"
	"slices"
	"strings"
	"time"
	"unicode/utf8"

	"github.com/teaselfuzz/teasel/internal/loopback"
	"github.com/teaselfuzz/teasel/internal/plain"
	"github.com/teaselfuzz/teasel/view"
)

// policy allows a page what is ours and nothing else.
const policy = "default-src 'none'; script-src 'self'; style-src 'self'; connect-src 'self'; img-src 'self' data:; base-uri 'none'; form-action 'none'; frame-ancestors 'none'"

// writeTimeout is how long an answer may take to be read.
const writeTimeout = 10 * time.Second

// A Source has the state of a campaign. Several may call Snapshot at once, and the campaign does not wait for them.
type Source interface {
	Snapshot() view.State
}

// library is a [Source] that has the testcases of the campaign too, which are too many to be part of each state.
type library interface {
	Testcases() []view.Testcase                // newest first, without their data
	Testcase(key string) (view.Testcase, bool) // with its data
}

// liner is a [Source] that knows which lines of the source files that panels name testcases reach.
type liner interface {
	Lines(file string) (view.Lines, bool)
}

// pauser is a [Source] whose campaign can be paused.
type pauser interface {
	SetPaused(on bool)
}

// Handler serves the page of a campaign, its state as JSON and its metrics. Token, if it is not empty, has to be given by whoever asks;
// without one, only names of this machine's loopback are answered to, so that no other site can have a browser ask.
func Handler(src Source, token string) (http.Handler, error) {
	page, err := parsePage()
	if err != nil {
		return nil, err
	}
	mux := http.NewServeMux()
	mux.HandleFunc("GET /{$}", func(w http.ResponseWriter, r *http.Request) {
		w.Header().Set("Content-Type", "text/html; charset=utf-8")
		_ = page.Execute(w, pageData{Scripts: scripts()})
	})
	mux.HandleFunc("GET /assets/{name}", func(w http.ResponseWriter, r *http.Request) { // one segment: no listing
		types := map[string]string{".js": "text/javascript; charset=utf-8", ".css": "text/css; charset=utf-8"}
		text, err := files.ReadFile("assets/" + path.Base(r.PathValue("name")))
		kind := types[path.Ext(r.PathValue("name"))]
		if err != nil || kind == "" {
			http.NotFound(w, r)
			return
		}
		w.Header().Set("Content-Type", kind)
		_, _ = w.Write(text)
	})
	mux.HandleFunc("GET /api/state", func(w http.ResponseWriter, r *http.Request) {
		var since uint64
		if text := r.FormValue("since"); text != "" {
			if _, err := fmt.Sscan(text, &since); err != nil {
				http.Error(w, "since: expected a revision, a whole number", http.StatusBadRequest)
				return
			}
		}
		writeJSON(w, src.Snapshot().Since(r.FormValue("run"), since))
	})
	if lib, ok := src.(library); ok {
		mux.HandleFunc("GET /api/testcases", func(w http.ResponseWriter, r *http.Request) { listTestcases(w, r, lib) })
		mux.HandleFunc("GET /api/testcase", func(w http.ResponseWriter, r *http.Request) {
			t, ok := lib.Testcase(r.FormValue("key"))
			if !ok {
				http.Error(w, "the campaign does not keep this testcase any more", http.StatusNotFound)
				return
			}
			writeJSON(w, t)
		})
	}
	if l, ok := src.(liner); ok {
		mux.HandleFunc("GET /api/source", func(w http.ResponseWriter, r *http.Request) { showSource(w, r.FormValue("file"), l) })
	}
	if p, ok := src.(pauser); ok {
		mux.HandleFunc("POST /api/pause", func(w http.ResponseWriter, r *http.Request) { p.SetPaused(true) })
		mux.HandleFunc("POST /api/resume", func(w http.ResponseWriter, r *http.Request) { p.SetPaused(false) })
	}
	mux.HandleFunc("GET /metrics", func(w http.ResponseWriter, r *http.Request) {
		w.Header().Set("Content-Type", "text/plain; version=0.0.4; charset=utf-8")
		_, _ = w.Write(Metrics(src.Snapshot()))
	})
	mux.HandleFunc("GET /report.html", func(w http.ResponseWriter, r *http.Request) {
		w.Header().Set("Content-Type", "text/html; charset=utf-8")
		w.Header().Set("Content-Disposition", `attachment; filename="teasel.html"`)
		_ = WriteReport(w, src.Snapshot())
	})
	return guard(http.NewCrossOriginProtection().Handler(mux), token), nil
}

func writeJSON(w http.ResponseWriter, v any) {
	w.Header().Set("Content-Type", "application/json")
	_ = json.NewEncoder(w).Encode(v) // who does not read it is gone
}

// mostSource is how large a source file may be.
const mostSource = 2 << 20

// showSource answers with the text of a source file of the program and the lines that testcases reach. No other file is read.
func showSource(w http.ResponseWriter, file string, l liner) {
	lines, ok := l.Lines(file)
	if !ok {
		http.Error(w, "the program has no such source file", http.StatusNotFound)
		return
	}
	text := ""
	if info, err := os.Stat(file); err == nil && info.Mode().IsRegular() && info.Size() <= mostSource {
		if data, err := os.ReadFile(file); err == nil && utf8.Valid(data) {
			text = plain.Text(string(data))
		}
	}
	writeJSON(w, struct {
		view.Lines
		Name string `json:"name"`
		Text string `json:"text"` // "": it is not there, or not text
	}{lines, plain.Line(file), text})
}

// mostListed is how many testcases an answer lists.
const mostListed = 100

// listTestcases answers with the testcases whose key, stage or parent contain a text, in an order.
func listTestcases(w http.ResponseWriter, r *http.Request, lib library) {
	all, text := lib.Testcases(), strings.ToLower(r.FormValue("q"))
	total := len(all)
	all = slices.DeleteFunc(all, func(t view.Testcase) bool {
		return !strings.Contains(strings.ToLower(t.Key+" "+t.Parent+" "+cmp.Or(t.Stage, "seed")), text)
	})
	switch r.FormValue("order") {
	case "first":
		slices.SortStableFunc(all, func(a, b view.Testcase) int { return cmp.Compare(b.First, a.First) })
	case "picked":
		slices.SortStableFunc(all, func(a, b view.Testcase) int { return cmp.Compare(b.Picked, a.Picked) })
	case "size":
		slices.SortStableFunc(all, func(a, b view.Testcase) int { return cmp.Compare(a.Size, b.Size) })
	}
	matched := len(all)
	writeJSON(w, struct {
		Total     int             `json:"total"`
		Matched   int             `json:"matched"`
		Testcases []view.Testcase `json:"testcases"`
	}{total, matched, all[:min(matched, mostListed)]})
}

// guard refuses requests that another site, or another name for this address, has brought here, and sets what all answers have.
func guard(next http.Handler, token string) http.Handler {
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		_ = http.NewResponseController(w).SetWriteDeadline(time.Now().Add(writeTimeout)) // who does not read is dropped
		h := w.Header()
		h.Set("Content-Security-Policy", policy)
		h.Set("X-Content-Type-Options", "nosniff")
		h.Set("Referrer-Policy", "no-referrer")
		h.Set("Cross-Origin-Resource-Policy", "same-origin")
		h.Set("Cross-Origin-Opener-Policy", "same-origin")
		h.Set("Cache-Control", "no-store")
		if token == "" && !forLoopback(r.Host) {
			http.Error(w, "teasel answers to 127.0.0.1 and localhost only", http.StatusMisdirectedRequest)
			return
		}
		if site := r.Header.Get("Sec-Fetch-Site"); site != "" && site != "same-origin" && site != "none" {
			http.Error(w, "requests of other sites are refused", http.StatusForbidden)
			return
		}
		if origin := r.Header.Get("Origin"); origin != "" && origin != "http://"+r.Host && origin != "https://"+r.Host {
			http.Error(w, "requests of other sites are refused", http.StatusForbidden)
			return
		}
		if token != "" && !signedIn(w, r, token) {
			return
		}
		next.ServeHTTP(w, r)
	})
}

// forLoopback reports whether the header Host of a request, which may have a port, names the loopback interface.
func forLoopback(host string) bool {
	if name, _, err := net.SplitHostPort(host); err == nil {
		host = name
	}
	return loopback.Host(strings.TrimSuffix(strings.TrimPrefix(host, "["), "]"))
}

// signedIn reports whether a request has the token: in a header, in the cookie, or in its address, from which it is moved to the cookie.
func signedIn(w http.ResponseWriter, r *http.Request, token string) bool {
	same := func(t string) bool { return subtle.ConstantTimeCompare([]byte(t), []byte(token)) == 1 }
	cookie := "teasel"
	if _, port, err := net.SplitHostPort(r.Host); err == nil {
		cookie += "-" + port // cookies are of a host, with all its ports
	}
	if same(r.URL.Query().Get("token")) {
		http.SetCookie(w, &http.Cookie{Name: cookie, Value: token, Path: "/", HttpOnly: true, SameSite: http.SameSiteStrictMode})
		here := url.URL{Path: path.Clean("/" + r.URL.Path)} // escaped: browsers take /\host for another site
		http.Redirect(w, r, here.String(), http.StatusSeeOther)
		return false
	}
	if c, err := r.Cookie(cookie); err == nil && same(c.Value) {
		return true
	}
	if given, ok := strings.CutPrefix(r.Header.Get("Authorization"), "Bearer "); ok && same(given) {
		return true
	}
	http.Error(w, "the token is missing: open the address that teasel has printed", http.StatusUnauthorized)
	return false
}
