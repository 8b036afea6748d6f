package run

import (
	"bufio"
	"bytes"
	"cmp"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"os"
	"slices"

	"github.com/shadowcourt/shadowcourt/abi"
	"github.com/shadowcourt/shadowcourt/abi/codec"
	"github.com/shadowcourt/shadowcourt/host/docket"
	"github.com/shadowcourt/shadowcourt/host/record"
	"github.com/shadowcourt/shadowcourt/host/trial"
)

// journalFormat is that of the journals that this package reads and writes.
const journalFormat = "shadowcourt-journal/2"

type header struct {
	Format        string        `json:"format"`
	Configuration []record.Part `json:"configuration"`
}

// line is a case of the docket: its trial, or why it could not be tried.
type line struct {
	// Docket is a digest over the cases up to this one.
	Docket string `json:"docket"`
	// Record is the head of the record behind the trial; empty without a record.
	Record   record.Digest     `json:"record,omitempty"`
	Result   *trial.Result     `json:"result,omitempty"`
	Failed   string            `json:"failed,omitempty"`
	Truth    *trial.Truth      `json:"truth,omitempty"`
	Compared *trial.Comparison `json:"compared,omitempty"`
	Story    *story            `json:"story,omitempty"`
}

// story is what a trial has beside its result.
type story struct {
	*trial.Trial
	Result struct{} // in its place: the line has it
	// What the result of an audit has beside its JSON form.
	Opinion string            `json:",omitempty"`
	Cited   []trial.CitedItem `json:",omitempty"`
}

// newLine states a trial with its story, or with its result alone.
func newLine(t *trial.Trial, whole bool) *line {
	l := &line{Result: &t.Result}
	if !whole {
		if l.Truth = t.Truth; t.Truth != nil {
			compared := t.Compare()
			l.Compared = &compared
		}
		return l
	}
	l.Story = &story{Trial: t}
	if a := t.Result.Audit; a != nil {
		l.Story.Opinion, l.Story.Cited = a.Opinion, a.Cited
	}
	return l
}

// trial returns what newLine was given.
func (l *line) trial() *trial.Trial {
	t := &trial.Trial{Truth: l.Truth, Compared: l.Compared}
	if l.Story != nil && l.Story.Trial != nil {
		t = l.Story.Trial
		if a := l.Result.Audit; a != nil {
			a.Opinion, a.Cited = l.Story.Opinion, l.Story.Cited
		}
	}
	t.Result = *l.Result
	return t
}

// endLine follows the last case of a run that came to its end, see journal.end.
const endLine = `{"ended":true}` + "\n"

// encode gives a value as one line.
func encode(v any) ([]byte, error) {
	var b bytes.Buffer
	e := json.NewEncoder(&b)
	e.SetEscapeHTML(false)
	err := e.Encode(v)
	return b.Bytes(), err
}

var (
	errNoTrial = errors.New("it is no line of a journal")
	errDamaged = errors.New("it is damaged, or was edited")
)

// The first member of a line is the SHA-256 of the object without it.
const (
	sumBegin = `{"sum":"`
	sumEnd   = `",`
)

// encode gives the line with its sum.
func (l *line) encode() ([]byte, error) {
	text, err := encode(l)
	if err != nil {
		return nil, err
	}
	return withSum(text), nil
}

func withSum(text []byte) []byte {
	return slices.Concat([]byte(sumBegin+sumOf(text)+sumEnd), text[1:])
}

func sumOf(text []byte) string {
	sum := sha256.Sum256(bytes.TrimSuffix(text, []byte("\n")))
	return hex.EncodeToString(sum[:])
}

func decode(data []byte) (*line, error) {
	rest, ok := bytes.CutPrefix(data, []byte(sumBegin))
	sum, rest, ended := bytes.Cut(rest, []byte(sumEnd))
	if !ok || !ended {
		return nil, errNoTrial
	}
	data = slices.Concat([]byte("{"), rest)
	if string(sum) != sumOf(data) {
		return nil, errDamaged
	}
	l := &line{}
	if err := json.Unmarshal(data, l); err != nil { //nolint:musttag // the fields of a trial that have no JSON form elsewhere bear their Go names here
		return nil, fmt.Errorf("%w: %w", errNoTrial, err)
	}
	if l.Docket == "" || (l.Failed == "") == (l.Result == nil) || l.Result != nil && (l.Result.ID == "" || l.Result.Final.Status == "") {
		return nil, errNoTrial
	}
	return l, nil
}

