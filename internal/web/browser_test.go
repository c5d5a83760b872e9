package web

import (
	"context"
	"fmt"
	"net/http/httptest"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/chromedp/cdproto/emulation"
	"github.com/chromedp/cdproto/log"
	"github.com/chromedp/cdproto/network"
	"github.com/chromedp/cdproto/runtime"
	"github.com/chromedp/chromedp"
	"github.com/chromedp/chromedp/kb"

	"github.com/teaselfuzz/teasel"
	"github.com/teaselfuzz/teasel/view"
)

// tab is a page in a browser, with what it has asked for and complained about.
type tab struct {
	t   *testing.T
	ctx context.Context

	mu       sync.Mutex
	requests []string
	errors   []string
}

// open opens a page in Chromium.
func open(t *testing.T, url string) *tab {
	t.Helper()
	path, err := exec.LookPath("chromium")
	if err != nil {
		if os.Getenv("TEASEL_REQUIRE_SERVERS") != "" {
			t.Fatal("chromium is not installed; scripts/setup-test.sh installs it")
		}
		t.Skip("chromium is not installed; scripts/setup-test.sh installs it")
	}
	options := append(chromedp.DefaultExecAllocatorOptions[:], chromedp.ExecPath(path), chromedp.NoSandbox, chromedp.WindowSize(1280, 1600))
	allocator, cancel := chromedp.NewExecAllocator(t.Context(), options...)
	t.Cleanup(cancel)
	ctx, cancel := chromedp.NewContext(allocator)
	t.Cleanup(cancel)
	ctx, cancel = context.WithTimeout(ctx, 3*time.Minute)
	t.Cleanup(cancel)
	b := &tab{t: t, ctx: ctx}
	if err := chromedp.Listen(ctx, b.listen); err != nil {
		t.Fatal(err)
	}
	do(b, chromedp.Navigate(url))
	return b
}

func (b *tab) listen(event any) {
	b.mu.Lock()
	defer b.mu.Unlock()
	switch e := event.(type) {
	case *network.EventRequestWillBeSent:
		b.requests = append(b.requests, e.Request.URL)
	case *runtime.EventExceptionThrown:
		b.errors = append(b.errors, e.ExceptionDetails.Text)
	case *runtime.EventConsoleAPICalled:
		b.errors = append(b.errors, fmt.Sprint("console.", e.Type))
	case *log.EventEntryAdded:
		b.errors = append(b.errors, e.Entry.Text)
	}
}

// do runs an action in the page.
func do[T any](b *tab, a chromedp.Action[T]) T {
	b.t.Helper()
	v, err := chromedp.Run(b.ctx, a)
	if err != nil {
		b.t.Fatal(err)
	}
	return v
}

// await waits until an expression holds in the page. It must not throw.
func (b *tab) await(expression string) {
	b.t.Helper()
	do(b, chromedp.Poll[bool](expression))
}

// key presses a key in what has the focus.
func (b *tab) key(k string) {
	b.t.Helper()
	do(b, chromedp.KeyEvent(k))
}

// search goes to the search by its key. The browser is sent the character by itself too, which a keyboard would not do.
func (b *tab) search() {
	b.t.Helper()
	b.key("/")
	b.await(`document.activeElement?.id === 'search' && (document.activeElement.value = '', true)`)
}

func (b *tab) evaluate(expression string) string {
	b.t.Helper()
	return do(b, chromedp.Evaluate[string](expression))
}

// quiet checks that nothing was asked for beyond a server, and nothing complained about.
func (b *tab) quiet(server string) {
	b.t.Helper()
	b.mu.Lock()
	defer b.mu.Unlock()
	for _, r := range b.requests {
		if !strings.HasPrefix(r, server) && !strings.HasPrefix(r, "data:") {
			b.t.Errorf("request to %s", r)
		}
	}
	if len(b.errors) > 0 {
		b.t.Errorf("the page complains: %q", b.errors)
	}
}

// shoot writes a picture of the whole page, in four variants, to the folder that TEASEL_PICTURES names.
func (b *tab) shoot(name string) {
	folder := os.Getenv("TEASEL_PICTURES")
	if folder == "" {
		return
	}
	for _, width := range []int64{1280, 480} {
		for _, scheme := range []string{"light", "dark"} {
			b.scheme(scheme)
			do(b, chromedp.EmulateViewport(width, 1000))
			do(b, chromedp.Sleep(400*time.Millisecond))
			picture := do(b, chromedp.FullScreenshot(100))
			if err := os.WriteFile(filepath.Join(folder, fmt.Sprintf("%s-%d-%s.png", name, width, scheme)), picture, 0o644); err != nil {
				b.t.Error(err)
			}
		}
	}
}

func (b *tab) scheme(name string) {
	features := []*emulation.MediaFeature{{Name: "prefers-color-scheme", Value: name}}
	if _, err := chromedp.Call(b.ctx, emulation.SetEmulatedMedia, emulation.SetEmulatedMediaParams{Features: features}); err != nil {
		b.t.Fatal(err)
	}
}

