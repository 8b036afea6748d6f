package host_test

import (
	"bufio"
	"context"
	"fmt"
	"iter"
	"slices"
	"strings"

	"github.com/shadowcourt/shadowcourt/abi"
	"github.com/shadowcourt/shadowcourt/host"
	"github.com/shadowcourt/shadowcourt/host/bundle"
	"github.com/shadowcourt/shadowcourt/host/docket"
	"github.com/shadowcourt/shadowcourt/host/pipeline"
)

// twoCases is a docket in JSON lines.
const twoCases = `{"id":"disk-7","subject":"a disk fills up","labels":["leak","quota"],` +
	`"light":{"classification":"leak","confidence":0.95,"reasoning":"the curve rises"},"evidence":[],"documents":[]}
{"id":"disk-8","subject":"a disk fills up","labels":["leak","quota"],` +
	`"light":{"classification":"leak","confidence":0.2,"reasoning":"a guess"},"evidence":[],"documents":[]}
`

// Open a host on the shipped court and modules.
func ExampleOpen() {
	ctx := context.Background()
	h, err := host.Open(ctx, host.Config{CacheDir: cacheDir})
	if err != nil {
		fmt.Println(err)
		return
	}
	defer func() { _ = h.Close(ctx) }()
	fmt.Println(h.Pipeline().Pipeline)
	// Output: defect-court
}

// Try all cases of a docket. Results come in the order of the docket.
func ExampleHost_TryAll() {
	ctx := context.Background()
	h, err := host.Open(ctx, host.Config{CacheDir: cacheDir})
	if err != nil {
		fmt.Println(err)
		return
	}
	defer func() { _ = h.Close(ctx) }()
	var reader docket.Reader
	for tried := range h.TryAll(ctx, reader.JSONL("cases.jsonl", strings.NewReader(twoCases)), 0) {
		if tried.Err != nil {
			fmt.Println(tried.Err)
			continue
		}
		fmt.Println(tried.Entry.Case.ID, tried.Trial.Result.Final.Status)
	}
	// Output:
	// disk-7 accepted
	// disk-8 rejected
}

// Stream results: entries are read as they are needed, so that a docket may be larger than memory. The loop may end early.
func ExampleHost_TryAll_stream() {
	ctx := context.Background()
	h, err := host.Open(ctx, host.Config{CacheDir: cacheDir})
	if err != nil {
		fmt.Println(err)
		return
	}
	defer func() { _ = h.Close(ctx) }()
	endless := func(yield func(docket.Entry, error) bool) {
		for i := 0; ; i++ {
			c := abi.Case{ID: fmt.Sprint("disk-", i), Labels: []string{"leak", "quota"}, Light: &abi.LightAnswer{Classification: "leak", Confidence: 0.95}}
			if !yield(docket.Entry{Case: c}, nil) {
				return
			}
		}
	}
	for tried := range h.TryAll(ctx, endless, 2) {
		fmt.Println(tried.Entry.Case.ID)
		if tried.Entry.Case.ID == "disk-2" {
			break
		}
	}
	// Output:
	// disk-0
	// disk-1
	// disk-2
}

// colons is a reader of a format of its own: one case a line, "id: subject".
func colons(text string) iter.Seq2[docket.Entry, error] {
	return func(yield func(docket.Entry, error) bool) {
		in := bufio.NewScanner(strings.NewReader(text))
		for line := 1; in.Scan(); line++ {
			id, subject, ok := strings.Cut(in.Text(), ": ")
			var err error
			if !ok {
				err = fmt.Errorf("line %d has no colon", line)
			}
			if !yield(docket.Entry{Case: abi.Case{ID: id, Subject: subject, Labels: []string{"leak", "quota"}}}, err) {
				return
			}
		}
	}
}

// A reader of your own is a sequence of entries.
func ExampleHost_TryAll_reader() {
	ctx := context.Background()
	h, err := host.Open(ctx, host.Config{CacheDir: cacheDir, Light: guess{}})
	if err != nil {
		fmt.Println(err)
		return
	}
	defer func() { _ = h.Close(ctx) }()
	for tried := range h.TryAll(ctx, colons("disk-1: a full disk\nnothing\n"), 0) {
		if tried.Err != nil {
			fmt.Println(tried.Err)
			continue
		}
		fmt.Println(tried.Trial.Result.ID, tried.Trial.Result.Final.Classification)
	}
	// Output:
	// disk-1 leak
	// line 2 has no colon
}

// guess is a Light that always gives the same answer.
type guess struct{}

// Answer classifies every case as the first of its labels.
func (guess) Answer(_ context.Context, req host.LightRequest) (host.LightResponse, error) {
	return host.LightResponse{Answer: abi.LightAnswer{Classification: req.Case.Labels[0], Confidence: 0.9, Reasoning: "a guess"}}, nil
}

// A Light of your own classifies the cases that bring no classification.
func ExampleLight() {
	ctx := context.Background()
	h, err := host.Open(ctx, host.Config{CacheDir: cacheDir, Light: guess{}})
	if err != nil {
		fmt.Println(err)
		return
	}
	defer func() { _ = h.Close(ctx) }()
	trial, err := h.Try(ctx, abi.Case{ID: "disk-7", Labels: []string{"leak", "quota"}})
	if err != nil {
		fmt.Println(err)
		return
	}
	fmt.Println(trial.Result.Final.Status, trial.Result.Final.Classification)
	// Output: accepted leak
}

// Swap modules while trials go on; a rejected set changes nothing.
func ExampleHost_Swap() {
	ctx := context.Background()
	h, err := host.Open(ctx, host.Config{CacheDir: cacheDir})
	if err != nil {
		fmt.Println(err)
		return
	}
	defer func() { _ = h.Close(ctx) }()
	modules, err := bundle.FS() // or os.DirFS
	if err != nil {
		fmt.Println(err)
		return
	}
	fmt.Println(h.Swap(ctx, modules))
	// Output: <nil>
}

// Change limits of the court without another pipeline.
func ExampleConfig_court() {
	ctx := context.Background()
	h, err := host.Open(ctx, host.Config{CacheDir: cacheDir, Court: func(c *pipeline.Court) { c.RejectionThreshold = 0.1 }})
	if err != nil {
		fmt.Println(err)
		return
	}
	defer func() { _ = h.Close(ctx) }()
	var reader docket.Reader
	for tried := range h.TryAll(ctx, reader.JSONL("cases.jsonl", strings.NewReader(twoCases)), 0) {
		fmt.Println(tried.Entry.Case.ID, tried.Trial.Result.Activated)
	}
	// Output:
	// disk-7 false
	// disk-8 true
}

// The modules in force, by name.
func ExampleHost_Modules() {
	ctx := context.Background()
	h, err := host.Open(ctx, host.Config{CacheDir: cacheDir})
	if err != nil {
		fmt.Println(err)
		return
	}
	defer func() { _ = h.Close(ctx) }()
	var names []string
	for name := range h.Modules(ctx) {
		names = append(names, name)
	}
	slices.Sort(names)
	fmt.Println(names)
	// Output: [abyss bulwark challenger clerk specter]
}
