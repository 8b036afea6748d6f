package codec_test

import (
	"math"
	"reflect"
	"strconv"

	"pgregory.net/rapid"

	"github.com/shadowcourt/shadowcourt/abi"
	"github.com/shadowcourt/shadowcourt/abi/internal/model"
)

// draw fills a value with what its type allows, from the model's tags; then
func mendGiven(list []abi.LabelWeight) {
	for i := range list {
		list[i].Label += strconv.Itoa(i)
		list[i].Weight = 1 / float64(i+1)
	}
}

// mend makes the rules across fields hold.
func draw(t *rapid.T, s *model.StructType, v reflect.Value) {
	for _, f := range s.Fields {
		field := v.FieldByName(f.GoName)
		if f.Pointer {
			if !rapid.Bool().Draw(t, "there") {
				continue
			}
			field.Set(reflect.New(field.Type().Elem()))
			field = field.Elem()
		}
		drawValue(t, f.Type, field, f.HasDefault)
	}
	mend(t, v.Addr().Interface())
}

func drawValue(t *rapid.T, typ *model.Type, v reflect.Value, nonempty bool) {
	switch typ.Kind {
	case model.Struct:
		draw(t, typ.Struct, v)
	case model.String:
		n := 0
		if typ.NonEmpty || nonempty {
			n = 1
		}
		v.SetString(rapid.StringN(n, 40, -1).Draw(t, "string"))
	case model.Enum:
		v.SetString(rapid.SampledFrom(typ.Enum.Values).Draw(t, "enum").Value)
	case model.Bool:
		v.SetBool(rapid.Bool().Draw(t, "bool"))
	case model.Int:
		v.SetInt(rapid.Int64Range(int64(bound(typ.Min, math.MinInt64)), wide(typ.Max)).Draw(t, "int"))
	case model.Float:
		v.SetFloat(rapid.Float64Range(bound(typ.Min, -1e300), bound(typ.Max, 1e300)).Draw(t, "float") + 0)
	case model.List, model.Map:
		drawMany(t, typ, v)
	}
}

func drawMany(t *rapid.T, typ *model.Type, v reflect.Value) {
	least, most := 0, 3
	if typ.NonEmpty {
		least = 1
	}
	if typ.MinCount != nil {
		least, most = *typ.MinCount, *typ.MinCount+2
	}
	n := rapid.IntRange(least, most).Draw(t, "count")
	if n == 0 {
		return
	}
	if typ.Kind == model.List {
		v.Set(reflect.MakeSlice(v.Type(), n, n))
		for i := range n {
			drawValue(t, typ.Elem, v.Index(i), false)
		}
		return
	}
	v.Set(reflect.MakeMap(v.Type()))
	for range n {
		e := reflect.New(v.Type().Elem()).Elem()
		drawValue(t, typ.Elem, e, false)
		v.SetMapIndex(reflect.ValueOf(rapid.String().Draw(t, "key")), e)
	}
}

func bound(p *float64, none float64) float64 {
	if p == nil {
		return none
	}
	return *p
}

func wide(p *float64) int64 {
	if p == nil {
		return math.MaxInt64
	}
	return int64(*p)
}

