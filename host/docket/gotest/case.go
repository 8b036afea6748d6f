package gotest

import (
	"strings"

	"github.com/shadowcourt/shadowcourt/abi"
	"github.com/shadowcourt/shadowcourt/host/docket"
	"github.com/shadowcourt/shadowcourt/host/docket/internal/report"
)

// The labels that a case may get, in ReportPortal's terms.
const (
	ProductBug    = report.ProductBug
	AutomationBug = report.AutomationBug
	SystemIssue   = report.SystemIssue
	NoDefect      = report.NoDefect
)

// Labels are all labels, in the order in which every case has them.
func Labels() []string { return report.Labels() }

// logName is the name of a case's one document.
const logName = "log"

// failure is a test, or a package without a failing test, that failed.
type failure struct {
	pack    string
	test    string
	running []string // without a test: those that ran when the package ended early
	log     string
	build   bool
}

// maxNamed is how many tests a subject names.
const maxNamed = 5

func (f failure) subject() string {
	switch {
	case f.test != "":
		return f.test + " fails in " + f.pack
	case f.running != nil:
		return f.pack + " exits while " + strings.Join(f.running[:min(len(f.running), maxNamed)], ", ") + " run"
	case f.build:
		return f.pack + notBuiltSubject
	default:
		return f.pack + " fails outside its tests"
	}
}

// give makes a case of a failure, which goes on when the runs of its test are known.
func (s *reading) give(f failure) {
	if s.stopped {
		return
	}
	id := f.pack
	if f.test != "" {
		id += "." + f.test
	}
	id = s.reader.ids.Unique(id)
	documents := []abi.Document{{Name: logName, Text: f.log}}
	c := abi.Case{
		ID: id, Group: f.pack, Subject: f.subject(), Labels: Labels(),
		Evidence: report.Cut(f.pack, documents), Documents: documents,
	}
	light := Light(c)
	c.Light = &light
	s.hold(heldCase{docket.Entry{Case: c, Source: s.name, Line: s.line}, testKey{f.pack, f.test}})
}
