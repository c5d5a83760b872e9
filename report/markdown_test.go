package report

import (
	"bytes"
	"regexp"
	"strings"
	"testing"

	"github.com/yuin/goldmark"
	"github.com/yuin/goldmark/extension"
	"github.com/yuin/goldmark/renderer/html"

	"github.com/teaselfuzz/teasel"
)

// Nothing that a target says is markup in a page made of the Markdown report, whatever field it stands in.
func TestMarkdownIsNoMarkup(t *testing.T) {
	markdown := goldmark.New(goldmark.WithExtensions(extension.GFM), goldmark.WithRendererOptions(html.WithUnsafe())) // as GitHub reads it
	tag := regexp.MustCompile(`<([!/a-zA-Z][^\s>]*)`)
	allowed := map[string]bool{}
	for _, name := range strings.Fields("h1 h2 p table thead tbody tr th td code pre details summary ul li") {
		allowed[name], allowed["/"+name] = true, true
	}
	for _, evil := range []string{
		"<script>alert(1)</script>", "</details></code></pre><img src=x onerror=alert(1)>", "```\n<script>x</script>\n```", "````````\n# h\n[a](b)",
		"` <b> `` </b> ```", "a | b | <i>c</i>", "\\| <i>", "[x](javascript:alert(1))", "![x](http://evil/p.png)", "<!-- x", "&lt;script&gt;", "~~~\n<script>", "@everyone http://evil",
		"x\x1b[31m\u202e<b>", "\n\n<script>\n\n", "    <script>",
	} {
		f := teasel.Finding{Rule: "mcp/x", Severity: teasel.High, Subject: evil, Message: evil, Detail: evil, Stable: 3, Tries: 3}
		g := teasel.Finding{Rule: evil, Severity: teasel.Low, Subject: "s", Message: "m", Detail: "> sent " + evil + "\n" + evil}
		r := &Run{Kind: evil, Target: evil, Dir: evil, Skipped: []Skip{{Subject: evil, Reason: evil}}, Blocked: []string{evil},
			Rules:   []teasel.Rule{{ID: "mcp/x", Title: evil, Help: evil}},
			Summary: teasel.Summary{Findings: []teasel.Finding{f, g}, Unconfirmed: []teasel.Finding{{Rule: evil, Subject: evil, Message: evil, Input: []byte("x")}}},
			Test:    func(teasel.Finding) string { return evil }}
		var b bytes.Buffer
		if err := markdown.Convert(write(t, "markdown", r), &b); err != nil {
			t.Fatal(err)
		}
		page := b.String()
		for _, m := range tag.FindAllStringSubmatch(page, -1) {
			if !allowed[m[1]] {
				t.Errorf("%q becomes markup: <%s\n%s", evil, m[1], page)
				break
			}
		}
		if n := strings.Count(page, "<details>"); n != 2 || strings.Count(page, "</details>") != 2 || strings.Count(page, "<h2>") != 4 {
			t.Errorf("%q: %d findings are laid out, want 2, or headlines are missing\n%s", evil, n, page)
		}
	}
}
