package plugin

import (
	"bytes"
	"encoding/json"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"github.com/shadowcourt/shadowcourt/abi/abitest"
	"github.com/shadowcourt/shadowcourt/cmd/shadowcourt/internal/cli"
	"github.com/shadowcourt/shadowcourt/internal/disk"
	"github.com/shadowcourt/shadowcourt/internal/sanitize"
)

// printChecked tells people what was found of a module.
func printChecked(s cli.Streams, c *checked, more bool) error {
	var b bytes.Buffer
	if more {
		b.WriteString("\n")
	}
	fmt.Fprintf(&b, "%s  %s  %d bytes\n", sanitize.Line(c.Module), shortDigest(c.Digest), c.Size)
	if len(c.Roles) > 0 {
		fmt.Fprintf(&b, "serves %s\n", sanitize.Line(strings.Join(c.Roles, " ")))
	}
	group, skipped := "", 0
	for i := range c.Checks {
		r := &c.Checks[i]
		if r.Status == abitest.Skipped {
			skipped++
			continue
		}
		if r.Group != group {
			group = r.Group
			fmt.Fprintf(&b, "\n%s\n", group)
		}
		printResult(&b, r)
	}
	if skipped > 0 {
		fmt.Fprintf(&b, "\n%s tried.\n", untried(c, skipped))
	}
	if len(c.Notes) > 0 {
		b.WriteString("\nNotes\n")
		for _, n := range c.Notes {
			fmt.Fprintf(&b, "    %-6s %s\n", n.Clause, oneLineOf(n.Text))
		}
	}
	if c.Calls > 0 {
		fmt.Fprintf(&b, "\n%d calls, %d random cases of seed %d. The most expensive call: %d units of fuel (%s). The longest request: %d bytes. The longest response: %d bytes.\n",
			c.Calls, c.Cases, c.Seed, c.Most.Fuel, sanitize.Line(c.Most.FuelInput), c.Most.RequestBytes, c.Most.ResponseBytes)
	}
	for _, name := range c.Saved {
		fmt.Fprintf(&b, "saved %s\n", sanitize.Line(name))
	}
	b.WriteString(summary(c))
	_, err := s.Out.Write(b.Bytes())
	return err
}

// untried says what becomes of the checks that were not tried.
func untried(c *checked, skipped int) string {
	if len(c.Failed()) == 0 {
		var titles []string
		for i := range c.Checks {
			if r := &c.Checks[i]; r.Status == abitest.Skipped {
				titles = append(titles, r.Clause+" "+r.Title)
			}
		}
		return strings.Join(titles, "; ") + ": could not be"
	}
	return "Mend what failed; then " + cli.Count(skipped, "more check is", "more checks are")
}

// printResult is a line for a check, and some more for one that failed.
func printResult(b *bytes.Buffer, r *abitest.Result) {
	if r.Status == abitest.Passed {
		fmt.Fprintf(b, "  ✓ %-6s %s\n", r.Clause, r.Title)
		return
	}
	fmt.Fprintf(b, "  ✗ %-6s %s (%s)\n", r.Clause, r.Title, r.ID)
	for _, f := range r.Failures {
		b.WriteString("           " + oneLineOf(strings.TrimPrefix(f.Input+": ", ": ")+f.Detail) + "\n")
		if f.Stderr != "" {
			b.WriteString("           its standard error: " + oneLineOf(f.Stderr) + "\n")
		}
	}
	if more := r.Broken - len(r.Failures); more > 0 {
		fmt.Fprintf(b, "           and %d more: %d failures in %d tries\n", more, r.Broken, r.Tried)
	}
}

// maxDetail keeps a report readable where a module says much.
const maxDetail = 400

func oneLineOf(text string) string {
	text = sanitize.Line(strings.ReplaceAll(strings.TrimSpace(text), "\n", "; "))
	if runes := []rune(text); len(runes) > maxDetail {
		text = string(runes[:maxDetail]) + "..."
	}
	return text
}

// summary says how it ends, in a line.
func summary(c *checked) string {
	if c.Passed {
		return "It keeps the contract.\n"
	}
	var clauses []string
	for _, r := range c.Failed() {
		if !slices.Contains(clauses, r.Clause) {
			clauses = append(clauses, r.Clause)
		}
	}
	if len(clauses) == 0 {
		return "Nothing failed, and not everything could be tried.\n"
	}
	return "It breaks " + strings.Join(clauses, ", ") + " of abi/SPEC.md.\n"
}

func shortDigest(digest string) string { return digest[:min(len(digest), len("sha256:")+12)] }

// savedFailure says what a request in a file is, beside it.
type savedFailure struct {
	Module  string          `json:"module"`
	Digest  string          `json:"digest"`
	Check   abitest.CheckID `json:"check"`
	Clause  string          `json:"clause"`
	Input   string          `json:"input"`
	Call    string          `json:"call"`
	Detail  string          `json:"detail"`
	Seed    uint64          `json:"seed"`
	Request string          `json:"request"`
	Again   string          `json:"again"`
}

// saveFailures writes the requests that a module failed at, and what each is.
func saveFailures(dir string, c *checked) ([]string, error) {
	var saved []string
	for _, r := range c.Failed() {
		for i, f := range r.Failures {
			if f.Call == "" {
				continue // about the file itself
			}
			if err := os.MkdirAll(dir, 0o777); err != nil {
				return saved, err
			}
			base := strings.TrimSuffix(filepath.Base(c.Module), ".wasm")
			name := filepath.Join(dir, fmt.Sprintf("%s-%s-%s-%d", base, shortDigest(c.Digest)[len("sha256:"):], r.ID, i+1))
			about := savedFailure{
				Module: c.Module, Digest: c.Digest, Check: r.ID, Clause: r.Clause, Input: f.Input, Call: string(f.Call), Detail: f.Detail, Seed: c.Seed,
				Request: name + ".msgpack",
				Again:   fmt.Sprintf("shadowcourt plugin bench %s --call %s --request %s --time 1ms", c.Module, f.Call, name+".msgpack"),
			}
			if r.ID == abitest.CheckPrepared { // the request alone says nothing
				about.Again = fmt.Sprintf("shadowcourt plugin check %s --seed %d --cases %d", c.Module, c.Seed, c.Cases)
			}
			text, err := json.MarshalIndent(about, "", "  ")
			if err != nil {
				return saved, err
			}
			if err := disk.Replace(name+".msgpack", f.Request); err != nil {
				return saved, err
			}
			if err := disk.Replace(name+".json", append(text, '\n')); err != nil {
				return saved, err
			}
			saved = append(saved, name+".msgpack")
		}
	}
	return saved, nil
}
