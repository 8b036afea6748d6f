package reportportal

import (
	"cmp"
	"regexp"
	"slices"
	"strings"

	"github.com/shadowcourt/shadowcourt/abi"
	"github.com/shadowcourt/shadowcourt/host/docket"
	"github.com/shadowcourt/shadowcourt/host/docket/internal/report"
	"github.com/shadowcourt/shadowcourt/host/docket/internal/stream"
	"github.com/shadowcourt/shadowcourt/host/trial"
)

// maxSteps is how deep steps may nest.
const maxSteps = 32

// item is a test item that failed, or a step in one.
type item struct {
	id, parent   string
	name, status string
	kind         string // SUITE, TEST, STEP, BEFORE_METHOD and so on
	group        string
	line         int
	children     bool // that count
	step         bool // it does not count itself
	issue        string
	analysed     bool // by a machine
	log          *log
}

func (i *item) isCase() bool {
	return !i.children && !i.step && (i.status == "FAILED" || i.status == "INTERRUPTED")
}

// log is what an item wrote: all of it, and the errors again.
type log struct {
	all, errors stream.Clip
}

func (l *log) write(level, message string) {
	if !strings.HasSuffix(message, "\n") {
		message += "\n"
	}
	l.all.Write(message)
	switch strings.ToUpper(level) {
	case "ERROR", "FATAL":
		l.errors.Write(message)
	}
}

// join adds another log; both may be nil.
func (l *log) join(other *log) *log {
	if l == nil || other == nil {
		return cmp.Or(l, other)
	}
	l.all.Write(other.all.Text())
	l.errors.Write(other.errors.Text())
	return l
}

// item keeps an item that failed, and a step for its logs.
func (p *parser) item(i *item) {
	p.found++
	i.log = i.log.join(p.early[i.id])
	delete(p.early, i.id)
	if !i.isCase() && !i.step && !i.children {
		i.log = nil // it passed
	}
	if i.id != "" {
		p.byID[i.id] = i
	}
	p.items = append(p.items, i)
}

// log gives a message to its item: the one that it names, or the one that it stands in.
func (p *parser) log(parent *object, id, level, message string) {
	p.found++
	var to **log
	i := p.byID[id]
	switch {
	case id == "" && parent == nil, i != nil && !i.isCase() && !i.step && !i.children:
		return
	case id == "":
		to = &parent.nested
	case i != nil:
		to = &i.log
	default:
		early := p.early[id]
		defer func() { p.early[id] = early }()
		to = &early
	}
	if *to == nil {
		clip := func() stream.Clip {
			return stream.NewClip(cmp.Or(max(0, p.reader.HeadBytes), DefaultHeadBytes), cmp.Or(max(0, p.reader.TailBytes), DefaultTailBytes))
		}
		*to = &log{all: clip(), errors: clip()}
	}
	(*to).write(level, message)
}

// settle gives the logs of steps to the items that they are steps of. An item of which no child that counts was read has
// none, if its steps were read or it is a step of a test itself.
func (p *parser) settle() {
	counted, steps := map[string]bool{}, map[string]bool{}
	for _, i := range p.items {
		if i.parent == "" {
			continue
		}
		if i.step {
			steps[i.parent] = true
		} else {
			counted[i.parent] = true
		}
	}
	for _, i := range p.items {
		if !counted[i.id] && (steps[i.id] || i.kind == "STEP") {
			i.children = false
		}
	}
	for _, i := range p.items {
		if !i.step || i.log == nil {
			continue
		}
		owner := i
		for range maxSteps {
			if owner = p.byID[owner.parent]; owner == nil || !owner.step {
				break
			}
		}
		if owner != nil && !owner.step {
			owner.log = owner.log.join(i.log)
		}
	}
}

// codeGroup is the class or the file of a reference to code, as com.example.CartTest of com.example.CartTest.totals and
// tests/test_cart.py of tests/test_cart.py:test_totals.
func codeGroup(reference string) string {
	if i := strings.LastIndexAny(reference, ".:#"); i > 0 && !strings.Contains(reference[i:], "/") {
		return strings.TrimRight(reference[:i], ":")
	}
	return ""
}

// entry makes a case of an item.
func (p *parser) entry(i *item) docket.Entry {
	var documents, errors []abi.Document
	if i.log != nil {
		if text := i.log.all.Text(); strings.TrimSpace(text) != "" {
			documents = []abi.Document{{Name: "log", Text: text}}
		}
		errors = []abi.Document{{Name: "log", Text: i.log.errors.Text()}}
	}
	if documents == nil {
		documents = []abi.Document{}
	}
	name, group := bounded(i.name), bounded(i.group)
	subject := name + " fails"
	if group != "" {
		subject += " in " + group
	}
	light := report.Classify(group, errors, documents)
	c := abi.Case{
		ID: p.reader.ids.Unique(bounded(i.id)), Group: group, Subject: subject, Labels: p.labels.list(),
		Evidence: report.Cut(group, documents), Documents: documents, Light: &light,
	}
	return docket.Entry{Case: c, Truth: p.truth(i), LabelNames: p.labels.names, Source: p.name, Line: i.line}
}

func (p *parser) truth(i *item) *trial.Truth {
	if !p.reader.Truth || i.analysed || !p.labels.known(i.issue) {
		return nil
	}
	return &trial.Truth{Classification: i.issue}
}

func bounded(name string) string { return strings.ToValidUTF8(strings.TrimSpace(name), "\uFFFD") }

// maxTypes is how many defect types of its own a project may have here; ReportPortal allows fifteen of a kind.
const maxTypes = 200

// toInvestigate is the kind of what nobody has decided yet, and no label.
const toInvestigate = "TO_INVESTIGATE"

// locatorText is how ReportPortal names a defect type: pb001, or pb_1h7inqu51mgys for a project's own.
var locatorText = regexp.MustCompile(`^(pb|ab|si|nd)(\d{3}|_[0-9A-Za-z]{1,64})$`)

// labels are the defect types of an export.
type labels struct {
	stated []string // by the settings of the project
	seen   []string // by items and statistics
	names  map[string]string
}

// add takes a defect type that the export states; name is for people, or empty.
func (l *labels) add(locator, kind, name string) {
	if kind == toInvestigate {
		return
	}
	l.stated = insert(l.stated, locator)
	if name = bounded(name); name != "" && slices.Contains(l.stated, locator) {
		if l.names == nil {
			l.names = make(map[string]string)
		}
		l.names[locator] = name
	}
}

// see takes a defect type that is in use.
func (l *labels) see(locator string) { l.seen = insert(l.seen, locator) }

func insert(list []string, locator string) []string {
	if !locatorText.MatchString(locator) || slices.Contains(list, locator) || len(list) == maxTypes {
		return list
	}
	return append(list, locator)
}

// list are the labels of every case: ReportPortal's four, then the project's own by kind and name. Those in use count
// where the export has no settings.
func (l *labels) list() []string {
	all, own := report.Labels(), l.stated
	if len(own) == 0 {
		own = l.seen
	}
	order := func(locator string) int { return strings.Index("pb ab si nd", locator[:2]) }
	own = slices.SortedFunc(slices.Values(own), func(a, b string) int {
		if d := order(a) - order(b); d != 0 {
			return d
		}
		return strings.Compare(a, b)
	})
	for _, locator := range own {
		if !slices.Contains(all, locator) {
			all = append(all, locator)
		}
	}
	return all
}

func (l *labels) known(locator string) bool { return slices.Contains(l.list(), locator) }
