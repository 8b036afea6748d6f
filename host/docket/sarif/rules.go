package sarif

import (
	"cmp"
	"strconv"
	"strings"

	"github.com/shadowcourt/shadowcourt/host/docket/internal/jsontext"
)

// analysis is a run: its tool, and the results that wait for the rules and files that stand behind them.
type analysis struct {
	hasTool, hasFiles bool
	driver            component
	extensions        []component
	rules, ruleBytes  int
	files             []string
	fileBytes         int
	held              []*result
	heldBytes         int
}

// component is the tool itself, or a part of it that brings rules of its own.
type component struct {
	name, version string
	rules         []*rule
	byID          map[string]*rule
	messages      map[string]string
}

// rule is what a tool looks for.
type rule struct {
	id, name          string
	short, full, help string
	helpURI           string
	level             string
	rank              float64
	messages          map[string]string // by their ids
	properties        properties
}

// properties are those of a result or a rule that tools agree on.
type properties struct {
	// precision is how sure the tool is, as it is written: very-high, high, medium, low.
	precision        string
	securitySeverity string
	tags             []string
}

// tool returns a reader of the tool of a run.
func (p *parser) tool() func() error {
	c := component{}
	driver, extension := p.component(&p.run.driver), p.component(&c)
	read := p.Read(jsontext.Fields{
		"driver": driver,
		"extensions": p.List(func() error {
			c = component{}
			err := extension()
			if len(p.run.extensions) < maxTags {
				p.run.extensions = append(p.run.extensions, c)
			}
			return err
		}),
	})
	return func() error {
		p.run.hasTool = true
		return read()
	}
}

func (p *parser) component(c *component) func() error {
	version := p.first(&c.version, p.Name(&c.version))
	read := p.Read(jsontext.Fields{
		"name": p.Name(&c.name), "version": version, "semanticVersion": version,
		"rules": p.List(p.rule(c)), "globalMessageStrings": p.messages(&c.messages),
	})
	return func() error {
		c.byID = map[string]*rule{}
		return read()
	}
}

// rule returns a reader of a rule. The index of one that is wrong stays its own.
func (p *parser) rule(c *component) func() error {
	in := rule{}
	read := p.Read(jsontext.Fields{
		"id": p.Name(&in.id), "name": p.Name(&in.name), "helpUri": p.Name(&in.helpURI),
		"shortDescription": p.message(&in.short), "fullDescription": p.message(&in.full), "help": p.message(&in.help),
		"messageStrings":       p.messages(&in.messages),
		"defaultConfiguration": p.Read(jsontext.Fields{"level": p.Name(&in.level), "rank": p.Number(&in.rank)}),
		"properties":           p.properties(&in.properties),
	})
	return func() error {
		line := p.Line()
		if err := p.reject(line); err != nil { // of what stands before it
			return err
		}
		in = rule{rank: -1}
		if err := read(); err != nil {
			return err
		}
		p.keep(c, in)
		return p.reject(line)
	}
}

// keep adds a rule to its component.
func (p *parser) keep(c *component, r rule) {
	if p.run.rules++; p.run.rules > maxRules {
		return
	}
	if p.run.ruleBytes += r.bytes(); p.run.ruleBytes > maxRulesBytes {
		r.short, r.full, r.help, r.messages = "", "", "", nil
	}
	c.rules = append(c.rules, &r)
	if c.byID[r.id] == nil {
		c.byID[r.id] = &r
	}
}

// bytes are those of its texts.
func (r *rule) bytes() int {
	n := len(r.short) + len(r.full) + len(r.help)
	for _, text := range r.messages {
		n += len(text)
	}
	return n
}

// message returns a reader of the text of a message, or of its Markdown where it has no text.
func (p *parser) message(into *string) func() error {
	var text, markdown string
	read := p.Read(jsontext.Fields{"text": p.text(&text, maxRuleBytes), "markdown": p.text(&markdown, maxRuleBytes)})
	return func() error {
		text, markdown = "", ""
		err := read()
		*into = cmp.Or(text, markdown)
		return err
	}
}