// follow gives the digest over the cases up to an entry, from that over the cases before it.
func follow(before string, entry *docket.Entry) string {
	own := sha256.Sum256(codec.AppendCase(nil, &entry.Case))
	var truth trial.Truth
	if entry.Truth != nil {
		truth = *entry.Truth
	}
	parts := [][]byte{[]byte(before), own[:], []byte(truth.Classification + "\x00" + string(truth.ExpectedVerdict))}
	for i := range entry.Members {
		member := sha256.Sum256(codec.AppendCase(nil, &entry.Members[i]))
		parts = append(parts, member[:])
	}
	sum := sha256.Sum256(slices.Concat(parts...))
	return "sha256:" + hex.EncodeToString(sum[:])
}

// EncodeTrial gives a trial as JSON, in two parts: its result, and its story, which is all that a report shows beside. The story
// has no case and no members, which the caller keeps: cases are large, and many trials have the same.
func EncodeTrial(t *trial.Trial) (result, story []byte, err error) {
	l := newLine(withoutCases(t), true)
	if result, err = encode(l.Result); err != nil {
		return nil, nil, err
	}
	story, err = encode(l.Story)
	return result, story, err
}

func withoutCases(t *trial.Trial) *trial.Trial {
	if t == nil {
		return nil
	}
	without := *t
	without.Case, without.Members = abi.Case{}, nil
	without.Beside = withoutCases(t.Beside)
	return &without
}

// DecodeTrial reads what EncodeTrial gave. Without a story the trial has a result alone.
func DecodeTrial(result, told []byte) (*trial.Trial, error) {
	l := &line{Result: &trial.Result{}}
	if err := json.Unmarshal(result, l.Result); err != nil {
		return nil, fmt.Errorf("the result of a trial: %w", err)
	}
	if l.Result.ID == "" || l.Result.Final.Status == "" {
		return nil, fmt.Errorf("the result of a trial: %w", errNoTrial)
	}
	if len(told) > 0 {
		l.Story = &story{}
		if err := json.Unmarshal(told, l.Story); err != nil { //nolint:musttag // see decode
			return nil, fmt.Errorf("the story of a trial: %w", err)
		}
	}
	return l.trial(), nil
}

// reader reads what an earlier run left, one line ahead.
type reader struct {
	in     *bufio.Reader
	ahead  *line // nil behind the last
	cases  int   // up to the one ahead
	offset int64 // behind the lines that were passed
	length int   // of the line ahead
}

// readTrials reads a journal from its beginning to its end, and goes back to its beginning.
func readTrials(f *os.File, parts []record.Part) (all earlier, _ error) {
	r, fault := newReader(f, parts)
	err := fault
	if _, other := errors.AsType[*ConfigurationError](fault); other {
		err = nil
	}
	for err == nil && r != nil && r.ahead != nil {
		if r.ahead.Result != nil {
			all = earlier{all.trials + 1, r.ahead.Record}
		}
		err = r.advance()
	}
	_, back := f.Seek(0, io.SeekStart)
	return all, cmp.Or(err, fault, back)
}

// newReader reads the header; nil where the file holds at most the beginning of the header of parts. With a
// *ConfigurationError there is a reader, too.
func newReader(in io.Reader, parts []record.Part) (*reader, error) {
	r := &reader{in: bufio.NewReaderSize(in, 1<<16)}
	text, err := r.in.ReadBytes('\n')
	if errors.Is(err, io.EOF) {
		own, err := encode(header{journalFormat, parts})
		if err == nil && !bytes.HasPrefix(own, text) {
			err = &FaultError{1, errors.New("it is cut")}
		}
		return nil, err
	}
	if err != nil {
		return nil, err
	}
	var h header
	if err := json.Unmarshal(text, &h); err != nil {
		return nil, &FaultError{1, err}
	}
	if h.Format != journalFormat {
		return nil, &FaultError{1, fmt.Errorf("its format is %q, not %q", h.Format, journalFormat)}
	}
	r.length = len(text)
	if err := r.advance(); err != nil {
		return nil, err
	}
	if other := differing(h.Configuration, parts); len(other) > 0 {
		return r, &ConfigurationError{other}
	}
	return r, nil
}

// advance passes the line ahead and reads the next one. One that was not written whole is the end.
func (r *reader) advance() error {
	r.offset += int64(r.length)
	r.ahead, r.length = nil, 0
	text, err := r.in.ReadBytes('\n')
	if errors.Is(err, io.EOF) {
		return nil
	}
	if err != nil {
		return err
	}
	if string(text) == endLine {
		return nil
	}
	r.cases++
	if r.ahead, err = decode(text); err != nil {
		return &FaultError{r.cases + 1, err}
	}
	r.length = len(text)
	return nil
}

// differing names the parts that are not the same, or only in one list.
func differing(a, b []record.Part) []string {
	var names []string
	for _, list := range [][2][]record.Part{{a, b}, {b, a}} {
		for _, p := range list[0] {
			if !slices.Contains(list[1], p) && !slices.Contains(names, p.Name) {
				names = append(names, p.Name)
			}
		}
	}
	return names
}
