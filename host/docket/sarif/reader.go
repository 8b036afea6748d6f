package sarif

import (
	"cmp"
	"errors"
	"fmt"
	"io"
	"iter"
	"slices"
	"strconv"
	"strings"

	"github.com/shadowcourt/shadowcourt/abi"
	"github.com/shadowcourt/shadowcourt/host/docket"
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

	maxNameBytes    = 512
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
		p := &parser{reader: r, name: name, json: stream.NewJSON(in), yield: yield, run: newAnalysis()}
		err := p.logs()
		if errors.Is(err, errStopped) {
			return
		}
		if err != nil {
			if !errors.Is(p.give(), errStopped) {
				yield(docket.Entry{}, p.placed(err))
			}
			return
		}
		if p.left.Count() > 0 && r.Left != nil {
			r.Left(name, p.left)
		}
	}
}

// errStopped ends the reading when nobody wants more.
var errStopped = errors.New("stopped")

// parser is the state of one reading.
type parser struct {
	reader *Reader
	name   string
	json   *stream.JSON
	yield  func(docket.Entry, error) bool

	path    abi.Path
	wrong   []abi.Problem // of what is read: a result, a rule, or what stands around them
	run     *analysis
	results int
	left    Left
}

func (p *parser) placed(err error) error {
	if fault, ok := errors.AsType[*stream.TextError](err); ok {
		return docket.NewLineError(p.name, fault.Line, fault.Code, fault.Error())
	}
	return fmt.Errorf("reading %s, line %d: %w", p.name, p.json.Line(), err)
}

// logs reads the stream to its end.
func (p *parser) logs() error {
	head := p.json.Head(4)
	if kind := stream.Kind(head); kind != "" {
		return &stream.TextError{Code: docket.CodeNotText, Detail: "is " + kind + ", a SARIF log is UTF-8 text"}
	}
	if strings.HasPrefix(string(head), stream.MarkUTF8) {
		p.json.Drop(len(stream.MarkUTF8))
	}
	found := false
	for {
		more, err := p.json.More()
		switch {
		case err != nil:
			return err
		case !more && !found:
			return &stream.TextError{Code: docket.CodeEmptyDocket, Detail: "has no run of SARIF"}
		case !more:
			return nil
		}
		line := p.json.Line()
		log, err := p.log()
		if err := cmp.Or(p.reject(line), err); err != nil {
			return err
		}
		found = found || log
	}
}

// log reads a log, and says whether it is one.
func (p *parser) log() (found bool, err error) {
	err = p.object(func(key string) error {
		switch key {
		case "version":
			var version string
			err := p.name512(&version)
			if version != "" && version != "2.1.0" {
				p.fail(abi.CodeInvalidValue, "is "+strconv.Quote(version)+": version 2.1.0 can be read")
			}
			return err
		case "runs":
			found = true
			return p.array(p.readRun)
		}
		return p.json.Skip()
	})
	return found, err
}

// readRun reads a run to its end, and gives the results that waited for it.
func (p *parser) readRun() error {
	p.run = newAnalysis()
	line := p.json.Line()
	err := p.object(func(key string) error {
		switch key {
		case "tool":
			return p.tool()
		case "artifacts":
			p.run.hasFiles = true
			return p.array(p.file)
		case "results":
			return p.array(p.readResult)
		case "externalPropertyFileReferences":
			return p.elsewhere()
		}
		return p.json.Skip()
	})
	if err := cmp.Or(p.reject(line), err); err != nil {
		return err
	}
	return p.give()
}

// elsewhere says that results stand in other files.
func (p *parser) elsewhere() error {
	return p.object(func(key string) error {
		if key != "results" {
			return p.json.Skip()
		}
		p.fail(codeElsewhere, "names other files, which are not read: have the tool write one log")
		return p.json.Skip()
	})
}

// under reads what stands a step further down.
func (p *parser) under(step abi.PathElement, read func() error) error {
	p.path = append(p.path, step)
	err := read()
	p.path = p.path[:len(p.path)-1]
	return err
}

// fail notes what is wrong with the value that is read.
func (p *parser) fail(code abi.Code, detail string) {
	if len(p.wrong) < abi.MaxProblems {
		p.wrong = append(p.wrong, abi.Problem{Path: slices.Clone(p.path), Code: code, Detail: detail})
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
		return errStopped
	}
	return nil
}

// is says whether the next value is of a kind. Null is as if it were not there; any other is wrong. What it is not is passed over.
func (p *parser) is(kinds, expected string) (bool, error) {
	b, err := p.json.Next()
	if err != nil {
		return false, err
	}
	if strings.IndexByte(kinds, b) >= 0 {
		return true, nil
	}
	if b != 'n' {
		p.fail(abi.CodeWrongType, "is "+stream.KindOf(b)+", expected "+expected)
	}
	return false, p.json.Skip()
}

func (p *parser) object(each func(key string) error) error {
	if ok, err := p.is("{", "an object"); !ok {
		return err
	}
	return p.json.Object(func(key string) error {
		return p.under(abi.Field(bounded(key)), func() error { return each(key) })
	})
}

func (p *parser) array(each func() error) error {
	if ok, err := p.is("[", "a list"); !ok {
		return err
	}
	i := -1
	return p.json.Array(func() error {
		i++
		return p.under(abi.Index(i), each)
	})
}

// text reads a string of which at most so many bytes are kept.
func (p *parser) text(into *string, limit int) error {
	ok, err := p.is(`"`, "a string")
	if !ok {
		return err
	}
	*into, err = p.json.String(limit-limit/4, limit/4)
	return err
}

// name512 reads a string of one line, of which the head is kept.
func (p *parser) name512(into *string) error {
	var text string
	err := p.text(&text, 2*maxNameBytes)
	*into = bounded(text)
	return err
}

// names reads a list of strings, of which the first are kept.
func (p *parser) names(into *[]string, most int) error {
	return p.array(func() error {
		var name string
		err := p.name512(&name)
		if len(*into) < most {
			*into = append(*into, name)
		}
		return err
	})
}

func (p *parser) number(into *float64) error {
	ok, err := p.is("-0123456789", "a number")
	if !ok {
		return err
	}
	word, err := p.json.Word()
	if err == nil {
		*into, _ = strconv.ParseFloat(word, 64) // out of range: infinite
	}
	return err
}

// count reads a whole number; what is none, or is negative or too large, is -1.
func (p *parser) count(into *int) error {
	value := -1.0
	err := p.number(&value)
	*into = -1
	if value >= 0 && value < 1<<31 && value == float64(int(value)) {
		*into = int(value)
	}
	return err
}

// bounded is the first line of a name, as valid UTF-8 of bounded length.
func bounded(name string) string {
	name, _, _ = strings.Cut(strings.TrimSpace(name), "\n")
	if len(name) > maxNameBytes {
		name = strings.ToValidUTF8(name[:maxNameBytes], "") + "…"
	}
	return strings.ToValidUTF8(strings.TrimSpace(name), "\uFFFD")
}
