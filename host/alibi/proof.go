package alibi

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"math"
	"slices"
	"strconv"
	"strings"

	"github.com/shadowcourt/shadowcourt/abi/codec"
	"github.com/shadowcourt/shadowcourt/host/record"
	"github.com/shadowcourt/shadowcourt/host/trial"
)

// The types of the statements that a proof adds to the record of its trials.
const (
	ProofType      = "https://github.com/shadowcourt/shadowcourt/alibi/v1"
	TestResultType = "https://in-toto.io/attestation/test-result/v0.1"
)

// Proof is what a run found out of a change: the predicate of an in-toto statement about the head commit.
type Proof struct {
	Change
	// Record is the digest of the line before the statement: of the whole record of the trials.
	Record  record.Digest `json:"record"`
	Modules []record.Part `json:"modules"`
	// MaxFalse is that of [NewLight].
	MaxFalse float64   `json:"max_false_alibi"`
	Answers  []*Answer `json:"answers"`
	// Unanswered are the ids of further failures.
	Unanswered []string `json:"unanswered,omitempty"`
}

// Change is what a run judged, and with what.
type Change struct {
	Tool Tool   `json:"tool"`
	Head string `json:"head"` // commits, by their whole hashes
	Base string `json:"base"`
	// Why says how the base was found.
	Why    string `json:"base_why,omitempty"`
	Target string `json:"target,omitempty"`
	// Uncommitted says that the tree under test has changes that are not committed, and Tree is its digest.
	Uncommitted bool          `json:"uncommitted"`
	Tree        record.Digest `json:"tree"`
}

// Tool is the program that held the trials.
type Tool struct {
	Name    string        `json:"name"`
	Version string        `json:"version"`
	Digest  record.Digest `json:"digest"` // of its file
}

// testResult is in-toto's predicate of that name, as far as it is used here.
type testResult struct {
	Result        string            `json:"result"`
	Configuration []record.Resource `json:"configuration"`
	WarnedTests   []string          `json:"warnedTests"`
	FailedTests   []string          `json:"failedTests"`
}

// Prover writes the proof of a run: the record of its trials with the statements about them. One goroutine uses it.
type Prover struct {
	writer   *record.Writer
	header   *record.Header
	maxFalse float64
	modules  []record.Part
	answers  []*Answer
}

// lightPart names what the answers of Light depend on besides the profile.
const lightPart = "light of the alibi"

func lightText(maxFalse float64) []byte {
	return []byte("max_false_alibi " + strconv.FormatFloat(maxFalse, 'g', -1, 64))
}

// Prove begins the proof of what this court is asked. Its host must have been opened with [record.ContentsReplay].
func (c *Court) Prove(ctx context.Context, out io.Writer, key *record.Key) (*Prover, error) {
	parts, err := c.host.Configuration(ctx)
	if err != nil {
		return nil, err
	}
	p := &Prover{maxFalse: c.light.maxFalse}
	if p.header, err = c.host.RecordHeader(append(parts, record.Part{Name: lightPart, Digest: record.DigestOf(lightText(p.maxFalse))})); err != nil {
		return nil, err
	}
	p.writer, err = record.Begin(out, key, p.header)
	return p, err
}

// Add adds the answer to a failing test, with the record of its trial.
func (p *Prover) Add(asked *Asked) error {
	if asked.Record == nil {
		return errors.New("the trial was not recorded")
	}
	if err := p.writer.Append(asked.Record); err != nil {
		return err
	}
	p.modules, p.answers = asked.Record.Modules, append(p.answers, asked.Answer)
	return nil
}

// Finish states the answers, and closes the record. unanswered are the ids of the failures without an answer.
func (p *Prover) Finish(change *Change, unanswered []string) error {
	proof := &Proof{
		Change: *change, Record: p.writer.Head(), Modules: append([]record.Part{}, p.modules...), MaxFalse: p.maxFalse, Answers: append([]*Answer{}, p.answers...), Unanswered: unanswered,
	}
	statements, err := proof.statements(p.header)
	if err != nil {
		return err
	}
	for i := range statements {
		if err := p.writer.AppendStatement(&statements[i]); err != nil {
			return err
		}
	}
	return p.writer.Finish()
}

