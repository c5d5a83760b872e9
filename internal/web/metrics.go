package web

import (
	"bytes"
	"fmt"
	"strconv"
	"strings"

	"github.com/teaselfuzz/teasel/view"
)

// Metrics returns the figures of a campaign in Prometheus' text format.
func Metrics(s view.State) []byte {
	var m metricsWriter
	f := &s.Figures
	m.family("teasel_info", "gauge", "What is fuzzed; always 1.")
	m.sample("teasel_info", 1, "kind", s.Kind, "target", s.Target, "version", s.Teasel, "seed", strconv.FormatUint(s.Seed, 10))
	flag := map[bool]float64{true: 1}
	for _, g := range []struct {
		name, kind, help string
		value            float64
	}{
		{"teasel_running", "gauge", "1 while the campaign runs, also while it is paused.", flag[s.Running]},
		{"teasel_paused", "gauge", "1 while the campaign is paused.", flag[s.Running && s.Status == "paused"]},
		{"teasel_elapsed_seconds", "counter", "Run time, earlier runs included.", f.Elapsed},
		{"teasel_executions_total", "counter", "Executions.", float64(f.Executions)},
		{"teasel_messages_total", "counter", "Messages that a server was sent.", float64(f.Messages)},
		{"teasel_executions_per_second", "gauge", "Executions a second, of late.", f.Rate},
		{"teasel_corpus_testcases", "gauge", "Testcases that are kept.", float64(f.Corpus)},
		{"teasel_evicted_testcases_total", "counter", "Testcases that were kept once.", float64(f.Evicted)},
		{"teasel_features", "gauge", "Distinct features that testcases reach.", float64(f.Features)},
		{"teasel_features_last_minute", "gauge", "Features that have come in the last minute of run time.", float64(f.Fresh)},
		{"teasel_stability_ratio", "gauge", "Share of the features reached that recur, from 0 to 1; 0: not measured.", f.Stability},
		{"teasel_workers", "gauge", "Workers.", float64(f.Workers)},
		{"teasel_memory_bytes", "gauge", "Memory that teasel itself holds.", float64(f.Memory)},
		{"teasel_last_kept_seconds", "gauge", "Run time when the last testcase was kept.", f.LastKept},
		{"teasel_last_found_seconds", "gauge", "Run time at the last finding; 0: there is none.", f.LastFound},
	} {
		m.family(g.name, g.kind, g.help)
		m.sample(g.name, g.value)
	}
	m.findings(&s)
	m.family("teasel_stage_executions_total", "counter", "Executions of a stage.")
	for _, g := range s.Stages {
		m.sample("teasel_stage_executions_total", float64(g.Executions), "stage", g.Name)
	}
	m.family("teasel_stage_kept_total", "counter", "Testcases that a stage has found.")
	for _, g := range s.Stages {
		m.sample("teasel_stage_kept_total", float64(g.Kept), "stage", g.Name)
	}
	m.family("teasel_worker_executions_total", "counter", "Executions of a worker.")
	for _, w := range s.Workers {
		m.sample("teasel_worker_executions_total", float64(w.Executions), "worker", strconv.Itoa(w.Number))
	}
	m.family("teasel_table", "gauge", "Figures of the tables of a kind, such as requests and what they came to.")
	for i := range s.Panels {
		if p := &s.Panels[i]; p.Key != "" {
			m.table(p)
		}
	}
	return m.b.Bytes()
}

// findings counts the findings. Each severity has a value, also if there is no finding of it.
func (m *metricsWriter) findings(s *view.State) {
	found, unconfirmed := map[string]int{}, 0
	for i := range s.Findings {
		if s.Findings[i].Unconfirmed {
			unconfirmed++
		} else {
			found[s.Findings[i].Severity]++
		}
	}
	m.family("teasel_findings", "gauge", "Confirmed findings by severity.")
	for _, level := range view.Severities() {
		m.sample("teasel_findings", float64(found[level]), "severity", level)
	}
	m.family("teasel_unconfirmed_findings", "gauge", "Findings that were seen and not reproduced.")
	m.sample("teasel_unconfirmed_findings", float64(unconfirmed))
}

// table writes a sample for each figure of a table.
func (m *metricsWriter) table(p *view.Panel) {
	for _, row := range p.Rows {
		for j := p.Names; j < len(row); j++ {
			if v, ok := view.Figure(row[j]); ok {
				m.sample("teasel_table", v, "table", p.Key, "name", strings.Join(row[:p.Names], " "), "figure", p.Head[j])
			}
		}
	}
}

// metricsWriter writes metrics in the text format.
type metricsWriter struct{ b bytes.Buffer }

func (m *metricsWriter) family(name, kind, help string) {
	fmt.Fprintf(&m.b, "# HELP %s %s\n# TYPE %s %s\n", name, help, name, kind)
}

// sample writes a value; labels are names and values in turn.
func (m *metricsWriter) sample(name string, value float64, labels ...string) {
	m.b.WriteString(name)
	for i := 0; i+1 < len(labels); i += 2 {
		between := ","
		if i == 0 {
			between = "{"
		}
		fmt.Fprintf(&m.b, `%s%s="%s"`, between, labels[i], labelEscapes.Replace(strings.ToValidUTF8(labels[i+1], "\ufffd")))
	}
	if len(labels) > 0 {
		m.b.WriteByte('}')
	}
	fmt.Fprintf(&m.b, " %s\n", strconv.FormatFloat(value, 'g', -1, 64))
}

var labelEscapes = strings.NewReplacer(`\`, `\\`, "\n", `\n`, `"`, `\"`)
