package tap

import (
	"regexp"
	"strconv"
	"strings"

	"github.com/shadowcourt/shadowcourt/abi"
	"github.com/shadowcourt/shadowcourt/host/docket"
	"github.com/shadowcourt/shadowcourt/host/docket/internal/failing"
	"github.com/shadowcourt/shadowcourt/host/docket/internal/stream"
)

// level is that of a stream, or of a subtest by its indentation.
type level struct {
	indent  int
	name    string // of the subtest that the next deeper lines belong to
	heading string // a comment that stands for one
	failed  bool   // a point deeper than this level failed, since the last point here
	open    *point // that is not complete
	braces  bool   // its subtests follow it, in braces
}

// point is a test point.
type point struct {
	failing.Test

	failed bool
	comes  bool // has a description behind a dash
	said   stream.Clip
	yaml   stream.Clip
	hasYAML,
	inYAML bool
	yamlIndent int
}

// parser is the state of one reading.
type parser struct {
	reader *Reader
	name   string
	yield  func(docket.Entry, error) bool

	line           int
	found, stopped bool
	levels         []level // the outermost first
	file           string  // that prove names
	output         stream.Clip
	planned, ran   int // at the outermost level
	bailed         bool
}

func newParser(r *Reader, name string, yield func(docket.Entry, error) bool) *parser {
	p := &parser{reader: r, name: name, yield: yield, levels: []level{{}}}
	p.output = p.newClip()
	return p
}

func (p *parser) newClip() stream.Clip { return stream.NewClip(p.reader.HeadBytes, p.reader.TailBytes) }

var (
	// testPoint is "not ok 3 - name # TODO later {".
	testPoint = regexp.MustCompile(`^(not )?ok\b(?:\s+(\d+)\b)?(?:\s+(-)(?:\s|$))?\s*(.*?)\s*$`)
	planLine  = regexp.MustCompile(`^1\.\.(\d{1,9})\b`)
	bailLine  = regexp.MustCompile(`^Bail out!\s*(.*)$`)
	subtest   = regexp.MustCompile(`^#\s*Subtest:?\s*(.*)$`)
	// directive ends a description.
	directive = regexp.MustCompile(`(?i)(?:^|\s)#\s*(todo|skip)\w*\b.*$`)
	// timing ends one as node-tap and vitest write it, and bats where it is asked.
	timing = regexp.MustCompile(`\s+# time=\S+$|\s+in \d+ms$`)
	// flatPath is the path of a test, from its file on, as vitest writes it.
	flatPath = regexp.MustCompile(`^\S+\.\w+ > `)
	// proved is the file whose stream follows in the output of prove -v.
	proved = regexp.MustCompile(`^(\S+\.\w+) \.{2,}\s*$`)
)

// indentOf is how many blanks a line begins with.
func indentOf(line string) int { return len(line) - len(strings.TrimLeft(line, " ")) }

// take reads a line.
func (p *parser) take(line string) error {
	if p.intoYAML(line) {
		return nil
	}
	indent := indentOf(line)
	text := line[indent:]
	switch {
	case strings.HasPrefix(text, "TAP version "):
		p.found = true
		if indent == 0 {
			p.plan()
		}
	case planLine.MatchString(text):
		p.found = true
		if err := p.enter(indent); err != nil {
			return err
		}
		p.complete(len(p.levels) - 1)
		if n, _ := strconv.Atoi(planLine.FindStringSubmatch(text)[1]); indent == 0 {
			p.planned += n
		}
	case bailLine.MatchString(text):
		p.bail(bailLine.FindStringSubmatch(text)[1])
	case testPoint.MatchString(text):
		return p.point(indent, text)
	case strings.TrimSpace(text) == "---" && p.opened(indent) != nil:
		o := p.opened(indent)
		o.hasYAML, o.inYAML, o.yamlIndent = true, true, indent
	case text == "}" && p.closes(indent):
	case strings.HasPrefix(text, "#"):
		return p.comment(indent, text)
	case proved.MatchString(text) && indent == 0:
		p.plan()
		p.file = proved.FindStringSubmatch(text)[1]
	default:
		p.printed(line)
	}
	return nil
}

