package main

import (
	"errors"
	"strconv"

	mt "github.com/shadowcourt/shadowcourt/abi/internal/msgtree"
)

var errNoRuleVectors = errors.New("the type has rules and no vectors show them")

// validByRules adds what the rules of the type allow.
func (s *set) validByRules() {
	base := sampleStruct(s.of, minimal, 0)
	text := mt.StringNode
	switch s.of.GoName {
	case "Verdict":
		for _, d := range []string{"affirm", "amend"} {
			s.accept("decision "+d, with(with(base, "decision", text(d)), "final_classification", text("pb001")))
		}
		s.accept("decision mistrial", with(base, "decision", text("mistrial")))
		s.accept("acquit with an empty classification", with(base, "final_classification", text("")))
	case "DefenseBrief":
		s.accept("plea_deal true", with(base, "plea_deal", mt.BoolNode(true)))
	case "CourtConfig":
		s.accept("equal thresholds", with(with(base, "activation_threshold", mt.FloatNode(0.5)), "rejection_threshold", mt.FloatNode(0.5)))
	case "Param":
		none := without(base, "number")
		s.accept("text", with(none, "text", text("a")))
		s.accept("text that is empty", with(none, "text", text("")))
		s.accept("flag false", with(none, "flag", mt.BoolNode(false)))
		s.accept("flag true", with(none, "flag", mt.BoolNode(true)))
	case "ContestResponse", "EdgeResponse", "JudgeResponse":
		s.accept("a failure", with(base, "failure", sampleStruct(s.sub("failure"), full, 0)))
	case "NodeResponse":
		s.accept("an experiment", mt.MapNode(mt.F("experiment", sampleStruct(s.sub("experiment"), full, 0))))
		s.accept("a completion", mt.MapNode(mt.F("completion", sampleStruct(s.sub("completion"), full, 0))))
	case "AuditReport":
		s.accept("global_score 0, an integer", with(base, "global_score", mt.IntNode(0)))
		s.accept("global_score float 32 of 2.5", with(reported(base, 2, 3), "global_score", mt.Float32Node(2.5)))
		for _, v := range []float64{2, 2.1, 3.3, 4.9, 5} {
			s.accept("global_score "+strconv.FormatFloat(v, 'g', -1, 64)+" of 2, 5", with(reported(base, 2, 5), "global_score", mt.FloatNode(v)))
		}
	case "LabelWeight":
		s.accept("weight 0", with(base, "weight", mt.FloatNode(0)))
		s.accept("weight -20", with(base, "weight", mt.FloatNode(-20)))
	}
}
