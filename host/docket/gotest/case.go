package gotest

import (
	"strconv"

	"github.com/shadowcourt/shadowcourt/abi"
	"github.com/shadowcourt/shadowcourt/host/docket"
)

// The labels that a case may get, in ReportPortal's terms.
const (
	ProductBug    = "pb001"
	AutomationBug = "ab001"
	SystemIssue   = "si001"
	NoDefect      = "nd001"
)

// Labels are all labels, in the order in which every case has them.
func Labels() []string { return []string{ProductBug, AutomationBug, SystemIssue, NoDefect} }

// logName is the name of a case's one document.
const logName = "log"

// failure is a test, or a package without a failing test, that failed.
type failure struct {
	pack  string
	test  string
	log   string
	build bool
}

func (f failure) subject() string {
	switch {
	case f.test != "":
		return f.test + " fails in " + f.pack
	case f.build:
		return f.pack + " does not build"
	default:
		return f.pack + " fails outside its tests"
	}
}

// give hands a failure on as a case.
func (s *stream) give(f failure) {
	if s.stopped {
		return
	}
	id := f.pack
	if f.test != "" {
		id += "." + f.test
	}
	id = s.reader.unique(id)
	c := abi.Case{
		ID: id, Group: f.pack, Subject: f.subject(), Labels: Labels(),
		Evidence:  cut(f.pack, f.log),
		Documents: []abi.Document{{Name: logName, Text: f.log}},
	}
	light := Light(c)
	c.Light = &light
	s.stopped = !s.yield(docket.Entry{Case: c, Source: s.name, Line: s.line}, nil)
}

// unique tells several failures of one test apart, as -count and -cpu give them.
func (r *Reader) unique(id string) string {
	if id == "" {
		id = "unknown"
	}
	r.ids[id]++
	if n := r.ids[id]; n > 1 {
		return r.unique(id + "#" + strconv.Itoa(n))
	}
	return id
}
