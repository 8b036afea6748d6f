package sarif

import (
	"cmp"
	"errors"
	"io"
	"iter"
	"slices"
	"strconv"

	"github.com/shadowcourt/shadowcourt/abi"
	"github.com/shadowcourt/shadowcourt/host/docket"
	"github.com/shadowcourt/shadowcourt/host/docket/internal/jsontext"
	"github.com/shadowcourt/shadowcourt/host/docket/internal/stream"
	"github.com/shadowcourt/shadowcourt/host/docket/internal/testlog"
)

// The labels of every case.
const (
	Real          = "real"
	FalsePositive = "false-positive"
)

// The bounds of a log.
const (
	// DefaultHeldBytes is how much of the texts of results waits for their rules, by default.
	DefaultHeldBytes = 64 << 20
	// MaxResults is how many results of a log are read.
	MaxResults = 1 << 20

	maxMessageBytes = 64 << 10
	maxCodeBytes    = 16 << 10
	maxRuleBytes    = 16 << 10 // of one text of a rule
	maxRules        = 1 << 16  // of a run
	maxRulesBytes   = 32 << 20 // of all rules of a run
	maxFiles        = 1 << 16  // that results name by an index
	maxFilesBytes   = 8 << 20
	maxSteps        = 100 // of a flow, and of related locations
	maxTags         = 32
	maxArguments    = 32 // of a message
)

// codeElsewhere: results of the log stand in another file.
const codeElsewhere abi.Code = "results_elsewhere"

// Reader reads SARIF logs. The zero value is ready. One Reader for several files gives every case an id of its own. Not safe for
// concurrent use.
type Reader struct {
	// HeldBytes is how much of the texts of results waits for their rules, which many tools write behind them. Default:
	// DefaultHeldBytes. Beyond it results are given without what is not known yet.
	HeldBytes int
	// Truth takes what people decided for the truth: a suppressed result is a case whose truth is FalsePositive, and one whose
	// suppression was rejected is Real. Cases then have no code of the tool's: comments in it suppress results.
	Truth bool
	// Code, if it is not nil, gives the lines around one of a file, and the number of the first, for results that bring no code: nothing
	// where it has none.
	Code func(file string, line int) (text string, first int)
	// Left, if it is not nil, is called at the end of a log with results that are no cases.
	Left func(log string, results Left)

	ids testlog.IDs
}

// Left counts results that are no cases.
type Left struct {
	Suppressed, Unchanged, Absent, Passed int
}

// Count is how many they are.
func (l Left) Count() int { return l.Suppressed + l.Unchanged + l.Absent + l.Passed }

// Read gives the findings of a log as cases, in their order and with the line on which a result begins. A log without findings
// has no case, and no error.
//
// A result or a rule that is wrong is a *docket.LineError with the line and the path, and the others are read. Where the text is
// no JSON, or ends early, a *docket.LineError with the line (0: the file as a whole) is the last, after the results that were
// complete. Any other error is the last, too, and comes from in.
//
// Memory is bounded by one result, HeldBytes of results that wait for the rules of their run, and 40 MiB of rules and names of files.
func (r *Reader) Read(name string, in io.Reader) iter.Seq2[docket.Entry, error] {
	return func(yield func(docket.Entry, error) bool) {
		p := &parser{Text: jsontext.New(in), reader: r, name: name, yield: yield, run: &analysis{}}
		p.Wrong, p.readRuns = p.fail, p.List(p.readRun())
		err := p.Roots("a SARIF log", "has no run of SARIF", p.log)
		switch {
		case errors.Is(err, stream.ErrStopped):
		case err != nil:
			if !errors.Is(p.give(), stream.ErrStopped) {
				yield(docket.Entry{}, p.Fault(name, err))
			}
		case p.left.Count() > 0 && r.Left != nil:
			r.Left(name, p.left)
		}
	}
}

// parser is the state of one reading.
type parser struct {
	*jsontext.Text

	reader *Reader
	name   string
	yield  func(docket.Entry, error) bool

	readRuns func() error // made once: it has many parts

	wrong   []abi.Problem // of what is read: a result, a rule, or what stands around them
	run     *analysis
	results int
	left    Left
}

// log reads a log, and says whether it is one.
func (p *parser) log() (found bool, err error) {
	line, version := p.Line(), ""
	err = p.Read(jsontext.Fields{
		"version": func() error {
			err := p.Name(&version)()
			if version != "" && version != "2.1.0" {
				p.fail(abi.CodeInvalidValue, "is "+strconv.Quote(version)+": version 2.1.0 can be read")
			}
			return err
		},
		"runs": func() error { found = true; return p.readRuns() },
	})()
	return found, cmp.Or(p.reject(line), err)
}

// readRun returns a reader of a run to its end that gives the results that waited for it.
func (p *parser) readRun() func() error {
	files := p.files()
	read := p.Read(jsontext.Fields{
		"tool": p.tool(), "results": p.readResults(),
		"artifacts": func() error { p.run.hasFiles = true; return files() },
		"externalPropertyFileReferences": p.Read(jsontext.Fields{"results": func() error {
			p.fail(codeElsewhere, "names other files, which are not read: have the tool write one log")
			return p.Skip()
		}}),
	})
	return func() error {
		*p.run = analysis{} // in its place: the readers write there
		line := p.Line()
		err := read()
		if err := cmp.Or(p.reject(line), err); err != nil {
			return err
		}
		return p.give()
	}
}

// fail notes what is wrong with the value that is read.
func (p *parser) fail(code abi.Code, detail string) {
	if len(p.wrong) < abi.MaxProblems {
		p.wrong = append(p.wrong, abi.Problem{Path: slices.Clone(p.Path), Code: code, Detail: detail})
	}
}

// reject reports what is wrong with what began on a line, if anything is.
func (p *parser) reject(line int) error {
	if len(p.wrong) == 0 {
		return nil
	}
	err := &docket.LineError{File: p.name, Line: line, Problems: p.wrong}
	p.wrong = nil
	if !p.yield(docket.Entry{}, err) {
		return stream.ErrStopped
	}
	return nil
}

// text returns a reader of a string of which at most so many bytes are kept.
func (p *parser) text(into *string, limit int) func() error {
	return p.Clip(into, limit-limit/4, limit/4)
}

// first returns a reader of a text that is skipped where there is one already.
func (p *parser) first(into *string, read func() error) func() error {
	return func() error {
		if *into != "" {
			return p.Skip()
		}
		return read()
	}
}

// count returns a reader of a whole number; anything else, and a number that is negative or too large, is -1.
func (p *parser) count(into *int) func() error {
	return func() error {
		value := -1.0
		err := p.Number(&value)()
		*into = -1
		if value >= 0 && value < 1<<31 && value == float64(int(value)) {
			*into = int(value)
		}
		return err
	}
}
