package platform

import (
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"os"
	"regexp"
)

// Event is what the event file of GitHub Actions tells of a pull request. Fields are zero where it doesn't.
type Event struct {
	Number int    // of the pull request
	Head   string // its last commit
	// Label is OWNER:BRANCH of the pull request that a workflow_run tested: of one from a fork GitHub doesn't tell the number.
	Label string
	Link  string // the page of the run that a workflow_run follows
}

const maxEvent = 32 << 20 // bytes; GitHub's payloads have at most 25 MB

// ReadEvent reads the file that GITHUB_EVENT_PATH names.
func ReadEvent(name string) (Event, error) {
	f, err := os.Open(name)
	if err != nil {
		return Event{}, fmt.Errorf("GITHUB_EVENT_PATH: %w", err)
	}
	defer func() { _ = f.Close() }()
	data, err := io.ReadAll(io.LimitReader(f, maxEvent+1))
	if err != nil {
		return Event{}, fmt.Errorf("GITHUB_EVENT_PATH: %w", err)
	}
	if len(data) > maxEvent {
		return Event{}, errors.New("GITHUB_EVENT_PATH: the file has more than 32 MiB")
	}
	e, err := parseEvent(data)
	if err != nil {
		return Event{}, fmt.Errorf("GITHUB_EVENT_PATH: not an event of GitHub: %w", err)
	}
	return e, nil
}

// label has an owner, and a branch without what git forbids in names.
var label = regexp.MustCompile(`^[A-Za-z0-9-]{1,100}:[^\x00-\x20\x7f:?*\[\\^~]{1,300}$`)

func parseEvent(data []byte) (Event, error) {
	type pull struct {
		Number int64 `json:"number"`
		Head   struct {
			SHA string `json:"sha"`
		} `json:"head"`
	}
	var e struct {
		Pull *pull `json:"pull_request"`
		Run  *struct {
			SHA    string `json:"head_sha"`
			Branch string `json:"head_branch"`
			Link   string `json:"html_url"`
			Pulls  []pull `json:"pull_requests"`
			From   struct {
				Owner struct {
					Login string `json:"login"`
				} `json:"owner"`
			} `json:"head_repository"`
		} `json:"workflow_run"`
	}
	if err := json.Unmarshal(data, &e); err != nil {
		return Event{}, err
	}
	switch {
	case e.Pull != nil:
		return Event{Number: small(e.Pull.Number), Head: commit(e.Pull.Head.SHA)}, nil
	case e.Run != nil:
		out := Event{Head: commit(e.Run.SHA), Link: link(e.Run.Link)}
		for i := range e.Run.Pulls {
			if p := &e.Run.Pulls[i]; out.Head != "" && p.Head.SHA == out.Head && out.Number == 0 {
				out.Number = small(p.Number)
			}
		}
		if said := e.Run.From.Owner.Login + ":" + e.Run.Branch; label.MatchString(said) {
			out.Label = said
		}
		return out, nil
	}
	return Event{}, nil
}

// small is the number of a pull request, or 0.
func small(n int64) int {
	const most = 1<<31 - 1
	if n < 0 || n > most {
		return 0
	}
	return int(n)
}