// mend makes the rules of a type hold for a value that was drawn field by field.
func mend(t *rapid.T, v any) {
	switch v := v.(type) {
	case *abi.Case:
		for i := range v.Labels {
			v.Labels[i] += strconv.Itoa(i)
		}
		if v.Light != nil {
			v.Light.Classification = v.Labels[0]
		}
		for i := range v.Evidence {
			v.Evidence[i].Supports = rapid.SampledFrom(append(v.Labels, "")).Draw(t, "supports")
		}
		for i := range v.Documents {
			v.Documents[i].Name += strconv.Itoa(i)
		}
	case *abi.Verdict:
		if v.Decision != abi.Affirm && v.Decision != abi.Amend {
			v.FinalClassification = ""
		} else {
			v.FinalClassification += "x"
		}
		if v.Decision != abi.Remand {
			v.RemandFeedback = nil
		} else if v.RemandFeedback == nil {
			v.RemandFeedback = &abi.RemandFeedback{}
		}
	case *abi.DefenseBrief:
		if v.PleaDeal {
			v.MotionToDismiss, v.AlternativeHypothesis = false, nil
		}
	case *abi.RemandFeedback:
		for i := range v.Questions {
			v.Questions[i].ID += strconv.Itoa(i)
		}
	case *abi.CourtConfig:
		v.RejectionThreshold = min(v.RejectionThreshold, v.ActivationThreshold)
	case *abi.Artifact:
		keepOne(t, reflect.ValueOf(v).Elem())
	case *abi.NodeResponse:
		switch v.Failure = nil; {
		case v.Artifact != nil:
			v.Experiment, v.Completion = nil, nil
		case v.Experiment != nil:
			v.Completion = nil
		case v.Completion == nil:
			v.Failure = &abi.Failure{Code: "no"}
		}
	case *abi.Param:
		v.Flag, v.Number = nil, nil
		if v.Text == nil {
			v.Text = new(string)
		}
	default:
		mendMore(v)
	}
}

// keepOne leaves one of the pointers that are there, or puts a review.
func keepOne(t *rapid.T, v reflect.Value) {
	var there []int
	for i := range v.NumField() {
		if !v.Field(i).IsNil() {
			there = append(there, i)
		}
	}
	if len(there) == 0 {
		v.Set(reflect.ValueOf(abi.Artifact{Review: &abi.ReviewDecision{Decision: abi.Approve, Confidence: 0.5}}))
		return
	}
	kept := rapid.SampledFrom(there).Draw(t, "kept")
	for _, i := range there {
		if i != kept {
			v.Field(i).SetZero()
		}
	}
}

func mendMore(v any) {
	switch v := v.(type) {
	case *abi.ContestResponse:
		if v.Failure != nil {
			v.Challenges = nil
		}
	case *abi.EdgeResponse:
		if v.Failure != nil {
			v.Answers = nil
		}
	case *abi.JudgeResponse:
		if v.Failure != nil {
			v.Opinions = nil
		}
	case *abi.AuditReport:
		v.GlobalScore = 0
		for i := range v.Results {
			v.Results[i].CriterionID += strconv.Itoa(i)
			v.GlobalScore = max(v.GlobalScore, float64(v.Results[i].Counted()))
		}
	case *abi.SourceStatement:
		mendGiven(v.Given)
		for i, element := range []abi.Element{abi.Fire, abi.Water, abi.Air} {
			if i < len(v.Elements) {
				v.Elements[i].Element = element
			}
		}
	case *abi.ElementLikelihood:
		mendGiven(v.Given)
	case *abi.SourceReliability:
		for i := range v.Statements {
			v.Statements[i].Says += strconv.Itoa(i)
		}
	case *abi.OutcomeModel:
		for i := range v.Shapes {
			v.Shapes[i].Name += strconv.Itoa(i)
		}
		for i := range v.Patterns {
			v.Patterns[i].Name += strconv.Itoa(i)
		}
	case *abi.OutcomePattern:
		for i := range v.Labels {
			v.Labels[i].Label += strconv.Itoa(i)
		}
	case *abi.Signal:
		for i := range v.Weights {
			v.Weights[i].Label += strconv.Itoa(i)
		}
	case *abi.Profile:
		for i := range v.BaseRates {
			v.BaseRates[i].Label += strconv.Itoa(i)
			v.BaseRates[i].Weight = 1 / float64(i+1)
		}
		for i := range v.Sources {
			v.Sources[i].Source += strconv.Itoa(i)
		}
		for i := range v.Signals {
			v.Signals[i].Phrase += strconv.Itoa(i)
		}
	}
}