const painted = `[...document.querySelectorAll('#charts canvas')].map(c => c.getContext('2d').getImageData(0, 0, c.width, c.height).data.filter((v, i) => i % 4 === 3 && v > 0).length)`

// The page of each kind shows a campaign that runs, follows it, and is used by keyboard.
func TestLivePage(t *testing.T) {
	for _, kind := range []string{"mcp", "net", "native", "go"} {
		t.Run(kind, func(t *testing.T) {
			if kind != "net" && testing.Short() {
				t.Skip("of the kinds, the one that has most to show is enough")
			}
			rec := sample(t, kind)
			h, err := Handler(rec, "")
			if err != nil {
				t.Fatal(err)
			}
			ts := httptest.NewServer(h)
			defer ts.Close()
			b := open(t, ts.URL)
			b.await(`document.querySelectorAll('#findings details').length === 6 && document.querySelectorAll('#charts canvas').length === 4`)
			b.await(painted + `.every(n => n > 500)`)
			b.await(`document.querySelector('#kind')?.textContent === '` + kind + `' && document.querySelector('#status')?.textContent === 'running'`)

			b.search()
			b.key(kb.ArrowDown) // to the first finding
			b.await(`document.activeElement?.tagName === 'SUMMARY'`)
			b.key("\r")
			b.await(`document.querySelectorAll('#findings details[open] pre').length >= 3`)
			if got := b.evaluate(`document.querySelector('#findings details[open] .command code').textContent`); got != "teasel repro teasel-out/findings/x.json" {
				t.Errorf("the command is %q", got)
			}
			if got := b.evaluate(`document.querySelector('#findings details[open] .inputs mark')?.textContent ?? 'nothing'`); got != "short" {
				t.Errorf("marked as what differs: %q", got)
			}

			// What comes meanwhile is shown, and the open finding and the focus stay.
			report(t, rec, finding(kind+"/late", teasel.Info, "late <b>one</b>"), progress(200))
			b.await(`document.querySelectorAll('#findings details').length === 7 && document.querySelectorAll('#findings details[open]').length === 1`)
			b.await(`document.activeElement?.tagName === 'SUMMARY' && document.activeElement?.parentNode?.open`)
			if got := b.evaluate(`new Set(state.findings.map(f => f.id)).size + ' ' + state.series.every((p, i, all) => i === 0 || p[0] > all[i - 1][0])`); got != "7 true" {
				t.Errorf("something was sent twice: %s", got)
			}
			b.shoot("live-" + kind)

			b.key(kb.Escape)
			b.await(`document.querySelectorAll('#findings details[open]').length === 0`)
			b.search()
			for _, c := range "late" {
				b.key(string(c))
			}
			b.await(`document.querySelectorAll('#findings details').length === 1 && document.querySelector('#count')?.textContent === '1 of 7'`)
			b.scheme("dark")
			do(b, chromedp.EmulateViewport(480, 900))
			b.await(`document.documentElement.scrollWidth <= 480 && getComputedStyle(document.body).backgroundColor === 'rgb(19, 23, 27)'`)
			rec.End("duration")
			b.await(`document.querySelector('#status')?.textContent.startsWith('ended')`)
			b.quiet(ts.URL)
		})
	}
}

// A campaign is paused, and its testcases are looked at, by keyboard.
func TestPauseAndCorpus(t *testing.T) {
	h, err := Handler(sample(t, "mcp"), "")
	if err != nil {
		t.Fatal(err)
	}
	ts := httptest.NewServer(h)
	defer ts.Close()
	b := open(t, ts.URL)
	focus := func(selector string) {
		b.await(`document.querySelector('` + selector + `')?.checkVisibility() && (document.querySelector('` + selector + `').focus(), true)`)
	}
	focus("#pause")
	b.key("\r")
	b.await(`document.querySelector('#status')?.textContent === 'paused' && document.querySelector('#pause').textContent === 'Go on'`)
	b.key("\r")
	b.await(`document.querySelector('#status')?.textContent === 'running' && document.querySelector('#pause').textContent === 'Pause'`)
	focus("#corpus > summary")
	b.key("\r")
	b.await(`[...document.querySelectorAll('#testcases summary b')].map(e => e.textContent).join() === 'havoc,seed'`)
	focus("#testcases summary")
	b.key("\r")
	b.await(`document.querySelector('#testcases .body pre')?.textContent.includes('3c 62 3e 00 ff')`)
	if got, want := b.evaluate(`[...document.querySelectorAll('#testcases .body > p')].slice(0, 2).map(e => e.textContent).join('; ')`),
		"made by havoc from testcase 5eed, 1 mutation away from a seed, after 2s, execution 70; kept because it was the first to reach 1 of its 3 features"; got != want {
		t.Errorf("a testcase is explained by %q, want %q", got, want)
	}
	b.shoot("corpus")
	focus("#testcases button")
	b.key("\r")
	b.await(`document.querySelector('#corpus-search').value === '5eed' && document.querySelector('#corpus-count').textContent === '2 testcases'`)
	do(b, chromedp.Evaluate[bool](`(document.querySelector('#corpus-search').value = '', document.querySelector('#corpus-search').focus(), true)`))
	for _, c := range "havoc" {
		b.key(string(c))
	}
	b.await(`document.querySelector('#corpus-count').textContent === '1 of 2'`)
	b.quiet(ts.URL)
}

