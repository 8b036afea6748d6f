// Package reportportal writes what the court found to ReportPortal: the defect type of a test item, with a comment. It writes over nobody's
// decision, and nothing twice.
package reportportal

import (
	"bufio"
	"encoding/json"
	"errors"
	"fmt"
	"io"

	"github.com/shadowcourt/shadowcourt/host/trial"
	"github.com/shadowcourt/shadowcourt/internal/sanitize"
)

// Limits of results that are read.
const (
	maxLine    = 16 << 20 // bytes
	maxResults = 100_000
	maxMembers = 10_000 // of all results
	maxID      = 512    // bytes
)

// ReadResults reads what `try --format jsonl` writes. Its error names the line. The results have nothing that their decoding does not check but
// an id, a status and confidences in [0, 1].
func ReadResults(in io.Reader) ([]trial.Result, error) {
	lines := bufio.NewScanner(in)
	lines.Buffer(nil, maxLine)
	var results []trial.Result
	seen, members := map[string]bool{}, 0
	for n := 1; lines.Scan(); n++ {
		if len(lines.Bytes()) == 0 {
			continue
		}
		if len(results) == maxResults {
			return nil, fmt.Errorf("line %d: more than %d results", n, maxResults)
		}
		var r trial.Result
		if err := json.Unmarshal(lines.Bytes(), &r); err != nil {
			return nil, fmt.Errorf("line %d: not a result, as try --format jsonl writes it: %s", n, sanitize.Line(err.Error()))
		}
		members += len(r.Members)
		if err := check(&r, seen); err != nil {
			return nil, fmt.Errorf("line %d: %w", n, err)
		}
		if members > maxMembers {
			return nil, fmt.Errorf("line %d: more than %d members", n, maxMembers)
		}
		results = append(results, r)
	}
	if err := lines.Err(); err != nil {
		return nil, err
	}
	return results, nil
}

func check(r *trial.Result, seen map[string]bool) error {
	switch {
	case r.ID == "" || r.Final.Status == "":
		return errors.New("no result, as try --format jsonl writes it: id or final.status is missing")
	case !(r.Final.Confidence >= 0 && r.Final.Confidence <= 1), r.Light != nil && !(r.Light.Confidence >= 0 && r.Light.Confidence <= 1):
		return errors.New("a confidence outside of [0, 1]")
	}
	for _, id := range append([]string{r.ID}, r.Members...) {
		if len(id) > maxID {
			return fmt.Errorf("an id of more than %d bytes", maxID)
		}
		if seen[id] {
			return fmt.Errorf("a second result of %q", sanitize.Line(id))
		}
		seen[id] = true
	}
	return nil
}
