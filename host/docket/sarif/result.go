package sarif

import (
	"net/url"
	"strconv"
	"strings"

	"github.com/shadowcourt/shadowcourt/abi"
)

// result is what is read of one.
type result struct {
	line                      int
	ruleID                    string
	ruleIndex, componentIndex int
	kind, level, baseline     string
	rank                      float64
	text, messageID           string
	arguments                 []string
	at                        place
	code                      code
	others                    []step // further locations
	related                   []step
	flow, stack               []step
	flows                     int // code flows
	suppressions              []string
	properties                properties
}

// place is a file, or an index into those of the run, and a line and column from 1; 0 where they are not known.
type place struct {
	file         string
	index        int
	line, column int
	logical      string // what it is called in the language of the code
}

// code is the text of a place, and what stands around it from a line on.
type code struct {
	region, context string
	contextLine     int
}

// step is a place with what is said of it.
type step struct {
	at   place
	said string
}

// bytes are about those that it holds.
func (r *result) bytes() int {
	const each = 256
	n := len(r.text) + len(r.code.region) + len(r.code.context) + 4*each
	for _, list := range [][]step{r.others, r.related, r.flow, r.stack} {
		for _, s := range list {
			n += len(s.at.file) + len(s.said) + each
		}
	}
	return n
}

// readResult reads a result, and gives it as a case unless it has to wait.
func (p *parser) readResult() error {
	line := p.json.Line()
	if err := p.reject(line); err != nil { // of what stands before it
		return err
	}
	if p.results++; p.results > MaxResults {
		if p.results == MaxResults+1 {
			p.fail(abi.CodeTooLarge, "is the first of more than "+strconv.Itoa(MaxResults)+" results, which are not read")
		}
		return p.after(p.json.Skip(), line)
	}
	r := &result{line: line, ruleIndex: -1, componentIndex: -1, rank: -1}
	if ok, err := p.is("{", "an object"); !ok {
		if len(p.wrong) == 0 {
			p.fail(abi.CodeWrongType, "is null, expected an object")
		}
		return p.after(err, line)
	}
	err := p.object(func(key string) error { return p.resultField(r, key) })
	if err != nil {
		return err
	}
	r.check(p)
	if len(p.wrong) > 0 {
		return p.reject(line)
	}
	return p.hold(r)
}

// after reports what is wrong, unless the reading ends with an error.
func (p *parser) after(err error, line int) error {
	if err != nil {
		return err
	}
	return p.reject(line)
}

func (p *parser) resultField(r *result, key string) error {
	switch key {
	case "ruleId":
		return p.name512(&r.ruleID)
	case "ruleIndex":
		return p.count(&r.ruleIndex)
	case "rule":
		return p.object(func(key string) error { return p.reference(r, key) })
	case "kind":
		return p.name512(&r.kind)
	case "level":
		return p.name512(&r.level)
	case "baselineState":
		return p.name512(&r.baseline)
	case "rank":
		return p.number(&r.rank)
	case "message":
		return p.object(func(key string) error { return p.resultMessage(r, key) })
	case "locations":
		return p.locations(r)
	case "relatedLocations":
		return p.steps(&r.related)
	case "codeFlows":
		return p.array(func() error { return p.codeFlow(r) })
	case "stacks":
		return p.array(func() error {
			if len(r.stack) > 0 {
				return p.json.Skip()
			}
			return p.frames(&r.stack, "frames")
		})
	case "suppressions":
		return p.array(func() error { return p.suppression(r) })
	case "properties":
		return p.properties(&r.properties)
	}
	return p.json.Skip()
}

// reference reads a reference to a rule.
func (p *parser) reference(r *result, key string) error {
	switch key {
	case "id":
		if r.ruleID != "" {
			return p.json.Skip()
		}
		return p.name512(&r.ruleID)
	case "index":
		return p.count(&r.ruleIndex)
	case "toolComponent":
		return p.object(func(key string) error {
			if key == "index" {
				return p.count(&r.componentIndex)
			}
			return p.json.Skip()
		})
	}
	return p.json.Skip()
}

func (p *parser) resultMessage(r *result, key string) error {
	switch key {
	case "text":
		return p.text(&r.text, maxMessageBytes)
	case "markdown":
		if r.text != "" {
			return p.json.Skip()
		}
		var text string
		err := p.text(&text, maxMessageBytes)
		if r.text == "" {
			r.text = text
		}
		return err
	case "id":
		return p.name512(&r.messageID)
	case "arguments":
		return p.names(&r.arguments, maxArguments)
	}
	return p.json.Skip()
}

// check says what a result lacks, or has that SARIF does not know.
func (r *result) check(p *parser) {
	for _, field := range []struct{ name, value, allowed string }{
		{"kind", r.kind, "notApplicable pass fail review open informational"},
		{"level", r.level, "none note warning error"},
		{"baselineState", r.baseline, "new unchanged updated absent"},
	} {
		if field.value != "" && !known(field.value, strings.Fields(field.allowed)...) {
			p.path = append(p.path, abi.Field(field.name))
			p.fail(abi.CodeInvalidValue, "is "+strconv.Quote(field.value)+", expected one of "+field.allowed)
			p.path = p.path[:len(p.path)-1]
		}
	}
	if r.text == "" && r.messageID == "" && r.ruleID == "" && r.ruleIndex < 0 {
		p.fail(abi.CodeMissingField, "has neither a message nor a rule: it is not known what was found")
	}
}

