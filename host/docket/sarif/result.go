package sarif

import (
	"cmp"
	"net/url"
	"slices"
	"strconv"
	"strings"

	"github.com/shadowcourt/shadowcourt/abi"
	"github.com/shadowcourt/shadowcourt/host/docket/internal/jsontext"
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
	places, flows             int // locations and code flows, those included that are skipped
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

// readResults returns a reader of results that gives each as a case unless it has to wait. All are read into the same place.
func (p *parser) readResults() func() error {
	r := &result{}
	read := p.Read(p.resultFields(r))
	return p.List(func() error {
		line := p.Line()
		if err := p.reject(line); err != nil { // of what stands before it
			return err
		}
		if p.results++; p.results > MaxResults {
			if p.results == MaxResults+1 {
				p.fail(abi.CodeTooLarge, "is the first of more than "+strconv.Itoa(MaxResults)+" results, which are not read")
			}
			return p.after(p.Skip(), line)
		}
		*r = result{line: line, ruleIndex: -1, componentIndex: -1, rank: -1}
		if ok, err := p.Is("{", "an object"); !ok {
			if len(p.wrong) == 0 {
				p.fail(abi.CodeWrongType, "is null, expected an object")
			}
			return p.after(err, line)
		}
		if err := read(); err != nil {
			return err
		}
		r.check(p)
		if len(p.wrong) > 0 {
			return p.reject(line)
		}
		return p.hold(r)
	})
}

// after reports what is wrong, unless the reading ends with an error.
func (p *parser) after(err error, line int) error {
	if err != nil {
		return err
	}
	return p.reject(line)
}

func (p *parser) resultFields(r *result) jsontext.Fields {
	argument, status := "", ""
	place, other := p.location(&r.at, &r.code, nil), p.step(&r.others)
	readArgument, flow := p.Name(&argument), p.Read(jsontext.Fields{"threadFlows": p.List(p.frames(&r.flow, "locations"))})
	suppression := p.Read(jsontext.Fields{"status": p.Name(&status), "state": p.Name(&status)}) // drafts called it state
	return jsontext.Fields{
		"ruleId": p.Name(&r.ruleID), "ruleIndex": p.count(&r.ruleIndex), "kind": p.Name(&r.kind), "level": p.Name(&r.level),
		"baselineState": p.Name(&r.baseline), "rank": p.Number(&r.rank), "properties": p.properties(&r.properties),
		"rule": p.Read(jsontext.Fields{
			"id": p.first(&r.ruleID, p.Name(&r.ruleID)), "index": p.count(&r.ruleIndex),
			"toolComponent": p.Read(jsontext.Fields{"index": p.count(&r.componentIndex)}),
		}),
		"message": p.Read(jsontext.Fields{
			"text": p.text(&r.text, maxMessageBytes), "markdown": p.first(&r.text, p.text(&r.text, maxMessageBytes)),
			"id": p.Name(&r.messageID), "arguments": p.List(func() error {
				err := readArgument()
				if len(r.arguments) < maxArguments {
					r.arguments = append(r.arguments, argument)
				}
				return err
			}),
		}),
		"locations": p.List(func() error {
			if r.places++; r.places > 1 { // the first one is what the result is about
				return other()
			}
			return place()
		}),
		"relatedLocations": p.List(p.step(&r.related)),
		"codeFlows": p.List(func() error {
			if r.flows++; r.flows > 1 {
				return p.Skip()
			}
			return flow()
		}),
		"stacks": p.List(p.frames(&r.stack, "frames")),
		"suppressions": p.List(func() error {
			status = ""
			err := suppression()
			if len(r.suppressions) < maxTags {
				r.suppressions = append(r.suppressions, status)
			}
			return err
		}),
	}
}

// check says what a result lacks, or has that SARIF does not know.
func (r *result) check(p *parser) {
	for _, field := range []struct{ name, value, allowed string }{
		{"kind", r.kind, "notApplicable pass fail review open informational"},
		{"level", r.level, "none note warning error"},
		{"baselineState", r.baseline, "new unchanged updated absent"},
	} {
		if field.value != "" && !slices.Contains(strings.Fields(field.allowed), field.value) {
			p.Path = append(p.Path, abi.Field(field.name))
			p.fail(abi.CodeInvalidValue, "is "+strconv.Quote(field.value)+", expected one of "+field.allowed)
			p.Path = p.Path[:len(p.Path)-1]
		}
	}
	if r.text == "" && r.messageID == "" && r.ruleID == "" && r.ruleIndex < 0 {
		p.fail(abi.CodeMissingField, "has neither a message nor a rule: it is not known what was found")
	}
}

// step returns a reader of a location with what is said of it.
func (p *parser) step(into *[]step) func() error {
	s := step{}
	read := p.location(&s.at, nil, &s.said)
	return func() error {
		if len(*into) >= maxSteps {
			return p.Skip()
		}
		s = step{}
		err := read()
		*into = append(*into, s)
		return err
	}
}

// frames returns a reader of the steps of a flow or a stack: objects that have a location. The first flow or stack with steps counts.
func (p *parser) frames(into *[]step, list string) func() error {
	read := p.Read(jsontext.Fields{list: p.List(p.Read(jsontext.Fields{"location": p.step(into)}))})
	return func() error {
		if len(*into) > 0 {
			return p.Skip()
		}
		return read()
	}
}

// location returns a reader of a location; text and said may be nil.
func (p *parser) location(at *place, text *code, said *string) func() error {
	var name, full string
	logical := p.Read(jsontext.Fields{"name": p.Name(&name), "fullyQualifiedName": p.Name(&full)})
	fields := jsontext.Fields{
		"physicalLocation": p.physical(at, text),
		"logicalLocations": p.List(p.first(&at.logical, func() error {
			name, full = "", ""
			err := logical()
			at.logical = cmp.Or(full, name)
			return err
		})),
	}
	if said != nil {
		fields["message"] = p.Read(jsontext.Fields{"text": p.Name(said)})
	}
	return p.Read(fields)
}

func (p *parser) physical(at *place, text *code) func() error {
	fields := jsontext.Fields{"artifactLocation": p.artifact(at), "region": p.region(at, text)}
	if text != nil {
		around, in := place{}, code{}
		read := p.region(&around, &in)
		fields["contextRegion"] = func() error {
			around, in = place{}, code{}
			err := read()
			text.context, text.contextLine = in.region, around.line
			return err
		}
	}
	return p.Read(fields)
}

// region returns a reader of a region; text may be nil.
func (p *parser) region(at *place, text *code) func() error {
	fields := jsontext.Fields{"startLine": p.positive(&at.line), "startColumn": p.positive(&at.column)}
	if text != nil {
		fields["snippet"] = p.Read(jsontext.Fields{"text": p.text(&text.region, maxCodeBytes)})
	}
	return p.Read(fields)
}

// positive returns a reader of a line or a column; tools that don't know it write 0 or less.
func (p *parser) positive(into *int) func() error {
	read := p.count(into)
	return func() error {
		err := read()
		*into = max(*into, 0)
		return err
	}
}

func (p *parser) artifact(at *place) func() error {
	uri, index := "", 0
	read := p.Read(jsontext.Fields{"uri": p.Name(&uri), "index": p.count(&index)})
	return func() error {
		uri, index = "", -1
		err := read()
		at.file, at.index = fileOf(uri), index+1
		return err
	}
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
	return jsontext.Bounded(uri)
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
