package reportportal

import (
	"cmp"
	"errors"
	"io"
	"slices"
	"strings"

	"github.com/shadowcourt/shadowcourt/abi"
	"github.com/shadowcourt/shadowcourt/host/docket"
	"github.com/shadowcourt/shadowcourt/host/docket/internal/failing"
	"github.com/shadowcourt/shadowcourt/host/docket/internal/jsontext"
	"github.com/shadowcourt/shadowcourt/host/docket/internal/stream"
)

// maxSteps is how deep steps may nest.
const maxSteps = 32

// parser is the state of one reading.
type parser struct {
	reader *Reader
	name   string
	json   *jsontext.Text

	found  int              // items and logs, those that are wrong included
	report func(error) bool // what is wrong with an object; false ends the reading
	items  []*item
	byID   map[string]*item
	early  map[string]*log // of items that were not read yet
	labels labels
}

func newParser(r *Reader, name string, in io.Reader, report func(error) bool) *parser {
	return &parser{reader: r, name: name, json: jsontext.New(in), report: report, byID: map[string]*item{}, early: map[string]*log{}}
}

// value reads any value; parent is the object that it stands in.
func (p *parser) value(parent *object) error {
	b, err := p.json.Next()
	if err != nil {
		return err
	}
	switch b {
	case '{':
		return p.object(parent)
	case '[':
		return p.json.List(func() error { return p.value(parent) })()
	default:
		if p.inPage() {
			return errors.Join(p.reject([]fieldError{{line: p.json.Line(), code: abi.CodeWrongType, detail: "is no object"}}), p.json.Skip())
		}
		return p.json.Skip()
	}
}

// inPage says whether the value is one of those that a page of the API lists.
func (p *parser) inPage() bool {
	n := len(p.json.Path)
	if n < 2 {
		return false
	}
	_, listed := p.json.Path[n-1].IsIndex()
	return listed && p.json.Path[n-2].Name() == "content"
}

// reject reports what is wrong with the object that is read, which is passed over.
func (p *parser) reject(wrong []fieldError) error {
	p.found++
	err := &docket.LineError{File: p.name, Line: wrong[0].line}
	for _, w := range wrong {
		err.Problems = append(err.Problems, abi.Problem{Path: slices.Concat(p.json.Path, w.path), Code: w.code, Detail: w.detail})
	}
	if !p.report(err) {
		return stream.ErrStopped
	}
	return nil
}

// object is what of a JSON object can be read here; what it is shows at its end.
type object struct {
	line   int
	keys   map[string]bool   // that it has
	text   map[string]string // strings, and ids that are numbers
	flags  map[string]bool
	wrong  []fieldError // fields that are not of their types
	group  string       // the innermost of pathNames
	issue  issue
	nested *log // logs in it
}

// issue is what was decided about an item.
type issue struct {
	kind         string
	autoAnalyzed bool
}

// newObject makes an object that begins here.
func (p *parser) newObject() *object {
	return &object{line: p.json.Line(), keys: map[string]bool{}, text: map[string]string{}, flags: map[string]bool{}}
}

// object reads an object and keeps it when it is an item, a log or a defect type. One that looks like it but is wrong is
// reported, and the others are read.
func (p *parser) object(parent *object) error {
	o := p.newObject()
	if err := p.json.Object(func(key string) error { return p.field(o, key) }); err != nil {
		return err
	}
	switch {
	case o.isItem():
		o.lacks("name")
		o.lacks("type")
		if o.lacks("status"); o.has("status") && !slices.Contains(statuses(), strings.ToUpper(o.text["status"])) {
			o.fail(o.line, "status", abi.CodeInvalidValue, "is no status of ReportPortal")
		}
		if len(o.wrong) > 0 {
			return p.reject(o.wrong)
		}
		p.item(o)
	case o.keys["message"] && (o.keys["level"] || o.keys["itemId"]):
		if len(o.wrong) > 0 {
			return p.reject(o.wrong)
		}
		p.log(parent, o)
	case o.keys["locator"] && (o.keys["typeRef"] || o.keys["longName"]):
		if len(o.wrong) > 0 {
			return p.reject(o.wrong)
		}
		p.labels.add(o.text["locator"], o.text["typeRef"], o.text["longName"])
	default:
		p.into(parent, o)
	}
	return nil
}

// statuses are all that an item may have.
func statuses() []string {
	return []string{
		"PASSED", "FAILED", "SKIPPED", "INTERRUPTED", "STOPPED", "CANCELLED", "IN_PROGRESS", "INFO", "WARN", "UNTESTED", "RESETED", "TO_INVESTIGATE",
	}
}

// isItem tells an item, or one that lacks something, from a launch, which has a name and a status and no type.
func (o *object) isItem() bool {
	n := 0
	for _, key := range []string{"name", "type", "status"} {
		if o.keys[key] {
			n++
		}
	}
	return n == 3 || n == 2 && (o.keys["type"] || o.keys["hasStats"] || o.keys["hasChildren"] || o.keys["parent"] || o.keys["codeRef"])
}

// lacks notes a field that is needed and isn't there.
func (o *object) lacks(key string) {
	if !o.has(key) && !slices.ContainsFunc(o.wrong, func(e fieldError) bool { return e.path[0].Name() == key }) {
		o.fail(o.line, key, abi.CodeMissingField, "is missing")
	}
}

