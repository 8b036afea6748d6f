package record

import (
	"bytes"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"errors"
	"slices"
	"strings"

	"github.com/shadowcourt/shadowcourt/abi"
)

// Format is the version of the format that this package writes and reads.
const Format = "1"

// Entry is one line of a record. Exactly one of its five contents is there.
type Entry struct {
	// Sequence counts the entries from 0.
	Sequence int `json:"sequence"`
	// Previous is the digest of the line before, without its line feed; empty in the first.
	Previous   Digest      `json:"previous"`
	Header     *Header     `json:"header,omitempty"`
	Generation *Generation `json:"generation,omitempty"`
	Trial      *Trial      `json:"trial,omitempty"`
	Closing    *Closing    `json:"closing,omitempty"`
	// Statement is not wrapped in an entry: it is the line itself.
	Statement *Statement `json:"-"`
}

// Contents says how much of what went in and out a record holds; digests are always there.
type Contents string

// The contents.
const (
	// ContentsReplay holds what a replay needs: the case, the answers of capabilities and of a Light outside of the court; and the result.
	ContentsReplay Contents = "replay"
	// ContentsBytes holds what every call got and gave, too.
	ContentsBytes Contents = "bytes"
	// ContentsDigests holds no text of a case, of a module or of an answer.
	ContentsDigests Contents = "digests"
)

// Header is what the trials of a record depend on besides cases and modules.
type Header struct {
	Format   string   `json:"format"`
	Contents Contents `json:"contents"`
	// Instrumentation is the version of the rewriting that meters fuel: another one counts otherwise.
	Instrumentation string `json:"instrumentation"`
	// Prepared: modules that can be were prepared (SPEC.md §2.19), so that the fuel of calls is less. Requests are whole all the same.
	Prepared bool `json:"prepared,omitempty"`
	// Configuration names all that results depend on, with digests; the modules are those that the run began with.
	Configuration []Part `json:"configuration"`
	// Pipeline is the court's graph in YAML, LightPath that of the Light path; empty where there is none.
	Pipeline  string `json:"pipeline"`
	LightPath string `json:"light_path,omitempty"`
	// Rules are those of the user, as the parameters of a graph in YAML; empty where there are none.
	Rules string `json:"rules,omitempty"`
	// Profile, a message of the contract; empty where there is none.
	Profile []byte `json:"profile,omitempty"`
	// Court are the limits of a trial, a message court_config of the contract.
	Court  []byte     `json:"court"`
	Limits CallLimits `json:"limits"`
	// ExternalLight: a Light outside of the court classified the cases; its answers are recorded with the trials.
	ExternalLight bool `json:"external_light"`
	// Reclassified: the classifications that cases came with were not used.
	Reclassified bool `json:"reclassified"`
	// Audit: the opinion of every verdict was audited. Absent where none was.
	Audit *AuditHeader `json:"audit,omitempty"`
}

// Part is one part of a configuration or of a generation, by its digest.
type Part struct {
	Name   string `json:"name"`
	Digest Digest `json:"digest"`
	// Signer is who signed a module that came from a registry, and Policy the line and the digest of the trust policy that accepted it. Empty
	// for others.
	Signer string `json:"signer,omitempty"`
	Policy string `json:"policy,omitempty"`
}

// CallLimits are those of every call of a module.
type CallLimits struct {
	MemoryBytes    int64  `json:"memory_bytes"`
	WallClockNanos int64  `json:"wall_clock_ns"`
	OutputBytes    int64  `json:"output_bytes"`
	InputBytes     int64  `json:"input_bytes"`
	Fuel           uint64 `json:"fuel"`
}

// Generation is a set of modules, by name. The trials behind it had them, up to the next one of the same kind.
type Generation struct {
	// Audit: they are those of collectors and judges, and not the court's.
	Audit   bool   `json:"audit,omitempty"`
	Modules []Part `json:"modules"`
}

// Closing ends a record.
type Closing struct {
	// Trials is the number of trials in the record so far.
	Trials int `json:"trials"`
}

