//go:build unix

package web_test

import (
	"fmt"
	"io"
	"net/http"
	"os"
	"slices"
	"strconv"
	"syscall"
	"testing"
	"time"

	"github.com/shadowcourt/shadowcourt/abi"
	"github.com/shadowcourt/shadowcourt/host/docket"
	"github.com/shadowcourt/shadowcourt/host/trial"
	"github.com/shadowcourt/shadowcourt/internal/service/store"
)

// measured is how many cases the pages are measured beside; the test is skipped without the variables of `make service-bench`.
func measured(t *testing.T) int {
	t.Helper()
	n, _ := strconv.Atoi(os.Getenv("SHADOWCOURT_PAGE_CASES"))
	if n == 0 {
		t.Skip("measured by `make service-bench`")
	}
	return n
}

// TestMeasurePagesSQLite prints how long pages take beside many cases.
func TestMeasurePagesSQLite(t *testing.T) {
	measurePages(t, measured(t), newService(t, serviceOptions{}))
}

// measurePages fills a store with made-up verdicts: half of them open, a third with a known truth, in groups of 1 to 1,000 cases.
func measurePages(t *testing.T, n int, s *service) {
	t.Helper()
	const largest = store.MaxEntries
	begun, before := time.Now(), processorTime(t)
	var ids []int64
	for first := 0; first < n; first += largest {
		u, err := s.store.Submit(t.Context(), store.Submission{Submitter: "ci", Name: fmt.Sprintf("nightly %d", first), Repository: fmt.Sprintf("example.org/%d", first/largest), Format: "jsonl"})
		if err != nil {
			t.Fatal(err)
		}
		for i := first; i < min(first+largest, n); i++ {
			e := madeUp(i)
			if err := u.Add(t.Context(), &e, nil); err != nil {
				t.Fatal(err)
			}
		}
		d, _, err := u.Finish(t.Context(), "body", nil)
		if err != nil {
			t.Fatal(err)
		}
		ids = append(ids, d.ID)
	}
	t.Logf("%d cases were submitted in %s, %s of processor time", n, time.Since(begun).Round(time.Millisecond), processorTime(t)-before)
	begun, before = time.Now(), processorTime(t)
	for _, id := range ids {
		s.decide(id)
	}
	t.Logf("%d verdicts were kept in %s, %s of processor time", n, time.Since(begun).Round(time.Millisecond), processorTime(t)-before)
	last := ids[len(ids)-1]
	box, err := s.store.Inbox(t.Context(), store.InboxFilter{Limit: 1})
	if err != nil {
		t.Fatal(err)
	}
	t.Logf("%d groups with %d trials need a person", box.Total, box.Entries)
	for _, path := range []string{
		"/", "/?cursor=" + box.Next, "/?repository=example.org/0", "/?label=bug", "/?status=mistrial", "/?q=case+77", "/inbox/group?key=" + box.Groups[0].Key,
		"/dockets", fmt.Sprintf("/dockets/%d", last), fmt.Sprintf("/dockets/%d?cursor=%d-%d", last, last, (1+(n-1)%largest)/2), fmt.Sprintf("/dockets/%d?status=mistrial", last),
		fmt.Sprintf("/dockets/%d?q=nothing", last), fmt.Sprintf("/trials/%d-1", last), "/modules", "/modules/1", "/quality", "/quality?repository=example.org/0", "/settings",
	} {
		s.measure(path)
	}
}

// measure prints the median of some requests for a page.
func (s *service) measure(path string) {
	s.t.Helper()
	var took, busy []time.Duration
	for range 5 {
		begun, before := time.Now(), processorTime(s.t)
		answer, err := s.client.Get(s.url + path)
		if err != nil {
			s.t.Fatal(err)
		}
		_, err = io.Copy(io.Discard, answer.Body)
		_ = answer.Body.Close()
		if err != nil || answer.StatusCode != http.StatusOK {
			s.t.Fatalf("%s: %s, %v", path, answer.Status, err)
		}
		took, busy = append(took, time.Since(begun)), append(busy, processorTime(s.t)-before)
	}
	slices.Sort(took)
	slices.Sort(busy)
	s.t.Logf("%-40.40s median %8s, slowest %8s, of processor time %8s", path, took[2].Round(100*time.Microsecond), took[4].Round(100*time.Microsecond), busy[2].Round(100*time.Microsecond))
}

// processorTime is what this process has used: on a busy machine it says more than the clock.
func processorTime(t testing.TB) time.Duration {
	t.Helper()
	var u syscall.Rusage
	if err := syscall.Getrusage(syscall.RUSAGE_SELF, &u); err != nil {
		t.Fatal(err)
	}
	return time.Duration(u.Utime.Nano() + u.Stime.Nano())
}

func madeUp(i int) docket.Entry {
	e := docket.Entry{Source: "nightly.jsonl", Line: i + 1, Case: abi.Case{
		ID: fmt.Sprintf("case %d", i), Subject: fmt.Sprintf("panic in function number%s of the shop", words(i)), Group: "shop", Labels: []string{"bug", "flake", "setup"},
		Light:     &abi.LightAnswer{Classification: "bug", Confidence: 0.5, Reasoning: "why"},
		Documents: []abi.Document{{Name: "log", Text: fmt.Sprintf("line of %d\npanic: in function number%s of the shop\n", i, words(i))}},
	}}
	if i%3 == 0 {
		e.Truth = &trial.Truth{Classification: e.Case.Labels[i/3%3]}
	}
	return e
}

// words has letters alone, since fingerprints leave numbers out: many groups of few cases, few of many.
func words(i int) string {
	var text []byte
	for group := i % (1 + i%20000); group > 0; group /= 26 {
		text = append(text, byte('a'+group%26))
	}
	return string(text)
}

// decide completes a docket without a court.
func (s *service) decide(docketID int64) {
	s.t.Helper()
	s.each(docketID, func(c *store.Claim) *store.NewVerdict {
		final := trial.Final{Status: trial.Affirmed, Classification: c.Case.Labels[c.Ordinal%3], Confidence: 0.6 + float64(c.Ordinal*7919%4000)/10000}
		if c.Ordinal%97 == 0 {
			final = trial.Final{Status: trial.Mistrial, Cause: trial.CauseTrap}
		}
		t := &trial.Trial{Case: c.Case, Result: trial.Result{ID: c.Case.ID, Light: &trial.Answer{Classification: "bug", Confidence: 0.5}, Final: final}, Passes: []trial.Pass{{Light: *c.Case.Light}}}
		return &store.NewVerdict{Digest: c.Digest, Trial: t, Took: time.Millisecond}
	})
}
