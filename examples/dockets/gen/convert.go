package main

import (
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"math/rand/v2"
	"os"
	"path/filepath"
	"slices"
	"sort"
	"strings"

	"github.com/shadowcourt/shadowcourt/abi"
	"github.com/shadowcourt/shadowcourt/host/docket"
	"github.com/shadowcourt/shadowcourt/host/docket/gotest"
)

// keptLogBytes is how much of a log's head and of its tail goes into the docket.
const keptLogBytes = 4 << 10

// labelled is a case with what is known of it.
type labelled struct {
	entry docket.Entry
	about failure
}

// convert reads the kept streams as a user would, takes one failing test of each, and writes the docket.
func convert(c config, log io.Writer) error {
	names, err := filepath.Glob(filepath.Join(c.raw, "*.meta.json"))
	if err != nil {
		return err
	}
	sort.Strings(names)
	var all []labelled
	for _, name := range names {
		one, ok, err := convertRun(c, name)
		if err != nil {
			return err
		}
		if ok {
			all = append(all, one)
		} else {
			fmt.Fprintf(log, "gen: %s has no failing test that the fault explains\n", filepath.Base(name))
		}
	}
	chosen := choose(c, all)
	if err := writeDocket(c.out, chosen); err != nil {
		return err
	}
	summarise(log, chosen)
	return nil
}

// convertRun reads one stream and draws one of its cases.
func convertRun(c config, metaName string) (labelled, bool, error) {
	var about failure
	data, err := os.ReadFile(metaName)
	if err != nil {
		return labelled{}, false, err
	}
	if err := json.Unmarshal(data, &about); err != nil {
		return labelled{}, false, fmt.Errorf("%s: %w", metaName, err)
	}
	in, err := os.Open(filepath.Join(c.raw, about.Stream))
	if err != nil {
		return labelled{}, false, err
	}
	defer in.Close()
	reader := gotest.Reader{HeadBytes: keptLogBytes, TailBytes: keptLogBytes}
	var cases []docket.Entry
	for entry, err := range reader.Read(about.Stream, in) {
		if line := (*docket.LineError)(nil); errors.As(err, &line) {
			continue // such a stream still has its cases
		}
		if err != nil {
			return labelled{}, false, err
		}
		cases = append(cases, entry)
	}
	unsteady, err := readUnsteady(c.raw, about.Module)
	if err != nil {
		return labelled{}, false, err
	}
	cases = slices.DeleteFunc(cases, func(e docket.Entry) bool {
		if about.Cause == noDefect {
			return broken(e.Case) // what doesn't compile fails whatever the scheduler does
		}
		return slices.Contains(unsteady, e.Case.ID)
	})
	if len(cases) == 0 {
		return labelled{}, false, nil
	}
	rng := rand.New(rand.NewPCG(c.seed, uint64(hash(about.Stream)))) //nolint:gosec // chosen, not secret
	entry := cases[rng.IntN(len(cases))]
	entry.Case.Group = about.Module
	entry.Case.ID = caseID(entry.Case)
	entry.Truth = truth(entry.Case, about.Cause)
	return labelled{entry: entry, about: about}, true, nil
}

// broken says whether the case is a package that doesn't build.
func broken(c abi.Case) bool { return strings.HasSuffix(c.Subject, " does not build") }

// caseID says nothing of the cause.
func caseID(c abi.Case) string {
	sum := sha256.Sum256([]byte(c.ID + "\x00" + c.Documents[0].Text))
	return "go-" + hex.EncodeToString(sum[:5])
}

// truth is the cause, and the verdict that follows where the case goes before the court.
func truth(c abi.Case, cause string) *docket.Truth {
	t := &docket.Truth{Classification: cause}
	if c.Light.Confidence < 0.50 || c.Light.Confidence >= 0.85 {
		return t
	}
	t.ExpectedVerdict = abi.Amend
	if c.Light.Classification == cause {
		t.ExpectedVerdict = abi.Affirm
	}
	return t
}

func summarise(log io.Writer, chosen []labelled) {
	type score struct{ all, right, band, bandRight int }
	var total score
	counts := map[string]int{}
	for _, l := range chosen {
		light := l.entry.Case.Light
		right := light.Classification == l.about.Cause
		counts[l.about.Cause]++
		counts[l.about.Cause+" "+l.about.Kind]++
		counts[l.about.Module]++
		total.all++
		if right {
			total.right++
		}
		if l.entry.Truth.ExpectedVerdict != "" {
			total.band++
			if right {
				total.bandRight++
			}
		}
	}
	var names []string
	for name := range counts {
		names = append(names, name)
	}
	sort.Strings(names)
	for _, name := range names {
		fmt.Fprintf(log, "%4d %s\n", counts[name], name)
	}
	fmt.Fprintf(log, "%d cases, Light right in %d; %d in the uncertain band, Light right in %d\n",
		total.all, total.right, total.band, total.bandRight)
}

func writeDocket(path string, chosen []labelled) error {
	var b strings.Builder
	for _, l := range chosen {
		line, err := json.Marshal(lineOf(l.entry))
		if err != nil {
			return err
		}
		b.Write(line)
		b.WriteByte('\n')
	}
	return os.WriteFile(path, []byte(b.String()), 0o644)
}
