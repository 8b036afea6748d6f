package fit

import (
	"bufio"
	"encoding/json"
	"fmt"
	"io"
	"slices"

	"github.com/shadowcourt/shadowcourt/abi"
	"github.com/shadowcourt/shadowcourt/abi/odds"
	"github.com/shadowcourt/shadowcourt/host/docket"
	"github.com/shadowcourt/shadowcourt/host/trial"
)

// AddStatements adds what language models stated, from the results of `try --format jsonl`, to the evidence of the cases, by their ids: a
// model is a source like any other. The evidence of the entries is copied first. Its error names the line.
func AddStatements(entries []docket.Entry, in io.Reader) error {
	stated := map[string][]trial.Statement{}
	lines := bufio.NewScanner(in)
	lines.Buffer(nil, maxResultLine)
	n := 0
	for lines.Scan() {
		n++
		if len(lines.Bytes()) == 0 {
			continue
		}
		var r struct {
			ID         string            `json:"id"`
			Statements []trial.Statement `json:"statements"`
		}
		if err := json.Unmarshal(lines.Bytes(), &r); err != nil {
			return fmt.Errorf("line %d: %w", n, err)
		}
		for i, s := range r.Statements {
			if !odds.IsModel(s.Source) || s.Label == "" || s.Confidence < 0 || s.Confidence > 1 {
				return fmt.Errorf("line %d: statements[%d]: needs a source %sNAME, a label and a confidence in [0, 1]", n, i, abi.ModelSource)
			}
		}
		stated[r.ID] = r.Statements
	}
	if err := lines.Err(); err != nil {
		return fmt.Errorf("line %d: %w", n+1, err)
	}
	for i := range entries {
		c := &entries[i].Case
		list := stated[c.ID]
		if len(list) == 0 {
			continue
		}
		c.Evidence = slices.Clone(c.Evidence)
		for _, s := range list {
			c.Evidence = append(c.Evidence, abi.Evidence{SourceRef: s.Source, Supports: s.Label, RelevanceConfidence: s.Confidence})
		}
	}
	return nil
}