// into hands the logs in an object that is nothing itself on to the one that it stands in, as a page of logs in an item.
func (p *parser) into(parent, o *object) {
	if parent == nil || o.nested == nil {
		return
	}
	if parent.nested == nil {
		parent.nested = o.nested
		return
	}
	parent.nested.join(o.nested)
}

func (p *parser) field(o *object, key string) error {
	o.keys[key] = true
	switch key {
	case "id", "itemId", "parent", "uuid", "name", "type", "status", "level", "codeRef", "locator", "typeRef", "longName":
		return p.text(o, key)
	case "message":
		clip := p.newClip()
		return p.clipped(o, key, clip.MaxHead, clip.MaxTail)
	case "hasChildren", "hasStats":
		return p.flag(o, key)
	case "issue":
		return p.issue(o)
	case "pathNames":
		return p.names(o)
	case "statistics":
		return p.statistics()
	case "retries":
		return p.json.Skip()
	default:
		return p.nested(o, key)
	}
}

// nested reads a value that may hold items and logs.
func (p *parser) nested(o *object, key string) error {
	return p.json.Under(abi.Field(key), func() error { return p.value(o) })
}

// text reads a string, or a number where an id may be one.
func (p *parser) text(o *object, key string) error { return p.clipped(o, key, failing.MaxNameBytes, 1) }

func (p *parser) clipped(o *object, key string, head, tail int) error {
	line := p.json.Line()
	b, err := p.json.Next()
	if err != nil {
		return err
	}
	switch b {
	case '"':
		o.text[key], err = p.json.String(head, tail)
		return err
	case '{', '[':
		o.fail(line, key, abi.CodeWrongType, "is no string")
		return p.nested(o, key)
	}
	word, err := p.json.Word()
	switch {
	case err != nil || word == "null":
	case b != 't' && b != 'f' && (key == "id" || key == "itemId" || key == "parent"):
		o.text[key] = word
	default:
		o.fail(line, key, abi.CodeWrongType, "is no string")
	}
	return err
}

func (p *parser) flag(o *object, key string) error {
	line := p.json.Line()
	b, err := p.json.Next()
	if err != nil {
		return err
	}
	if b != 't' && b != 'f' {
		if b != 'n' {
			o.fail(line, key, abi.CodeWrongType, "is neither true nor false")
		}
		return p.json.Skip()
	}
	word, err := p.json.Word()
	o.flags[key] = word == "true"
	return err
}

// inside reads the fields of an object, or passes over what is none, and says so.
func (p *parser) inside(o *object, key string, each func(key string) error) error {
	line := p.json.Line()
	b, err := p.json.Next()
	if err != nil {
		return err
	}
	if b == '{' {
		return p.json.Object(each)
	}
	if b != 'n' {
		o.fail(line, key, abi.CodeWrongType, "is no object")
	}
	return p.json.Skip()
}

func (p *parser) issue(o *object) error {
	in := p.newObject()
	err := p.inside(o, "issue", func(key string) error {
		switch key {
		case "issueType":
			return p.text(in, key)
		case "autoAnalyzed":
			return p.flag(in, key)
		default:
			return p.json.Skip()
		}
	})
	for _, w := range in.wrong {
		w.path = slices.Concat(abi.Path{abi.Field("issue")}, w.path)
		o.wrong = append(o.wrong, w)
	}
	o.issue = issue{kind: in.text["issueType"], autoAnalyzed: in.flags["autoAnalyzed"]}
	p.labels.see(o.issue.kind)
	return err
}

// names reads pathNames, of which the last item is the suite that an item stands in.
func (p *parser) names(o *object) error {
	var launch, suite string
	err := p.inside(o, "pathNames", func(key string) error {
		in := p.newObject()
		each := func(inner string) error {
			if inner == "name" {
				return p.text(in, inner)
			}
			return p.json.Skip()
		}
		b, err := p.json.Next()
		switch {
		case err != nil:
			return err
		case key == "launchPathName":
			err = p.inside(o, "pathNames", each)
			launch = in.text["name"]
		case key == "itemPaths" && b == '[':
			err = p.json.Array(func() error { return p.inside(o, "pathNames", each) })
			suite = in.text["name"]
		default:
			err = p.json.Skip()
		}
		return err
	})
	o.group = suite
	if o.group == "" {
		o.group = launch
	}
	return err
}

// statistics reads the defect types that are in use: {"defects": {"product_bug": {"total": 1, "pb001": 1}}}.
func (p *parser) statistics() error {
	return p.json.Read(jsontext.Fields{"defects": func() error {
		return p.json.Each(func(string) error {
			return p.json.Each(func(locator string) error {
				if locator != "total" {
					p.labels.see(locator)
				}
				return p.json.Skip()
			})
		})
	}})()
}

func (o *object) has(key string) bool { return strings.TrimSpace(o.text[key]) != "" }

// fail notes a field that is wrong; it counts when the object turns out to be one of ReportPortal's.
func (o *object) fail(line int, key string, code abi.Code, detail string) {
	o.wrong = append(o.wrong, fieldError{line: line, path: abi.Path{abi.Field(key)}, code: code, detail: detail})
}

func (p *parser) newClip() stream.Clip {
	return stream.NewClip(cmp.Or(max(0, p.reader.HeadBytes), DefaultHeadBytes), cmp.Or(max(0, p.reader.TailBytes), DefaultTailBytes))
}