// statements are that of the proof, and in-toto's about the result of the tests.
func (p *Proof) statements(header *record.Header) ([]record.Statement, error) {
	var list []record.Statement
	for _, s := range []struct {
		of        string
		predicate any
	}{{ProofType, p}, {TestResultType, p.testResult(header)}} {
		predicate, err := encode(s.predicate)
		if err != nil {
			return nil, err
		}
		list = append(list, record.Statement{Subject: p.subjects(), PredicateType: s.of, Predicate: predicate})
	}
	return list, nil
}

// subjects are the head commit, and the tree where it is another one.
func (p *Proof) subjects() []record.Resource {
	list := []record.Resource{{Name: "HEAD", Digest: map[string]string{"gitCommit": p.Head}}}
	if p.Uncommitted {
		list = append(list, record.Resource{Name: "work tree", Digest: map[string]string{"sha256": p.Tree.Hex()}})
	}
	return list
}

// testResult says that tests with an alibi failed for nothing that the change did, and all others failed. Which tests passed is not known.
func (p *Proof) testResult(header *record.Header) *testResult {
	r := &testResult{Result: "WARNED", Configuration: []record.Resource{}, WarnedTests: []string{}, FailedTests: append([]string{}, p.Unanswered...)}
	for _, a := range p.Answers {
		if a.Verdict == NotYours {
			r.WarnedTests = append(r.WarnedTests, a.ID)
		} else {
			r.FailedTests = append(r.FailedTests, a.ID)
		}
	}
	if len(r.FailedTests) > 0 {
		r.Result = "FAILED"
	}
	for _, part := range header.Configuration {
		r.Configuration = append(r.Configuration, record.Resource{Name: part.Name, Digest: map[string]string{"sha256": part.Digest.Hex()}})
	}
	return r
}

// encode gives compact JSON with nothing escaped that need not be, as records have it.
func encode(v any) ([]byte, error) {
	var b bytes.Buffer
	e := json.NewEncoder(&b)
	e.SetEscapeHTML(false)
	err := e.Encode(v)
	return bytes.TrimSuffix(b.Bytes(), []byte{'\n'}), err
}

// parseProof reads the predicate of a proof.
func parseProof(predicate []byte) (*Proof, error) {
	p := &Proof{}
	d := json.NewDecoder(bytes.NewReader(predicate))
	d.DisallowUnknownFields()
	if err := d.Decode(p); err != nil {
		return nil, err
	}
	if slices.Contains(p.Answers, nil) {
		return nil, errors.New("an answer is missing")
	}
	for _, a := range p.Answers {
		if err := CheckRuns(a.Runs); err != nil {
			return nil, fmt.Errorf("the runs of %q: %w", a.ID, err)
		}
	}
	return p, nil
}

// CheckRuns says whether runs that somebody else states can be results of experiments.
func CheckRuns(runs []trial.Experiment) error {
	for i := range runs {
		r := runs[i].Result()
		r.Detail = ""
		message := codec.AppendExperimentResult(nil, &r)
		if _, err := codec.DecodeExperimentResult(message, len(message)); err != nil {
			return err
		}
	}
	return nil
}

// Summary says of what a proof is, and counts its answers.
func (p *Proof) Summary() string {
	count := map[Verdict]int{}
	for _, a := range p.Answers {
		count[a.Verdict]++
	}
	var b strings.Builder
	fmt.Fprintf(&b, "commit %.12s", p.Head)
	if p.Uncommitted {
		b.WriteString(" with changes that are not committed")
	}
	fmt.Fprintf(&b, ", base %.12s", p.Base)
	if p.Target != "" {
		fmt.Fprintf(&b, ", target %.12s", p.Target)
	}
	fmt.Fprintf(&b, ": %d yours, %d not yours, %d open", count[IsYours], count[NotYours], count[IsOpen])
	if n := len(p.Unanswered); n > 0 {
		fmt.Fprintf(&b, ", %d without an answer", n)
	}
	if p.MaxFalse != MaxFalse {
		fmt.Fprintf(&b, "; an alibi where the change is at most %v%% probable", math.Round(1e6*p.MaxFalse)/1e4)
	}
	return b.String()
}