// Trial is what happened in the trial of one case.
type Trial struct {
	ID string `json:"id"`
	// Generation is the sequence of the entry with its modules.
	Generation int `json:"generation"`
	// Case is the digest of the message of the case, as it was tried.
	Case Digest `json:"case"`
	// Events are in the order in which they happened.
	Events []Event `json:"events"`
	// Over are the times at which the trial asked whether its time is over and it was, counted from 0.
	Over []int `json:"over,omitempty"`
	// ResultDigest is that of the line of the result, without its line feed and its audit.
	ResultDigest Digest `json:"result_digest"`
	// Result is that line itself; absent with ContentsDigests.
	Result json.RawMessage `json:"result,omitempty"`
	// Audit of the opinion of the verdict; absent where none was asked for, or there was no verdict.
	Audit *Audit `json:"audit,omitempty"`
	// Contents are the messages that are kept, in the order of their digests.
	Contents []Content `json:"contents,omitempty"`

	// Modules are what the trial had, by name. They stand in the Generation.
	Modules []Part `json:"-"`
	// Kept says how much of it is kept. It stands in the Header.
	Kept Contents `json:"-"`
}

// Content is a message that stands in a record, once for each trial.
type Content struct {
	Digest Digest `json:"digest"`
	Bytes  []byte `json:"bytes"`
}

// Event is one thing that happened. Exactly one field is set.
type Event struct {
	Call *Call `json:"call,omitempty"`
	// Merge is the digest of the state after a merge.
	Merge Digest `json:"merge,omitempty"`
	Light *Light `json:"light,omitempty"`
}

// Call is a call of a module.
type Call struct {
	Node    string   `json:"node,omitempty"`
	Persona string   `json:"persona,omitempty"`
	Module  string   `json:"module"`
	Kind    abi.Call `json:"kind"`
	Input   Digest   `json:"input"`
	// Output is empty where the call failed.
	Output Digest `json:"output,omitempty"`
	// Fuel that the call used; nil where it failed.
	Fuel *uint64 `json:"fuel"`
	// Uses are what the module asked through capabilities.
	Uses []Use `json:"uses,omitempty"`
	// Edges are the questions of an edge call with their answers.
	Edges   []Edge   `json:"edges,omitempty"`
	Failure *Failure `json:"failure,omitempty"`
}

// Use is one use of a capability, by the digests of question and answer.
type Use struct {
	Capability abi.Capability `json:"capability"`
	Request    Digest         `json:"request"`
	Answer     Digest         `json:"answer"`
}

// Edge is an edge that was put to a module, and what it answered.
type Edge struct {
	ID        string `json:"id"`
	Evaluator string `json:"evaluator"`
	Fires     bool   `json:"fires"`
	// Why is empty with ContentsDigests.
	Why string `json:"why,omitempty"`
}

// The causes of failures that depend on the moment. A replay takes them from the record; every other failure happens again.
const (
	CauseCancelled = "cancelled" // the time of the trial was over
	CauseWallClock = "wall_clock"
	CauseHost      = "host_failure"
)

// Failure says why a call gave nothing.
type Failure struct {
	Cause string `json:"cause"`
	// Message is empty with ContentsDigests.
	Message string `json:"message,omitempty"`
	// HostSide: the module is not to blame.
	HostSide bool `json:"host_side,omitempty"`
}

// Momentary says whether the failure depends on the moment.
func (f *Failure) Momentary() bool {
	return f != nil && (f.HostSide || f.Cause == CauseCancelled || f.Cause == CauseWallClock || f.Cause == CauseHost)
}

// Light is an answer of a Light outside of the court.
type Light struct {
	// Feedback of the court, a message; empty the first time.
	Feedback Digest `json:"feedback,omitempty"`
	// Answer is a JSON object, empty where Light failed.
	Answer  Digest   `json:"answer,omitempty"`
	Failure *Failure `json:"failure,omitempty"`
}

// Content gives the message of a digest, if the record has it. The Contents are in their order.
func (t *Trial) Content(d Digest) ([]byte, bool) {
	at, there := slices.BinarySearchFunc(t.Contents, Content{Digest: d}, compareContents)
	if !there {
		return nil, false
	}
	return t.Contents[at].Bytes, true
}

// Calls are the calls among the events, those of the audit not among them.
func (t *Trial) Calls() []*Call { return calls(t.Events) }

func calls(events []Event) []*Call {
	var list []*Call
	for i := range events {
		if c := events[i].Call; c != nil {
			list = append(list, c)
		}
	}
	return list
}

// AuditHeader is what the audits of a record depend on besides opinions and modules.
type AuditHeader struct {
	// Pipeline is the graph of the audit in YAML, Rubric the rubric.
	Pipeline string     `json:"pipeline"`
	Rubric   string     `json:"rubric"`
	Limits   CallLimits `json:"limits"`
}

