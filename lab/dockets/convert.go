package main

import (
	"bytes"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"fmt"
	"math/rand/v2"
	"path"
	"regexp"
	"strings"

	"github.com/shadowcourt/shadowcourt/abi"
	"github.com/shadowcourt/shadowcourt/host/docket"
	"github.com/shadowcourt/shadowcourt/host/docket/gotest"
	"github.com/shadowcourt/shadowcourt/host/trial"
)

// keptLogBytes is how much of a log's head and of its tail goes into the docket.
const keptLogBytes = 3 << 10

// labelled is a failing test with what is known of it.
type labelled struct {
	module  module
	attempt *attempt
	found   found
	base    *baseline
}

func (l labelled) cause() string { return l.attempt.Fault.Cause }

func (l labelled) log() string {
	log, _ := l.attempt.Runs[l.found.Run].log(l.found.Test)
	program := path.Base(l.module.pkg()) + ".test"
	return withoutFolders(strings.NewReplacer(pristine+".test", program, mutant+".test", program).Replace(log))
}

// frame is a file's line in a stack, of a crash or of the race detector.
var frame = regexp.MustCompile(`(?m)^(\t|      )/\S+\.go:\d+( \+0x[0-9a-f]+)?$`)

var ownFolder = regexp.MustCompile(`/(?:src|tmp|home/ci|root)(?:/[\w.@+-]+)*/(\w)`)

// withoutFolders leaves of paths in the folders of the run the file's name alone: whether a folder is named is up to whether
// an error of the file system is, which some causes have more often. In stacks, which have the same folders whatever the
// cause is, they stay.
func withoutFolders(log string) string {
	lines := strings.SplitAfter(log, "\n")
	for i, line := range lines {
		if !frame.MatchString(line) {
			lines[i] = ownFolder.ReplaceAllString(line, "$1")
		}
	}
	return strings.Join(lines, "")
}

// entry makes the case as the reader makes it of a stream that users have, and adds what was observed of it.
func (l labelled) entry(log string) (docket.Entry, error) {
	var stream bytes.Buffer
	for _, e := range []map[string]string{{"Action": "output", "Output": log}, {"Action": "fail"}} {
		e["Package"], e["Test"] = l.module.pkg(), l.found.Test
		line, err := json.Marshal(e)
		if err != nil {
			return docket.Entry{}, err
		}
		stream.Write(append(line, '\n'))
	}
	reader := gotest.Reader{}
	for entry, err := range reader.Read("run", &stream) {
		if err != nil {
			return entry, err
		}
		entry.Case.ID = caseID(entry.Case)
		entry.Case.Group = l.module.path
		rng := rand.New(rand.NewPCG(uint64(hash(entry.Case.ID)), 2)) //nolint:gosec // chosen, not secret
		entry.Case.Evidence = append(entry.Case.Evidence, l.witnesses(rng)...)
		light := gotest.Light(entry.Case)
		entry.Case.Light = &light
		entry.Truth = truth(entry.Case, l.cause())
		return entry, nil
	}
	return docket.Entry{}, fmt.Errorf("%s of %s gives no case", l.found.Test, l.module.path)
}

// caseID says nothing of the cause.
func caseID(c abi.Case) string {
	sum := sha256.Sum256([]byte(c.ID + "\x00" + c.Documents[0].Text))
	return "go-" + hex.EncodeToString(sum[:5])
}

// truth is the cause, and the verdict that follows where the case goes before the court.
func truth(c abi.Case, cause string) *trial.Truth {
	t := &trial.Truth{Classification: cause}
	if !uncertain(c) {
		return t
	}
	t.ExpectedVerdict = abi.Amend
	if c.Light.Classification == cause {
		t.ExpectedVerdict = abi.Affirm
	}
	return t
}

func uncertain(c abi.Case) bool { return c.Light.Confidence >= 0.50 && c.Light.Confidence < 0.85 }

// took is how long a test took, as the testing package says it.
var took = regexp.MustCompile(`(?m)^( *--- (?:FAIL|PASS|SKIP): .*) \(([0-9.]+s)\)$`)

// durations are those in the logs of all cases, one for each time that it occurs.
func durations(all []labelled) (pool []string) {
	for _, l := range all {
		for _, match := range took.FindAllStringSubmatch(l.log(), -1) {
			pool = append(pool, match[2])
		}
	}
	return pool
}

// redraw writes durations drawn from the pool in the place of those in the log. How long a test took is up to where it ran,
// which the cause decides: no case keeps its own.
func redraw(log string, pool []string, seed uint64) string {
	rng := rand.New(rand.NewPCG(uint64(hash(log)), seed)) //nolint:gosec // chosen, not secret
	return took.ReplaceAllStringFunc(log, func(line string) string {
		at := strings.LastIndexByte(line, '(')
		return line[:at] + "(" + pool[rng.IntN(len(pool))] + ")"
	})
}