// intoYAML takes a line of the YAML behind a point. The end of the block ends it, and a point that is not indented as far, since the end
// may be missing.
func (p *parser) intoYAML(line string) bool {
	o := p.levels[len(p.levels)-1].open
	if o == nil || !o.inYAML {
		return false
	}
	indent := indentOf(line)
	switch {
	case strings.TrimSpace(line) == "..." && indent <= o.yamlIndent:
		o.inYAML = false
	case indent < o.yamlIndent && testPoint.MatchString(line[indent:]):
		o.inYAML = false
		return false
	default:
		o.yaml.Write(line[min(indent, o.yamlIndent):] + "\n")
	}
	return true
}

// opened is the point at the deepest level that may have YAML, which is indented further than the point.
func (p *parser) opened(indent int) *point {
	if l := &p.levels[len(p.levels)-1]; l.open != nil && indent > l.indent && !l.open.hasYAML {
		return l.open
	}
	return nil
}

// enter makes the level of an indentation the last one: deeper ones end, and one that is new begins. A point around it is complete then,
// unless its subtests follow it.
func (p *parser) enter(indent int) error {
	p.back(indent)
	at := len(p.levels) - 1
	if p.levels[at].indent == indent {
		return nil
	}
	if len(p.levels) > MaxNesting {
		return docket.NewLineError(p.name, p.line, abi.CodeTooDeep, "subtests nest deeper than "+strconv.Itoa(MaxNesting))
	}
	if !p.levels[at].braces {
		p.complete(at)
	}
	p.levels = append(p.levels, level{indent: indent})
	return nil
}

// back ends the levels that are deeper than an indentation.
func (p *parser) back(indent int) {
	for len(p.levels) > 1 && p.levels[len(p.levels)-1].indent > indent {
		p.leave()
	}
}

// leave ends the deepest level.
func (p *parser) leave() {
	p.complete(len(p.levels) - 1)
	last := p.levels[len(p.levels)-1]
	p.levels = p.levels[:len(p.levels)-1]
	if last.failed {
		p.levels[len(p.levels)-1].failed = true
	}
}

