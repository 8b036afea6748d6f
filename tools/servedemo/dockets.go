package main

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"maps"
	"net/http"
	"net/url"
	"os"
	"path/filepath"
	"slices"
	"strings"
)

// submission is a docket, and what CI would say of it.
type submission struct {
	name, repository, revision string
	body                       []byte
}

// submissions are the examples: reports of tests as they are, and labelled failures as one docket for each Go module.
func (d *demo) submissions() ([]submission, error) {
	list, err := d.labelled()
	if err != nil {
		return nil, err
	}
	for _, s := range []struct{ file, name, repository, revision string }{
		{filepath.Join(d.examples, "afero.gotest.json"), "nightly", "github.com/spf13/afero", "v1.15.0"},
		{filepath.Join(d.examples, "godotenv.gotest.json"), "nightly", "github.com/joho/godotenv", "v1.5.1"},
		{filepath.Join(d.examples, "mux.gotest.json"), "nightly", "github.com/gorilla/mux", "v1.8.1"},
		{filepath.Join(d.examples, "mux.gotest.json"), "pull request 812", "github.com/gorilla/mux", "refs/pull/812"},
		{filepath.Join(d.out, "demo", "report.json"), "make demo", "github.com/google/uuid", "change"},
	} {
		body, err := os.ReadFile(s.file)
		if errors.Is(err, fs.ErrNotExist) && s.name == "make demo" {
			continue // it is there when somebody ran that
		}
		if err != nil {
			return nil, err
		}
		list = append(list, submission{s.name, s.repository, s.revision, body})
	}
	return list, nil
}

// labelled are the failures whose labels are known, for the page about quality.
func (d *demo) labelled() ([]submission, error) {
	text, err := os.ReadFile(filepath.Join(d.examples, "go-test-1.jsonl"))
	if err != nil {
		return nil, err
	}
	byModule := map[string][]byte{}
	for line := range bytes.Lines(text) {
		var c struct {
			Group string `json:"group"` // the package
		}
		if err := json.Unmarshal(line, &c); err != nil {
			return nil, err
		}
		path := strings.Split(c.Group, "/")
		module := strings.Join(path[:min(3, len(path))], "/")
		byModule[module] = append(byModule[module], line...)
	}
	var list []submission
	for _, module := range slices.Sorted(maps.Keys(byModule)) {
		list = append(list, submission{"labelled failures", module, "", byModule[module]})
	}
	return list, nil
}

// fill submits the examples, waits for their trials, and adds a generation to swap to.
func (d *demo) fill(ctx context.Context, out io.Writer, c *caller) error {
	list, err := d.submissions()
	if err != nil {
		return err
	}
	fmt.Fprintf(out, "Trying %d example dockets", len(list))
	ids := make([]int64, len(list))
	for i, s := range list {
		query := url.Values{"name": {s.name}, "repository": {s.repository}, "revision": {s.revision}}
		var docket struct {
			ID int64 `json:"id"`
		}
		if err := c.ask(ctx, http.MethodPost, "/api/v1/dockets?"+query.Encode(), s.body, &docket); err != nil {
			return fmt.Errorf("%s of %s: %w", s.name, s.repository, err)
		}
		ids[i] = docket.ID
	}
	for _, id := range ids {
		if err := c.ask(ctx, http.MethodGet, fmt.Sprintf("/api/v1/dockets/%d/results?wait=true", id), nil, nil); err != nil {
			return err
		}
		fmt.Fprint(out, ".")
	}
	fmt.Fprintln(out)
	return d.addGeneration(ctx, c)
}

// addGeneration adds a profile that other Go modules taught, without putting it in force.
func (d *demo) addGeneration(ctx context.Context, c *caller) error {
	profile, err := os.ReadFile(filepath.Join(d.examples, "demo.yaml"))
	if err != nil {
		return err
	}
	body, err := json.Marshal(map[string]any{
		"files": map[string][]byte{"profile:jsonl": profile, "profile:gotest": profile}, "note": "a profile fitted on failures of other Go modules",
	})
	if err != nil {
		return err
	}
	return c.ask(ctx, http.MethodPost, "/api/v1/generations", body, nil)
}

// tell says what to look at.
func (d *demo) tell(ctx context.Context, out io.Writer, c *caller) error {
	var inbox struct {
		Total  int `json:"total"`
		Groups []struct {
			Sample struct {
				ID string `json:"id"`
			} `json:"sample"`
		} `json:"groups"`
	}
	if err := c.ask(ctx, http.MethodGet, "/api/v1/inbox?limit=1", nil, &inbox); err != nil {
		return err
	}
	if len(inbox.Groups) == 0 {
		return errors.New("the inbox is empty")
	}
	var signIn struct {
		Address string `json:"address"`
	}
	if err := c.ask(ctx, http.MethodPost, "/login/address", nil, &signIn); err != nil {
		return err
	}
	fmt.Fprintf(out, `
Shadowcourt is at %[1]s
Open this address to sign in; it works once, for an hour (%[4]s login %[1]s prints another):

  %[1]s%[5]s

  %[1]s/             the inbox: %[2]d groups of failures. j and k move, e explains, 1 to 4 set the label, u takes it back
  %[1]s/trials/%-4[3]s  a trial: who said what, by which lines of the log
  %[1]s/modules      swap to generation 2, a profile fitted on other failures, and roll back
  %[1]s/quality      how often the court is right; its button downloads the corrected cases, for shadowcourt fit
  %[1]s/metrics      for Prometheus

Submit your own:
  go test -json ./... | %[4]s try - --server %[1]s

Ctrl-C stops it and removes its data.
`, c.server, inbox.Total, inbox.Groups[0].Sample.ID, d.program, signIn.Address)
	return nil
}

// caller asks a service as whoever runs it.
type caller struct{ server, token string }

// ask sends a request, and reads the answer; out is optional.
func (c *caller) ask(ctx context.Context, method, path string, body []byte, out any) error {
	address := c.server + path
	r, err := http.NewRequestWithContext(ctx, method, address, bytes.NewReader(body))
	if err != nil {
		return err
	}
	r.Header.Set("Authorization", "Bearer "+c.token)
	if method == http.MethodPost {
		r.Header.Set("Content-Type", "application/json")
	}
	answer, err := http.DefaultClient.Do(r)
	if err != nil {
		return err
	}
	defer func() { _ = answer.Body.Close() }()
	text, err := io.ReadAll(answer.Body)
	if err != nil {
		return err
	}
	if answer.StatusCode >= http.StatusBadRequest {
		return fmt.Errorf("%s: %s: %s", address, answer.Status, text)
	}
	if out == nil {
		return nil
	}
	return json.Unmarshal(text, out)
}
