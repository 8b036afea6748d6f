package reportportal

import (
	"io"
	"strings"

	"github.com/shadowcourt/shadowcourt/abi"
	"github.com/shadowcourt/shadowcourt/host/docket/internal/jsonstream"
	"github.com/shadowcourt/shadowcourt/host/docket/internal/testlog"
)

// The most of a name or another short field, and of the nesting of steps.
const (
	maxNameBytes = 512
	maxSteps     = 32
)

// parser is the state of one reading.
type parser struct {
	reader *Reader
	name   string
	json   *jsonstream.Reader

	found  int // items and logs
	items  []*item
	byID   map[string]*item
	early  map[string]*log // of items that were not read yet
	labels labels
}

func newParser(r *Reader, name string, in io.Reader) *parser {
	return &parser{reader: r, name: name, json: jsonstream.New(in), byID: map[string]*item{}, early: map[string]*log{}}
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
		return p.json.Array(func() error { return p.value(parent) })
	default:
		return p.json.Skip()
	}
}

// object is what of a JSON object can be read here; what it is shows at its end.
type object struct {
	line   int
	text   map[string]string // strings, and ids that are numbers
	flags  map[string]bool
	wrong  *fieldError // the first field that is not of its type
	group  string      // the innermost of pathNames
	issue  issue
	nested *log // logs in it
}

// issue is what was decided about an item.
type issue struct {
	kind         string
	autoAnalyzed bool
}

// object reads an object and keeps it when it is an item, a log or a defect type.
func (p *parser) object(parent *object) error {
	o := &object{line: p.json.Line(), text: map[string]string{}, flags: map[string]bool{}}
	if err := p.json.Object(func(key string) error { return p.field(o, key) }); err != nil {
		return err
	}
	switch {
	case o.has("type") && o.has("status") && o.has("name"):
		return p.item(o)
	case o.has("message") && (o.has("level") || o.has("itemId")):
		return p.log(parent, o)
	case o.has("locator") && (o.has("typeRef") || o.has("longName")):
		p.labels.add(o.text["locator"], o.text["typeRef"], o.text["longName"])
		return o.fault()
	default:
		p.into(parent, o)
		return nil
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
	switch key {
	case "id", "itemId", "parent", "uuid", "name", "type", "status", "level", "codeRef", "locator", "typeRef", "longName":
		return p.text(o, key, maxNameBytes)
	case "message":
		head, tail := p.kept()
		return p.clipped(o, key, head, tail)
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
		return p.value(o)
	}
}

// text reads a string, or a number where an id may be one.
func (p *parser) text(o *object, key string, most int) error { return p.clipped(o, key, most, 1) }

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
		o.fail(line, key, "is no string")
		return p.value(o)
	}
	word, err := p.json.Word()
	switch {
	case err != nil || word == "null":
	case b != 't' && b != 'f' && (key == "id" || key == "itemId" || key == "parent"):
		o.text[key] = word
	default:
		o.fail(line, key, "is no string")
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
			o.fail(line, key, "is neither true nor false")
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
	if b != 'n' && o != nil {
		o.fail(line, key, "is no object")
	}
	return p.json.Skip()
}

func (p *parser) issue(o *object) error {
	in := &object{text: map[string]string{}, flags: map[string]bool{}}
	err := p.inside(o, "issue", func(key string) error {
		switch key {
		case "issueType":
			return p.text(in, key, maxNameBytes)
		case "autoAnalyzed":
			return p.flag(in, key)
		default:
			return p.json.Skip()
		}
	})
	if in.wrong != nil && o.wrong == nil {
		in.wrong.path = append(abi.Path{abi.Field("issue")}, in.wrong.path...)
		o.wrong = in.wrong
	}
	o.issue = issue{kind: in.text["issueType"], autoAnalyzed: in.flags["autoAnalyzed"]}
	p.labels.see(o.issue.kind)
	return err
}

// names reads pathNames, of which the last item is the suite that an item stands in.
func (p *parser) names(o *object) error {
	var launch, suite string
	err := p.inside(o, "pathNames", func(key string) error {
		in := &object{text: map[string]string{}}
		each := func(inner string) error {
			if inner == "name" {
				return p.text(in, inner, maxNameBytes)
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
	return p.inside(nil, "statistics", func(key string) error {
		if key != "defects" {
			return p.json.Skip()
		}
		return p.inside(nil, key, func(string) error {
			return p.inside(nil, key, func(locator string) error {
				if locator != "total" {
					p.labels.see(locator)
				}
				return p.json.Skip()
			})
		})
	})
}

func (o *object) has(key string) bool { return strings.TrimSpace(o.text[key]) != "" }

// fail notes a field that is not of its type; it counts when the object turns out to be one of ReportPortal's.
func (o *object) fail(line int, key, detail string) {
	if o.wrong == nil {
		o.wrong = &fieldError{line: line, path: abi.Path{abi.Field(key)}, detail: detail}
	}
}

func (o *object) fault() error {
	if o.wrong == nil {
		return nil
	}
	return o.wrong
}

func (p *parser) kept() (head, tail int) {
	head, tail = p.reader.HeadBytes, p.reader.TailBytes
	if head <= 0 {
		head = DefaultHeadBytes
	}
	if tail <= 0 {
		tail = DefaultTailBytes
	}
	return head, tail
}

func (p *parser) newClip() testlog.Clip { return testlog.NewClip(p.kept()) }
