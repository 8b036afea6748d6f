package fit

import (
	"bufio"
	"encoding/json"
	"fmt"
	"io"
	"slices"

	"github.com/shadowcourt/shadowcourt/abi"
	"github.com/shadowcourt/shadowcourt/abi/codec"
	"github.com/shadowcourt/shadowcourt/abi/odds"
	"github.com/shadowcourt/shadowcourt/host/docket"
	"github.com/shadowcourt/shadowcourt/host/trial"
)

// Results are what experiments showed, and what language models stated, of cases by their ids.
type Results struct {
	Experiments map[string][]abi.ExperimentResult
	Statements  map[string][]trial.Statement
}

// maxResultLine bounds a line of results.
const maxResultLine = 64 << 20

// ReadResults reads the results of `try --format jsonl`. Its error names the line.
func ReadResults(in io.Reader) (*Results, error) {
	r := &Results{map[string][]abi.ExperimentResult{}, map[string][]trial.Statement{}}
	lines := bufio.NewScanner(in)
	lines.Buffer(nil, maxResultLine)
	n := 0
	for lines.Scan() {
		n++
		if len(lines.Bytes()) == 0 {
			continue
		}
		if err := r.read(lines.Bytes()); err != nil {
			return nil, fmt.Errorf("line %d: %w", n, err)
		}
	}
	if err := lines.Err(); err != nil {
		return nil, fmt.Errorf("line %d: %w", n+1, err)
	}
	return r, nil
}

// read reads a line. Results that no host gives are rejected.
func (r *Results) read(line []byte) error {
	var of struct {
		ID          string             `json:"id"`
		Experiments []trial.Experiment `json:"experiments"`
		Statements  []trial.Statement  `json:"statements"`
	}
	if err := json.Unmarshal(line, &of); err != nil {
		return err
	}
	if r.Experiments[of.ID] != nil {
		return fmt.Errorf("a second result of %q", of.ID)
	}
	results := []abi.ExperimentResult{}
	for i := range of.Experiments {
		one := of.Experiments[i].Result()
		message := codec.AppendExperimentResult(nil, &one)
		if _, err := codec.DecodeExperimentResult(message, len(message)); err != nil {
			return fmt.Errorf("experiments[%d]: %w", i, err)
		}
		results = append(results, one)
	}
	for i, s := range of.Statements {
		if !odds.IsModel(s.Source) || s.Label == "" || s.Confidence < 0 || s.Confidence > 1 {
			return fmt.Errorf("statements[%d]: needs a source %sNAME, a label and a confidence in [0, 1]", i, abi.ModelSource)
		}
	}
	r.Experiments[of.ID], r.Statements[of.ID] = results, of.Statements
	return nil
}

// AddTo gives the entries with what language models stated among the evidence: a model is a source like any other.
func (r *Results) AddTo(entries []docket.Entry) []docket.Entry {
	entries = slices.Clone(entries)
	for i := range entries {
		c := &entries[i].Case
		c.Evidence = slices.Clone(c.Evidence)
		for _, s := range r.Statements[c.ID] {
			c.Evidence = append(c.Evidence, abi.Evidence{SourceRef: s.Source, Supports: s.Label, RelevanceConfidence: s.Confidence})
		}
	}
	return entries
}
