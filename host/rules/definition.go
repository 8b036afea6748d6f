package rules

import (
	"errors"
	"fmt"
	"slices"
	"strconv"
	"strings"

	"github.com/shadowcourt/shadowcourt/host/pipeline"
	"github.com/shadowcourt/shadowcourt/pipelines"
)

// Names of the parameters that are no rule's.
const (
	paramFile   = "file"
	paramDigest = "digest"
)

// For gives the rules for cases whose labels have these names: a rule whose label is a name gets the label.
func (s *Set) For(labels []pipeline.Label) *Set {
	own := *s
	own.Rules = slices.Clone(s.Rules)
	for i := range own.Rules {
		own.Rules[i].Label = labelOf(labels, own.Rules[i].Label)
	}
	return &own
}

// Definition is the graph of one node at which the module evaluates the rules, with the rules as its parameters.
func (s *Set) Definition() (*pipeline.Definition, error) {
	def, err := pipeline.LoadFS(pipelines.FS, pipelines.Rules)
	if err != nil {
		return nil, fmt.Errorf("the shipped pipeline: %w", err)
	}
	with := []pipeline.Param{pipeline.Text(paramFile, s.File), pipeline.Text(paramDigest, s.Digest)}
	for i := range s.Rules {
		r := &s.Rules[i]
		text := func(part, value string) {
			if value != "" {
				with = append(with, pipeline.Text(r.Name+"."+part, value))
			}
		}
		text("label", r.Label)
		text("reason", r.Reason)
		text("owner", r.Owner)
		text("test", r.Test)
		with = append(with, pipeline.Number(r.Name+".confidence", r.Believed()))
		for j, p := range r.Match {
			text("match."+strconv.Itoa(j+1), p)
		}
	}
	def.Nodes[0].With = with
	return def, nil
}

// labelOf is the label that people call by a name, in any case and without what follows a comma; other names are labels themselves.
func labelOf(labels []pipeline.Label, name string) string {
	if slices.ContainsFunc(labels, func(l pipeline.Label) bool { return l.ID == name }) {
		return name
	}
	for i := range labels {
		short, _, _ := strings.Cut(labels[i].Name, ",")
		if labels[i].Name != "" && (strings.EqualFold(labels[i].Name, name) || strings.EqualFold(short, name)) {
			return labels[i].ID
		}
	}
	return name
}

// Of gives the rules of a definition that [Set.Definition] made.
func Of(def *pipeline.Definition) (*Set, error) {
	if len(def.Nodes) != 1 || len(def.Nodes[0].Personas) != 1 {
		return nil, errors.New("no pipeline of rules: it has other than one node with one persona")
	}
	s := &Set{}
	for i := range def.Nodes[0].With {
		p := &def.Nodes[0].With[i]
		name, part, ofRule := strings.Cut(p.Name, ".")
		switch {
		case p.Name == paramFile:
			s.File = p.Text
		case p.Name == paramDigest:
			s.Digest = p.Text
		case !ofRule:
			return nil, fmt.Errorf("no pipeline of rules: it has a parameter %q", p.Name)
		default:
			s.set(name, part, p)
		}
	}
	return s, nil
}

func (s *Set) set(name, part string, p *pipeline.Param) {
	r := s.Find(name)
	if r == nil {
		s.Rules = append(s.Rules, Rule{Name: name})
		r = &s.Rules[len(s.Rules)-1]
	}
	switch {
	case part == "label":
		r.Label = p.Text
	case part == "reason":
		r.Reason = p.Text
	case part == "owner":
		r.Owner = p.Text
	case part == "test":
		r.Test = p.Text
	case part == "confidence":
		r.Confidence = &p.Number
	case strings.HasPrefix(part, "match."):
		r.Match = append(r.Match, p.Text)
	}
}
