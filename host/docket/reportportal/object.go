package reportportal

import (
	"bytes"
	"cmp"
	"iter"
	"slices"
	"strconv"
	"strings"

	"github.com/go-json-experiment/json/jsontext"

	"github.com/shadowcourt/shadowcourt/abi"
	"github.com/shadowcourt/shadowcourt/host/docket/internal/report"
	"github.com/shadowcourt/shadowcourt/host/docket/internal/stream"
)

// object is a JSON object, which may be an item, a log or a defect type.
type object struct {
	at     int
	line   int
	fields map[string]node // those that are read
	wrong  []fieldError    // fields that are not of their types
	nested *log            // logs in it
}

// statuses are all that an item may have.
const statuses = " PASSED FAILED SKIPPED INTERRUPTED STOPPED CANCELLED IN_PROGRESS INFO WARN UNTESTED RESETED TO_INVESTIGATE "

// object reads an object and keeps it when it is an item, a log or a defect type. One that looks like it but is wrong is
// reported, and the others are read.
func (p *parser) object(v node, path abi.Path, parent *object) error {
	o := &object{at: v.at, line: p.lineAt(v.at), fields: v.fields()}
	p.labels.see((&object{fields: o.inside("issue")}).text("issueType"))
	if statistics := o.fields["statistics"]; statistics.Kind() == '{' { // {"defects": {"product_bug": {"total": 1, "pb001": 1}}}
		for _, kind := range statistics.fields()["defects"].objectParts() {
			for locator := range kind.objectParts() {
				p.labels.see(locator)
			}
		}
	}
	items := len(p.items)
	for key, value := range v.parts() {
		if kind := value.Kind(); kind != '{' && kind != '[' || key == "issue" || key == "statistics" || key == "retries" || key == "pathNames" {
			continue
		}
		if err := p.value(value, append(slices.Clip(path), abi.Field(report.Bounded(key))), o); err != nil {
			return err
		}
	}
	if total, _ := strconv.Atoi(string(o.fields["page"].fields()["totalElements"].Value)); len(p.items) > items { // the largest for one beyond all
		r := p.reader
		if r.paged = p.name; r.held == nil {
			r.held = map[int]int{}
		}
		r.held[total] += len(p.items) - items
	}
	o.wrong = nil // what of an object that is no item is of another type doesn't matter
	has := func(key string) bool { return o.fields[key].Value != nil }
	var keep func()
	switch {
	case o.isItem():
		i := p.newItem(o)
		keep = func() { p.item(i) }
	case has("message") && (has("level") || has("itemId")):
		id, level, message := o.text("itemId"), o.text("level"), o.text("message")
		keep = func() { p.log(parent, id, level, message) }
	case has("locator") && (has("typeRef") || has("longName")):
		locator, kind, name := o.text("locator"), o.text("typeRef"), o.text("longName")
		keep = func() { p.labels.add(locator, kind, name) }
	default:
		if parent != nil && o.nested != nil { // a page of logs in an item
			parent.nested = parent.nested.join(o.nested)
		}
		return nil
	}
	if len(o.wrong) > 0 {
		slices.SortStableFunc(o.wrong, func(a, b fieldError) int { return a.at - b.at })
		return p.reject(o.line+bytes.Count(p.text[o.at:o.wrong[0].at], []byte("\n")), path, o.wrong)
	}
	keep()
	return nil
}

// isItem tells an item, or one that lacks something, from a launch, which has a name and a status and no type.
func (o *object) isItem() bool {
	has := func(key string) bool { return o.fields[key].Value != nil }
	n := 0
	for _, key := range []string{"name", "type", "status"} {
		if has(key) {
			n++
		}
	}
	return n == 3 || n == 2 && slices.ContainsFunc([]string{"type", "hasStats", "hasChildren", "parent", "codeRef"}, has)
}

