package dotnet

import (
	"cmp"
	"encoding/xml"
	"strings"

	"github.com/shadowcourt/shadowcourt/host/docket/internal/xmltext"
)

// nunit reads a run or a suite. A suite that failed itself, and not because of its tests or of what it stands in, is a case.
func (p *parser) nunit(start xml.StartElement) error {
	own := p.newResult()
	own.Group = cmp.Or(xmltext.Attribute(start, "classname"), xmltext.Attribute(start, "fullname"), xmltext.Attribute(start, "name"))
	if xmltext.Attribute(start, "type") == "Assembly" {
		own.Group = base(own.Group)
	}
	switch xmltext.Attribute(start, "site") {
	case "SetUp", "TearDown", "Test":
		own.failed = xmltext.Attribute(start, "result") == "Failed"
	}
	before := p.parents
	err := p.xml.Children(func(t xml.StartElement) error {
		switch t.Name.Local {
		case "test-suite":
			return p.nunit(t)
		case "test-case":
			if xmltext.Attribute(t, "site") == "Parent" && xmltext.Attribute(t, "result") == "Failed" {
				p.parents++
			}
			return p.nunitTest(t)
		case "failure":
			return p.failure(own)
		case "output":
			return p.text(&own.output)
		}
		return p.xml.Skip()
	}, nil)
	if err != nil || p.parents > before && xmltext.Attribute(start, "site") == "SetUp" {
		return err // its tests tell of it
	}
	return p.give(own)
}

func (p *parser) nunitTest(start xml.StartElement) error {
	p.reader.Tests++
	r := p.newResult()
	name, method := cmp.Or(xmltext.Attribute(start, "name"), xmltext.Attribute(start, "fullname")), xmltext.Attribute(start, "methodname")
	if strings.HasSuffix(name, method) && method != "" {
		name = method // pytest-nunit writes the file and the class before it
	}
	r.named(xmltext.Attribute(start, "classname"), name)
	r.Elapsed = seconds(xmltext.Attribute(start, "duration"))
	r.failed = xmltext.Attribute(start, "result") == "Failed"
	err := p.xml.Children(func(t xml.StartElement) error {
		switch t.Name.Local {
		case "failure":
			return p.failure(r)
		case "output":
			return p.text(&r.output)
		}
		return p.xml.Skip()
	}, nil)
	if err != nil {
		return err
	}
	return p.give(r)
}