// The source of a program opens with the lines marked that testcases reach.
func TestSourcePage(t *testing.T) {
	h, err := Handler(sample(t, "native"), "")
	if err != nil {
		t.Fatal(err)
	}
	ts := httptest.NewServer(h)
	defer ts.Close()
	b := open(t, ts.URL)
	b.await(`!!document.querySelector('#panels button.file') && (document.querySelector('#panels button.file').focus(), true)`)
	b.key("\r")
	b.await(`document.querySelector('#source .reached')?.textContent === '    1 + package web' && document.querySelectorAll('#source .missed').length === 1`)
	b.key(kb.Escape)
	b.await(`!document.querySelector('#source-dialog').open`)
	b.quiet(ts.URL)
}

// When teasel is gone the page says so, and keeps what it has.
func TestLostConnection(t *testing.T) {
	h, err := Handler(sample(t, "mcp"), "")
	if err != nil {
		t.Fatal(err)
	}
	ts := httptest.NewServer(h)
	b := open(t, ts.URL)
	b.await(`document.querySelectorAll('#findings details').length === 6`)
	ts.CloseClientConnections()
	ts.Close()
	b.await(`document.querySelector('#status')?.textContent.startsWith('no connection') && document.querySelectorAll('#findings details').length === 6`)
}

// The page of a campaign that has just begun says so.
func TestEmptyPage(t *testing.T) {
	h, err := Handler(view.NewRecorder(view.State{Kind: "go", Target: "./..."}, nil, view.Options{}), "")
	if err != nil {
		t.Fatal(err)
	}
	ts := httptest.NewServer(h)
	defer ts.Close()
	b := open(t, ts.URL)
	b.await(`document.querySelector('#findings')?.textContent === 'Nothing found yet.' && document.querySelector('#log')?.textContent === 'Nothing yet.'`)
	b.quiet(ts.URL)
}

// A report makes a single request, that for itself, and runs no script but its own, whatever a target has said.
func TestReportPage(t *testing.T) {
	state := sample(t, "net").Snapshot()
	evil := teasel.Finding{Rule: "net/evil", Severity: teasel.Critical, Message: evilText, Subject: evilText, Detail: "> " + evilText + "\n< " + evilText + "\n" + evilText,
		Input: []byte("\x00\xff" + evilText), Original: []byte(evilText), Stable: 1, Tries: 3}
	state.Findings = append([]view.Finding{view.NewFinding(&evil, view.Command{Title: evilText, Text: evilText})}, state.Findings...)
	state.AddRule(teasel.Rule{ID: "net/evil", Title: evilText, Help: evilText, Source: evilText})
	state.Target, state.Dir, state.Blocked = evilText, evilText, []string{evilText}
	state.Panels = append(state.Panels, view.Panel{Title: evilText, Head: []string{evilText}, Rows: [][]string{{evilText}},
		Nodes: []view.Node{{Name: evilText}}, Edges: []view.Edge{{From: evilText, To: evilText, Label: evilText}}})
	state.Prepare()
	path := filepath.Join(t.TempDir(), "report.html")
	f, err := os.Create(path)
	if err != nil {
		t.Fatal(err)
	}
	if err := WriteReport(f, state); err != nil {
		t.Fatal(err)
	}
	if err := f.Close(); err != nil {
		t.Fatal(err)
	}
	b := open(t, "file://"+path)
	b.await(`document.querySelectorAll('#findings details').length === 7`)
	b.await(painted + `.every(n => n > 500)`)
	do(b, chromedp.Evaluate[bool](`(document.querySelectorAll('#findings details').forEach(d => { d.open = true }), true)`))
	b.await(`document.querySelectorAll('#findings .body').length === 7`)
	b.shoot("report")
	if got := b.evaluate(`[document.querySelectorAll('img, iframe, b.evil, a[href^=http]').length, window.owned ?? 'unharmed', document.body.textContent.includes('\u202e'), document.querySelectorAll('script').length].join()`); got != "0,unharmed,false,2" {
		t.Errorf("what the target said has become markup: %s", got)
	}
	b.mu.Lock()
	requests, complaints := b.requests, b.errors
	b.mu.Unlock()
	if len(requests) != 1 || len(complaints) > 0 {
		t.Errorf("requests %q, complaints %q", requests, complaints)
	}
	if got := b.evaluate(`(() => { const s = document.createElement('script'); s.textContent = 'window.owned = 1'; document.body.append(s); return String(window.owned) })()`); got != "undefined" {
		t.Error("the policy allows other scripts")
	}
}

const evilText = `</script><script>window.owned=1</script><img src=x onerror="window.owned=2"><b class=evil>` + "\x1b]0;x\x07\u202e\u200f" + `<!-- javascript:alert(1) http://evil.example/ {{.}} ` + "`${owned}`"