func (p *parser) point(indent int, text string) error {
	p.found = true
	p.reader.Tests++
	if err := p.enter(indent); err != nil {
		return err
	}
	at := len(p.levels) - 1
	p.complete(at)
	if at == 0 {
		p.ran++
	}
	m := testPoint.FindStringSubmatch(text)
	description, braces := strings.CutSuffix(m[4], "{")
	description = strings.TrimSpace(description)
	o := &point{failed: m[1] != "" && !directive.MatchString(description), comes: m[3] != "", said: p.newClip(), yaml: stream.NewClip(maxYAMLBytes, 1)}
	o.Line = p.line
	description = timing.ReplaceAllString(directive.ReplaceAllString(description, ""), "")
	if o.Name = strings.ReplaceAll(strings.ReplaceAll(description, `\#`, "#"), `\\`, `\`); o.Name == "" {
		o.Name = strings.TrimSpace("test " + m[2])
	}
	l := &p.levels[at]
	o.Group = p.group(at, !o.comes)
	if i := strings.LastIndex(o.Name, " > "); i > 0 && flatPath.MatchString(o.Name) {
		o.Group, o.Name = strings.TrimPrefix(o.Group+" > "+o.Name[:i], " > "), o.Name[i+len(" > "):]
	}
	l.open, l.braces = o, braces
	if braces {
		l.name = o.Name
	}
	return nil
}

// group is the path of the subtests around a level.
func (p *parser) group(at int, headed bool) string {
	var path []string
	if p.file != "" {
		path = append(path, p.file)
	}
	for _, l := range p.levels[:at] {
		if l.name != "" {
			path = append(path, l.name)
		}
	}
	if heading := p.levels[at].heading; headed && heading != "" {
		path = append(path, heading)
	}
	return strings.Join(path, " > ")
}

// closes ends the subtests in braces.
func (p *parser) closes(indent int) bool {
	for at := len(p.levels) - 1; at >= 0; at-- {
		if l := &p.levels[at]; l.indent == indent && l.braces {
			p.back(indent)
			p.complete(at)
			return true
		}
	}
	return false
}

// complete gives the case of the point that is open at a level, if it failed itself.
func (p *parser) complete(at int) {
	l := &p.levels[at]
	o := l.open
	if o == nil {
		return
	}
	below := l.failed
	l.open, l.braces, l.failed, l.name = nil, false, false, ""
	if at > 0 && (o.failed || below) {
		p.levels[at-1].failed = true
	}
	if !o.failed {
		return
	}
	fields := fieldsOf(o.yaml.Text())
	if why := fields["failureType"]; below && (why == "" || why == "subtestsFailed") {
		return
	}
	o.document(fields, p.output)
	p.output = p.newClip()
	p.give(&o.Test)
}

func (p *parser) give(t *failing.Test) {
	if !p.stopped {
		p.stopped = !p.yield(t.Entry(p.name, &p.reader.ids), nil)
	}
}

// comment takes one: the name of a subtest, what a program says of the point that failed before, or a heading.
func (p *parser) comment(indent int, text string) error {
	p.back(indent)
	if m := subtest.FindStringSubmatch(text); m != nil {
		if err := p.enter(indent); err != nil {
			return err
		}
		at := len(p.levels) - 1
		p.complete(at)
		p.levels[at].name = strings.TrimSpace(m[1])
		return nil
	}
	said := strings.TrimPrefix(text, "#")
	at := len(p.levels) - 1
	switch o := p.levels[at].open; {
	case o != nil && o.failed && !o.hasYAML:
		o.said.Write(strings.TrimPrefix(said, " ") + "\n")
	case indent == p.levels[at].indent && p.planned == 0: // tape writes its plan last, and others print what they like
		p.complete(at)
		p.levels[at].heading = strings.TrimSpace(said)
	}
	return nil
}

// printed takes a line that is no TAP: of the point that failed before, as mocha writes its stack, or of the next one.
func (p *parser) printed(line string) {
	l := &p.levels[len(p.levels)-1]
	if o := l.open; o != nil && o.failed && !o.hasYAML && indentOf(line) > l.indent {
		o.said.Write(strings.TrimPrefix(line, strings.Repeat(" ", l.indent+2)) + "\n")
		return
	}
	if strings.TrimSpace(line) != "" || !p.output.Empty() {
		p.output.Write(line + "\n")
	}
}

// bail makes a case of a run that was given up.
func (p *parser) bail(reason string) {
	if p.found = true; p.bailed {
		return
	}
	p.bailed = true
	p.back(0)
	p.complete(0)
	p.broken("Bail out! " + reason)
}

// plan makes a case of a stream that ended before its plan was carried out.
func (p *parser) plan() {
	p.back(0)
	p.complete(0)
	if p.planned > p.ran && !p.bailed && p.line > 0 {
		p.broken("Planned " + strconv.Itoa(p.planned) + " tests, and " + strconv.Itoa(p.ran) + " ran.")
	}
	p.planned, p.ran, p.bailed, p.file = 0, 0, false, ""
	p.levels[0] = level{}
}

// broken makes a case of a run that broke off.
func (p *parser) broken(said string) {
	t := failing.Test{Line: p.line, Group: p.file}
	if t.Group == "" {
		t.Group = "run"
	}
	text := p.newClip()
	text.Write(strings.TrimSpace(said) + "\n")
	t.Report(t.Documents.Name("failure"), &text)
	t.Print(t.Documents.Name("output"), &p.output)
	p.output = p.newClip()
	p.give(&t)
}

func (p *parser) end() { p.plan() }