// Audit is what happened when the opinion of a trial's verdict was audited. It stands in the entry of the trial, so that neither is there
// without the other; messages that are kept of it are among the contents of the trial.
type Audit struct {
	// Generation is the sequence of the entry with the modules of collectors and judges.
	Generation int `json:"generation"`
	// Court is the name of the court, as the opinion states it.
	Court string `json:"court"`
	// Events are calls, and the state after each node: those of branches stand in
	// the order of the pipeline and of the rubric, in whichever they came.
	Events []Event `json:"events"`
	// ResultDigest is that of the audit as the line of the result has it.
	ResultDigest Digest `json:"result_digest"`
	// Result is that audit, a JSON object; absent with ContentsDigests.
	Result json.RawMessage `json:"result,omitempty"`

	// Modules are what the audit had, by name. They stand in the Generation.
	Modules []Part `json:"-"`
}

// Calls are the calls among the events.
func (a *Audit) Calls() []*Call { return calls(a.Events) }

// Attach puts an audit into the entry of its trial, and what is kept of it beside what is kept of the trial.
func (t *Trial) Attach(a *Audit, kept []Content) {
	t.Audit = a
	t.Contents = slices.Concat(t.Contents, kept)
	slices.SortStableFunc(t.Contents, compareContents)
	t.Contents = slices.CompactFunc(t.Contents, func(a, b Content) bool { return a.Digest == b.Digest })
}

// Line is the line of the result with its audit, without a line feed; nil where the record does not hold it.
func (t *Trial) Line() []byte {
	if t.Audit == nil || len(t.Result) == 0 {
		return t.Result
	}
	return slices.Concat(t.Result[:len(t.Result)-1], []byte(`,"audit":`), t.Audit.Result, []byte{'}'})
}

// Digest is a SHA-256 as text: "sha256:" and 64 hex digits.
type Digest string

const digestPrefix = "sha256:"

// DigestOf gives the digest of data.
func DigestOf(data []byte) Digest {
	sum := sha256.Sum256(data)
	return Digest(digestPrefix + hex.EncodeToString(sum[:]))
}

// Hex gives the 64 digits alone.
func (d Digest) Hex() string { return strings.TrimPrefix(string(d), digestPrefix) }

// Valid says whether the digest is one.
func (d Digest) Valid() bool {
	digits, ok := strings.CutPrefix(string(d), digestPrefix)
	return ok && len(digits) == 2*sha256.Size && strings.Trim(digits, "0123456789abcdef") == ""
}

// Statement is an in-toto statement of another type than that of entries. In a record it is signed as entries are. It says nothing of its
// place: the entry behind it does, with the digest of its line.
type Statement struct {
	Subject       []Resource
	PredicateType string
	Predicate     json.RawMessage // a JSON object
}

// Resource is an in-toto ResourceDescriptor, as far as it is used here.
type Resource struct {
	Name   string            `json:"name"`
	Digest map[string]string `json:"digest"` // by algorithm, such as sha256 or gitCommit
}

// ofEntry is in the statement of every entry, and in no other.
const ofEntry = `"predicateType":"` + predicateType + `"`

func (s *Statement) check() error {
	switch {
	case s.PredicateType == "" || s.PredicateType == predicateType || bytes.Contains(s.Predicate, []byte(ofEntry)):
		return errors.New("a statement of another type than that of entries is needed")
	case len(s.Subject) == 0:
		return errors.New("the statement has no subject")
	case slices.ContainsFunc(s.Subject, func(r Resource) bool { return len(r.Digest) == 0 }):
		return errors.New("the statement has a subject without a digest")
	case !bytes.HasPrefix(s.Predicate, []byte{'{'}):
		return errors.New("the predicate is no object")
	}
	return nil
}

func (s *Statement) encode(to *encoder) ([]byte, error) {
	return to.encode(&statement[json.RawMessage]{statementType, s.Subject, s.PredicateType, s.Predicate})
}

// decodeStatement reads what encode has written.
func decodeStatement(payload []byte) (*Entry, error) {
	var o statement[json.RawMessage]
	if err := json.Unmarshal(payload, &o); err != nil {
		return nil, err
	}
	s := &Statement{o.Subject, o.PredicateType, o.Predicate}
	return &Entry{Statement: s}, s.check()
}

// AppendStatement writes a statement of another type. It is durable after the next Sync.
func (w *Writer) AppendStatement(s *Statement) error {
	if err := s.check(); err != nil {
		return err
	}
	return w.append(&Entry{Statement: s})
}