// messages returns a reader of texts by their ids.
func (p *parser) messages(into *map[string]string) func() error {
	text := ""
	read := p.message(&text)
	return func() error {
		return p.Each(func(id string) error {
			err := read()
			if *into == nil {
				*into = map[string]string{}
			}
			if len(*into) < maxTags {
				(*into)[id] = text
			}
			return err
		})
	}
}

// properties returns a reader of the properties that are known, whatever type they have: others may call what they like so.
func (p *parser) properties(into *properties) func() error {
	tag := ""
	precision, readTag := p.loose(&into.precision), p.loose(&tag)
	return p.Read(jsontext.Fields{
		"precision": precision, "confidence": precision, "issue_confidence": precision, "security-severity": p.loose(&into.securitySeverity),
		"tags": func() error {
			if b, err := p.Next(); err != nil || b != '[' {
				return p.Skip()
			}
			return p.Array(func() error {
				tag = ""
				err := readTag()
				if tag != "" && len(into.tags) < maxTags {
					into.tags = append(into.tags, tag)
				}
				return err
			})
		},
	})
}

// loose returns a reader of a string or a number that skips anything else. The first of several stays.
func (p *parser) loose(into *string) func() error {
	name := p.Name(into)
	return p.first(into, func() error {
		b, err := p.Next()
		switch {
		case err != nil:
			return err
		case b == '"':
			return name()
		case strings.IndexByte("-0123456789", b) >= 0:
			*into, err = p.Word()
			return err
		}
		return p.Skip()
	})
}

// files returns a reader of artifacts, of which results may name the index alone.
func (p *parser) files() func() error {
	at := place{}
	read := p.Read(jsontext.Fields{"location": p.artifact(&at)})
	return p.List(func() error {
		at = place{}
		err := read()
		if p.run.fileBytes += len(at.file); len(p.run.files) < maxFiles && p.run.fileBytes <= maxFilesBytes {
			p.run.files = append(p.run.files, at.file)
		}
		return err
	})
}

// name gives a place that has an index alone the file of that index.
func (a *analysis) name(at *place) {
	if at.file == "" && at.index > 0 && at.index <= len(a.files) {
		at.file = a.files[at.index-1]
	}
}

// find is the rule of a result, and the component that has it; nil where it is not known.
func (a *analysis) find(r *result) (*rule, *component) {
	c := &a.driver
	if i := r.componentIndex; i >= 0 && i < len(a.extensions) {
		c = &a.extensions[i]
	}
	if i := r.ruleIndex; i >= 0 && i < len(c.rules) && (r.ruleID == "" || sameRule(r.ruleID, c.rules[i].id)) {
		return c.rules[i], c
	}
	components := []*component{c, &a.driver}
	for i := range a.extensions {
		components = append(components, &a.extensions[i])
	}
	for id := r.ruleID; id != ""; {
		for _, c := range components {
			if found := c.byID[id]; found != nil {
				return found, c
			}
		}
		i := strings.LastIndexByte(id, '/')
		id = id[:max(i, 0)] // "CA1000/1" is a part of "CA1000"
	}
	return nil, c
}

func sameRule(id, of string) bool { return id == of || strings.HasPrefix(id, of+"/") }

// say fills the arguments of a message into its placeholders, as {0}.
func say(text string, arguments []string) string {
	if len(arguments) == 0 || !strings.ContainsRune(text, '{') {
		return text
	}
	var pairs []string
	for i, a := range arguments {
		pairs = append(pairs, "{"+strconv.Itoa(i)+"}", a)
	}
	said := strings.NewReplacer(append(pairs, "{{", "{", "}}", "}")...).Replace(text)
	return strings.ToValidUTF8(said[:min(len(said), maxMessageBytes)], "")
}
