package chat

import (
	"bufio"
	"encoding/json"
	"os"
	"path/filepath"
	"testing"

	"github.com/shadowcourt/shadowcourt/abi"
)

// written is what a line of a docket has that a model may read.
type written struct {
	ID      string   `json:"id"`
	Subject string   `json:"subject"`
	Labels  []string `json:"labels"`
	Light   struct {
		Reasoning string `json:"reasoning"`
	} `json:"light"`
	Evidence []struct {
		SourceRef string `json:"source_ref"`
		Content   string `json:"content"`
	} `json:"evidence"`
	Documents []struct {
		Name string `json:"name"`
		Text string `json:"text"`
	} `json:"documents"`
}

// Of the example dockets nothing is withheld: no line, name, subject, reason or item addresses its reader.
func TestNothingOfOrdinaryCasesIsWithheld(t *testing.T) {
	t.Parallel()
	files, err := filepath.Glob("../../../examples/dockets/*.jsonl")
	if err != nil || len(files) == 0 {
		t.Fatal(files, err)
	}
	lines, texts := 0, 0
	for _, name := range files {
		f, err := os.Open(name)
		if err != nil {
			t.Fatal(err)
		}
		defer func() { _ = f.Close() }()
		cases := bufio.NewScanner(f)
		cases.Buffer(nil, 64<<20)
		for cases.Scan() {
			var c written
			if err := json.Unmarshal(cases.Bytes(), &c); err != nil {
				t.Fatal(err)
			}
			documents := make([]abi.Document, len(c.Documents))
			for i := range c.Documents {
				documents[i] = abi.Document{Name: c.Documents[i].Name, Text: c.Documents[i].Text}
			}
			s := NewSheet(documents, nil, 1<<30)
			lines += s.Lines()
			for i := range s.lines {
				if s.lines[i].withheld {
					t.Errorf("%s, %s: the line %q is withheld", name, c.ID, s.text(i))
				}
			}
			all := append([]string{c.Subject, c.Light.Reasoning}, c.Labels...)
			for i := range c.Evidence {
				all = append(all, c.Evidence[i].SourceRef, oneLine(c.Evidence[i].Content))
			}
			for i := range c.Documents {
				all = append(all, c.Documents[i].Name)
			}
			for _, text := range all {
				if sentences(text) != text || quoted(text) == withheld {
					t.Errorf("%s, %s: %q is withheld", name, c.ID, text)
				}
			}
			texts += len(all)
		}
		if err := cases.Err(); err != nil {
			t.Fatal(err)
		}
	}
	t.Logf("%d lines, %d texts", lines, texts)
	if lines < 10_000 || texts < 10_000 {
		t.Errorf("only %d lines and %d texts were read", lines, texts)
	}
}
