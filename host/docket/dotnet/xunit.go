package dotnet

import (
	"cmp"
	"encoding/xml"
	"path"
	"strings"

	"github.com/shadowcourt/shadowcourt/host/docket/internal/xmltext"
)

// xunit reads assemblies, an assembly, its collections and their tests. What fails outside of them, as cleaning up, is an error element.
func (p *parser) xunit(start xml.StartElement) error {
	assembly := ""
	if start.Name.Local == "assembly" {
		assembly = base(xmltext.Attribute(start, "name"))
	}
	return p.inXunit(assembly, "")
}

// inXunit reads the open element, in an assembly and a collection, or none.
func (p *parser) inXunit(assembly, collection string) error {
	return p.xml.Children(func(t xml.StartElement) error {
		switch t.Name.Local {
		case "assembly":
			return p.xunit(t)
		case "collection", "errors":
			return p.inXunit(assembly, xmltext.Attribute(t, "name"))
		case "test":
			return p.xunitTest(t, collection)
		case "error":
			return p.xunitError(t, assembly)
		}
		return p.xml.Skip()
	}, nil)
}

// xunitTest reads a test; mocha-xunit-reporter knows no classes, but collections.
func (p *parser) xunitTest(start xml.StartElement, collection string) error {
	p.reader.Tests++
	r := p.newResult()
	r.named(cmp.Or(xmltext.Attribute(start, "type"), collection), xmltext.Attribute(start, "name"))
	r.File, r.Elapsed = xmltext.Attribute(start, "source-file"), seconds(xmltext.Attribute(start, "time"))
	r.failed = xmltext.Attribute(start, "result") == "Fail"
	if err := p.xunitParts(r); err != nil {
		return err
	}
	return p.give(r)
}

// xunitError reads what failed outside of the tests: of a class or a collection, or of the whole assembly.
func (p *parser) xunitError(start xml.StartElement, assembly string) error {
	r := p.newResult()
	r.failed, r.Group = true, assembly
	if name := xmltext.Attribute(start, "name"); name != "" {
		r.Group = name
	}
	if err := p.xunitParts(r); err != nil {
		return err
	}
	return p.give(r)
}

func (p *parser) xunitParts(r *result) error {
	return p.xml.Children(func(t xml.StartElement) error {
		switch t.Name.Local {
		case "output":
			return p.text(&r.output)
		case "failure":
			r.exception.Write(xmltext.Attribute(t, "exception-type"))
			return p.failure(r)
		}
		return p.xml.Skip()
	}, nil)
}

// failure reads the message and the stack trace in the open element, as xUnit.net and NUnit call them.
func (p *parser) failure(r *result) error {
	return p.xml.Children(func(t xml.StartElement) error {
		switch t.Name.Local {
		case "message":
			return p.text(&r.message)
		case "stack-trace":
			return p.text(&r.stack)
		}
		return p.xml.Skip()
	}, nil)
}

// base is the name of a file without its folders, of which the report's machine may be another one.
func base(name string) string { return path.Base(strings.ReplaceAll(name, `\`, "/")) }
