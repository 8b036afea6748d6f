package main

import (
	"bytes"
	"encoding/json"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"strings"
	"text/tabwriter"
)

// The files that are compared.
const (
	plantedFile = "planted.json"
	answersFile = "answers.jsonl"
)

// answer is what is read of a line of shadowcourt alibi --format jsonl.
type answer struct {
	ID      string   `json:"id"`
	Verdict string   `json:"verdict"`
	Label   string   `json:"attribution"`
	Why     string   `json:"why"`
	Culprit *culprit `json:"culprit"`
	Seconds float64  `json:"seconds"`
}

type culprit struct {
	Commit string `json:"commit"`
	Title  string `json:"title"`
}

// wrong says what of an answer differs from what was planted; empty for nothing. A culprit is wanted where the change is to blame.
func (a *answer) wrong(planted *failure) string {
	switch {
	case a.Label == "":
		return "open: " + a.Why
	case a.Label != planted.Answer:
		return "wrong: want " + planted.Answer
	case planted.Culprit != "" && a.Culprit == nil:
		return "no culprit: want " + planted.Culprit[:12]
	case planted.Culprit != "" && a.Culprit.Commit != planted.Culprit:
		return "wrong culprit: want " + planted.Culprit[:12]
	}
	return ""
}

// compare prints each failure that was planted with its answer. The error counts those that are not right.
func compare(out string, to io.Writer) error {
	text, err := os.ReadFile(filepath.Join(out, plantedFile))
	if err != nil {
		return err
	}
	var planted truth
	if err := json.Unmarshal(text, &planted); err != nil {
		return fmt.Errorf("%s: %w", plantedFile, err)
	}
	answers, err := readAnswers(filepath.Join(out, answersFile))
	if err != nil {
		return err
	}
	right := 0
	table := tabwriter.NewWriter(to, 0, 0, 2, ' ', 0)
	fmt.Fprintln(table, "TEST\tPLANTED\tANSWER\tSINCE\tSECONDS\tRIGHT")
	for i := range planted.Failures {
		f := &planted.Failures[i]
		name := strings.TrimPrefix(f.Test, module+".")
		a := answers[f.Test]
		if a == nil {
			fmt.Fprintf(table, "%s\t%s\t\t\t\tno answer\n", name, f.Planted)
			continue
		}
		is := a.wrong(f)
		if is == "" {
			right++
			is = "right"
		}
		fmt.Fprintf(table, "%s\t%s\t%s\t%s\t%.1f\t%s\n", name, f.Planted, a.words(), a.Culprit, a.Seconds, is)
	}
	if err := table.Flush(); err != nil {
		return err
	}
	if all := len(planted.Failures); right < all || len(answers) != all {
		return fmt.Errorf("%d of %d planted failures are answered right, in %d answers", right, all, len(answers))
	}
	_, err = fmt.Fprintf(to, "\nAll %d are right.\n", right)
	return err
}

// words are the verdict and the label.
func (a *answer) words() string {
	if a.Label == "" {
		return a.Verdict
	}
	return a.Verdict + ": " + a.Label
}

// String is the commit as a person finds it; empty for none.
func (c *culprit) String() string {
	if c == nil {
		return ""
	}
	return fmt.Sprintf("%.12s %s", c.Commit, c.Title)
}

// readAnswers are the answers by the names of their tests.
func readAnswers(name string) (map[string]*answer, error) {
	text, err := os.ReadFile(name)
	if err != nil {
		return nil, err
	}
	answers := map[string]*answer{}
	for lines := json.NewDecoder(bytes.NewReader(text)); lines.More(); {
		var a answer
		if err := lines.Decode(&a); err != nil {
			return nil, fmt.Errorf("%s: %w", name, err)
		}
		answers[a.ID] = &a
	}
	return answers, nil
}