// newItem reads the fields of an item.
func (p *parser) newItem(o *object) *item {
	i := &item{
		id: cmp.Or(o.text("id"), o.text("uuid")), parent: o.text("parent"), line: o.line, log: o.nested,
		name: o.needed("name"), kind: o.needed("type"), status: strings.ToUpper(o.needed("status")),
		children: o.flag("hasChildren") == "true", step: o.flag("hasStats") == "false",
	}
	if i.status != "" && !strings.Contains(statuses, " "+i.status+" ") {
		o.fail("status", abi.CodeInvalidValue, "is no status of ReportPortal")
	}
	issue := &object{fields: o.inside("issue")}
	i.issue, i.analysed = issue.text("issueType"), issue.flag("autoAnalyzed") == "true"
	for _, w := range issue.wrong {
		w.path = append(abi.Path{abi.Field("issue")}, w.path...)
		o.wrong = append(o.wrong, w)
	}
	i.group = cmp.Or(o.group(), codeGroup(o.text("codeRef")))
	return i
}

// group is the suite that an item stands in, the last of its path, or else its launch.
func (o *object) group() string {
	paths := o.inside("pathNames")
	name := func(of node) string {
		in := &object{fields: of.fields()}
		return in.text("name")
	}
	suite := paths["launchPathName"]
	if list := paths["itemPaths"]; list.Kind() == '[' {
		for _, suite = range list.parts() { //nolint:revive // the last one is wanted
		}
	}
	return name(suite)
}

// text is a string, or a number where an id may be one; empty for null and where there is none.
func (o *object) text(key string) string {
	value := o.fields[key]
	switch kind := value.Kind(); {
	case kind == '"':
		text, _ := jsontext.AppendUnquote(nil, value.Value)
		if key == "message" {
			return string(text)
		}
		clip := stream.NewClip(report.MaxNameBytes, 1)
		clip.Write(string(text))
		return clip.Text()
	case kind == '0' && (key == "id" || key == "itemId" || key == "parent"):
		return string(value.Value)
	case value.Value != nil && kind != 'n':
		o.fail(key, abi.CodeWrongType, "is no string")
	}
	return ""
}

// needed is a text that has to be there.
func (o *object) needed(key string) string {
	wrong := len(o.wrong)
	text := o.text(key)
	if strings.TrimSpace(text) == "" && len(o.wrong) == wrong {
		o.wrong = append(o.wrong, fieldError{o.at, abi.Path{abi.Field(key)}, abi.CodeMissingField, "is missing"})
	}
	return text
}

// flag is true or false as it is written; empty for null and where there is none.
func (o *object) flag(key string) string {
	value := o.fields[key]
	switch kind := value.Kind(); {
	case kind == 't' || kind == 'f':
		return string(value.Value)
	case value.Value != nil && kind != 'n':
		o.fail(key, abi.CodeWrongType, "is neither true nor false")
	}
	return ""
}

// inside are the fields of an object in this one.
func (o *object) inside(key string) map[string]node {
	value := o.fields[key]
	if kind := value.Kind(); value.Value != nil && kind != 'n' && kind != '{' {
		o.fail(key, abi.CodeWrongType, "is no object")
	}
	return value.fields()
}

// objectParts are the fields of an object; none of another value.
func (n node) objectParts() iter.Seq2[string, node] {
	if n.Kind() != '{' {
		return func(func(string, node) bool) {}
	}
	return n.parts()
}

// known are the fields that are read.
const known = " id itemId parent uuid name type status level codeRef locator typeRef longName message hasChildren hasStats issue issueType autoAnalyzed" +
	" pathNames launchPathName itemPaths statistics defects page totalElements "

// fields are those of an object that are read.
func (n node) fields() map[string]node {
	fields := map[string]node{}
	for key, value := range n.objectParts() {
		if strings.Contains(known, " "+key+" ") {
			fields[key] = value
		}
	}
	return fields
}

// fail notes a field that is wrong.
func (o *object) fail(key string, code abi.Code, detail string) {
	o.wrong = append(o.wrong, fieldError{o.fields[key].at, abi.Path{abi.Field(key)}, code, detail})
}