// locations reads those of a result. The first is what it is about.
func (p *parser) locations(r *result) error {
	first := true
	return p.array(func() error {
		if first {
			first = false
			return p.location(&r.at, &r.code, nil)
		}
		return p.step(&r.others)
	})
}

// steps reads locations with what is said of them.
func (p *parser) steps(into *[]step) error {
	return p.array(func() error { return p.step(into) })
}

func (p *parser) step(into *[]step) error {
	if len(*into) >= maxSteps {
		return p.json.Skip()
	}
	var s step
	err := p.location(&s.at, nil, &s.said)
	*into = append(*into, s)
	return err
}

// codeFlow keeps the steps of the first thread of the first flow.
func (p *parser) codeFlow(r *result) error {
	if r.flows++; r.flows > 1 {
		return p.json.Skip()
	}
	return p.object(func(key string) error {
		if key != "threadFlows" {
			return p.json.Skip()
		}
		return p.array(func() error {
			if len(r.flow) > 0 {
				return p.json.Skip()
			}
			return p.frames(&r.flow, "locations")
		})
	})
}

// frames reads the steps of a flow or a stack: objects that have a location.
func (p *parser) frames(into *[]step, list string) error {
	return p.object(func(key string) error {
		if key != list {
			return p.json.Skip()
		}
		return p.array(func() error {
			return p.object(func(key string) error {
				if key != "location" {
					return p.json.Skip()
				}
				return p.step(into)
			})
		})
	})
}

// location reads one; text and said may be nil.
func (p *parser) location(at *place, text *code, said *string) error {
	return p.object(func(key string) error {
		switch {
		case key == "physicalLocation":
			return p.physical(at, text)
		case key == "logicalLocations":
			return p.array(func() error {
				if at.logical != "" {
					return p.json.Skip()
				}
				return p.logical(at)
			})
		case key == "message" && said != nil:
			return p.object(func(key string) error {
				if key == "text" {
					return p.name512(said)
				}
				return p.json.Skip()
			})
		}
		return p.json.Skip()
	})
}

func (p *parser) logical(at *place) error {
	var name, full string
	err := p.object(func(key string) error {
		switch key {
		case "name":
			return p.name512(&name)
		case "fullyQualifiedName":
			return p.name512(&full)
		}
		return p.json.Skip()
	})
	if at.logical = full; full == "" {
		at.logical = name
	}
	return err
}

func (p *parser) physical(at *place, text *code) error {
	return p.object(func(key string) error {
		switch {
		case key == "artifactLocation":
			return p.artifact(at)
		case key == "region":
			return p.region(at, text)
		case key == "contextRegion" && text != nil:
			around := place{}
			in := code{}
			err := p.region(&around, &in)
			text.context, text.contextLine = in.region, around.line
			return err
		}
		return p.json.Skip()
	})
}

func (p *parser) region(at *place, text *code) error {
	return p.object(func(key string) error {
		switch {
		case key == "startLine":
			return p.positive(&at.line)
		case key == "startColumn":
			return p.positive(&at.column)
		case key == "snippet" && text != nil:
			return p.object(func(key string) error {
				if key == "text" {
					return p.text(&text.region, maxCodeBytes)
				}
				return p.json.Skip()
			})
		}
		return p.json.Skip()
	})
}

// positive reads a line or a column; tools that don't know it write 0 or less.
func (p *parser) positive(into *int) error {
	err := p.count(into)
	*into = max(*into, 0)
	return err
}

func (p *parser) artifact(at *place) error {
	at.index = 0
	var uri string
	err := p.object(func(key string) error {
		switch key {
		case "uri":
			return p.name512(&uri)
		case "index":
			err := p.count(&at.index)
			at.index++
			return err
		}
		return p.json.Skip()
	})
	at.file = fileOf(uri)
	return err
}

// fileOf is the path that a URI names. One of a file is without its scheme, others stay as they are.
func fileOf(uri string) string {
	if rest, ok := strings.CutPrefix(uri, "file://"); ok {
		if i := strings.IndexByte(rest, '/'); i > 0 && strings.EqualFold(rest[:i], "localhost") {
			rest = rest[i:]
		}
		uri = rest
		if len(uri) > 2 && uri[0] == '/' && uri[2] == ':' { // "/C:/src"
			uri = uri[1:]
		}
	} else {
		uri = strings.TrimPrefix(uri, "file:")
	}
	if !strings.Contains(uri, "://") {
		if path, err := url.PathUnescape(uri); err == nil {
			uri = path
		}
		uri = strings.TrimPrefix(uri, "./")
	}
	return bounded(uri)
}

// suppression reads one: its status, or "" where it has none.
func (p *parser) suppression(r *result) error {
	status := ""

	err := p.object(func(key string) error {
		if key == "status" || key == "state" { // drafts called it state
			return p.name512(&status)
		}
		return p.json.Skip()
	})
	if len(r.suppressions) < maxTags {
		r.suppressions = append(r.suppressions, status)
	}
	return err
}

// decided is what people said of a result: FalsePositive if it is suppressed, Real if that was rejected, "" if nothing is decided. One
// that is under review decides nothing.
func (r *result) decided() string {
	decided := ""
	for _, status := range r.suppressions {
		switch status {
		case "", "accepted":
			if decided == "" {
				decided = FalsePositive
			}
		case "rejected":
			decided = Real
		default:
			return ""
		}
	}
	return decided
}
