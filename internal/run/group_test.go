package run

import (
	"errors"
	"iter"
	"slices"
	"strconv"
	"strings"
	"testing"

	"github.com/shadowcourt/shadowcourt/abi"
	"github.com/shadowcourt/shadowcourt/host/docket"
)

func failure(log string) *abi.Case {
	return &abi.Case{Labels: []string{"pb001", "si001"}, Documents: []abi.Document{{Name: "log", Text: log}}}
}

func TestAccept_EX8_WhatFailedInTheSameWay(t *testing.T) {
	t.Parallel()
	panicked := func(message, frame string) string {
		return "=== RUN   TestX\npanic: " + message + " [recovered, repanicked]\n\ngoroutine 7 [running]:\ntesting.tRunner.func1.2({0x1, 0x2})\n" +
			"\t/usr/local/go/src/testing/testing.go:1632 +0x230\nexample.com/shop/cart." + frame + "(0xc000012345)\n\t/src/cart/cart.go:17 +0x1d\n"
	}
	compiler := func(path, message string) string {
		return "# example.com/shop\n" + path + ":12:5: " + message + "\nFAIL\texample.com/shop [build failed]\n"
	}
	for name, logs := range map[string][2]string{
		"one panic in two tests": {panicked("nil map at 0xc0001", "(*Cart).Add"), panicked("nil map at 0xc0777", "(*Cart).Add")},
		"a dead network":         {"    a_test.go:9: Get \"https://a.example\": dial tcp: lookup a.example on 10.0.0.2:53: no such host\n", "    b_test.go:77: lookup mirror.example: no such host\n"},
		"a missing temporary folder": {
			"    a_test.go:9: TempDir: mkdir /tmp/TestA12/001: no such file or directory\n", "    z_test.go:1: open /tmp/cache/z.db: no such file or directory\n",
		},
		"a package that does not build": {compiler("./price.go", "undefined: Total"), compiler("../cart/price.go", "undefined: Total")},
		"a missing program":             {"x_test.go:3: exec: \"git\": executable file not found in $PATH", "y_test.go:8: running git: exec: \"git\": executable file not found in $PATH"},
	} {
		if a, b := GroupKey(failure(logs[0])), GroupKey(failure(logs[1])); a == "" || a != b {
			t.Errorf("%s: keys %q and %q", name, a, b)
		}
	}
	for name, logs := range map[string][2]string{
		"panics of two messages":            {panicked("nil map", "Add"), panicked("index out of range", "Add")},
		"panics of two functions":           {panicked("nil map", "Add"), panicked("nil map", "Remove")},
		"two programs":                      {`exec: "git": executable file not found in $PATH`, `exec: "hg": executable file not found in $PATH`},
		"two servers":                       {"dial tcp 10.0.0.7:80: connect: connection refused", "dial tcp db.example:5432: connect: connection refused"},
		"two errors of the compiler":        {compiler("./a.go", "undefined: A"), compiler("./a.go", "undefined: B")},
		"a network and an absent folder":    {"lookup a.example: no such host", "mkdir /tmp/x: no such file or directory"},
		"values that differ belong nowhere": {"    a_test.go:9: got 1, want 2", "    a_test.go:9: got 1, want 2"},
	} {
		if a, b := GroupKey(failure(logs[0])), GroupKey(failure(logs[1])); a == b && a != "" {
			t.Errorf("%s: both have the key %q", name, a)
		}
	}
	labelled := failure("lookup a.example: no such host")
	labelled.Labels = []string{"other", "labels"}
	if GroupKey(labelled) == GroupKey(failure("lookup a.example: no such host")) {
		t.Error("cases with other labels are of the same group")
	}
}

func TestEntriesOfOneGroupAreOneEntry(t *testing.T) {
	t.Parallel()
	alone := errors.New("the end of what can be read") // what waits comes before it
	read := func(yield func(docket.Entry, error) bool) {
		for i, log := range []string{"no such host", "got 1, want 2", "no such host", "", "got 1, want 2", "no such host", "no such host"} {
			e := docket.Entry{Case: *failure(log)}
			e.Case.ID = strconv.Itoa(i)
			var err error
			if log == "" {
				err = alone
			}
			if !yield(e, err) {
				return
			}
		}
	}
	var got []string
	for e, err := range Grouped(iter.Seq2[docket.Entry, error](read)) {
		ids := []string{e.Case.ID}
		for _, m := range e.Members {
			ids = append(ids, m.ID)
		}
		if err != nil {
			ids = []string{err.Error()}
		}
		got = append(got, strings.Join(ids, "+"))
	}
	if want := []string{"1", "0+2", alone.Error(), "4", "5+6"}; !slices.Equal(got, want) {
		t.Errorf("got %q, want %q", got, want)
	}
}

func TestReportsLargerThanTheWindowAreReadInParts(t *testing.T) {
	t.Parallel()
	log := "no such host\n" + strings.Repeat("x", 16<<20) // four of them are more than a window
	entries, members := 0, 0
	read := func(yield func(docket.Entry, error) bool) {
		for range 10 {
			if !yield(docket.Entry{Case: *failure(log)}, nil) {
				return
			}
		}
	}
	for e, err := range Grouped(read) {
		if err != nil {
			t.Fatal(err)
		}
		entries, members = entries+1, members+len(e.Members)
	}
	if entries != 3 || members != 7 {
		t.Errorf("%d entries with %d members", entries, members)
	}
}
