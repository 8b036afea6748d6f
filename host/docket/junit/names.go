package junit

import (
	"encoding/xml"
	"strconv"
	"strings"

	"github.com/shadowcourt/shadowcourt/host/docket/internal/report"
)

// named is an attribute that names something, or nothing where the producer wrote what its language shows of a name that it
// did not have, as jest-junit does when a template asks for one.
func named(start xml.StartElement, key string) string {
	value := report.Attribute(start, key)
	for word := range strings.FieldsSeq(value) {
		switch word {
		case "undefined", "null", "(null)", "[object", "Object]":
		default:
			return value
		}
	}
	return ""
}

// newTest reads how a test is called. One without a name of its own is called as its class, or as its file.
func newTest(start xml.StartElement, line int) *test {
	c := &test{line: line, file: named(start, "file"), elapsed: elapsed(report.Attribute(start, "time"))}
	c.class, c.name = report.PytestName(named(start, "classname"), named(start, "name"))
	if c.name == "" && report.Attribute(start, "name") != "" {
		c.unnamed = true
		c.name, c.class = c.class, ""
		if c.name == "" {
			c.name = c.file
		}
	}
	return c
}

// fullName is what tells the runs of one test from those of others. Nobody knows which tests without names are the same.
func fullName(c *test) string {
	full := c.class + "\x00" + c.name
	if c.unnamed {
		full += "\x00" + strconv.Itoa(c.line)
	}
	return full
}
