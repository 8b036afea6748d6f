package codec_test

import (
	"go/types"
	"math"
	"slices"
	"strings"
	"testing"

	"golang.org/x/tools/go/packages"

	"github.com/shadowcourt/shadowcourt/abi/codec"
	"github.com/shadowcourt/shadowcourt/abi/internal/model"
)

// rejects demands exactly one problem with the message, at path and of code.
func rejects(t *testing.T, typ string, message any, path, code string) {
	t.Helper()
	_, rejected := decode(t, messageNamed(t, typ), pack(t, message))
	if rejected == nil || len(rejected.Problems) != 1 || string(rejected.Problems[0].Code) != code || rejected.Problems[0].Path.String() != path {
		t.Errorf("problems are %q, want %s at %s", show(rejected), code, path)
	}
}

func accepts(t *testing.T, typ string, message any) {
	t.Helper()
	if _, rejected := decode(t, messageNamed(t, typ), pack(t, message)); rejected != nil {
		t.Errorf("rejected: %s", show(rejected))
	}
}

// fields demands that these are the fields of a type, and each of them needed.
func fields(t *testing.T, typ string, message object) {
	t.Helper()
	accepts(t, typ, message)
	for i := 0; i < len(message); i += 2 {
		name := message[i].(string)
		rejects(t, typ, message.without(name), name, "missing_field")
	}
}

func TestAccept_FR1_EvidenceFields(t *testing.T) {
	t.Parallel()
	fields(t, "evidence", evidence)
	v, err := codec.DecodeEvidence(pack(t, evidence), 0)
	if err != nil || v.SourceRef != "log" || v.Content != "FAIL" || v.RelevanceConfidence != 0.5 {
		t.Errorf("evidence is %+v (%v)", v, err)
	}
}

func TestAccept_FR2_ConfidenceBounds(t *testing.T) {
	t.Parallel()
	for _, good := range []float64{0.0, 0.8, 1.0} {
		accepts(t, "evidence", evidence.with("relevance_confidence", good))
	}
	for bad, code := range map[float64]string{
		1.5: "out_of_range", -0.1: "out_of_range", math.Nextafter(1, 2): "out_of_range", math.Nextafter(0, -1): "out_of_range",
		math.NaN(): "not_finite", math.Inf(1): "not_finite", math.Inf(-1): "not_finite",
	} {
		rejects(t, "evidence", evidence.with("relevance_confidence", bad), "relevance_confidence", code)
	}
	rejects(t, "evidence", evidence.with("relevance_confidence", float32(math.Inf(1))), "relevance_confidence", "not_finite")
	rejects(t, "evidence", evidence.with("relevance_confidence", float32(1.5)), "relevance_confidence", "out_of_range")
	_, err := codec.DecodeEvidence(pack(t, evidence.with("relevance_confidence", 1.5)), 0)
	if err == nil || err.Error() != "relevance_confidence: 1.5 is outside [0, 1]" {
		t.Errorf("error is %v", err)
	}
}

func TestAccept_FR3_JudicialOpinionDefaults(t *testing.T) {
	t.Parallel()
	v, err := codec.DecodeJudicialOpinion(pack(t, object{"text", "x"}), 0)
	if err != nil || v.Text != "x" || v.CaseID != "Unknown" || v.CourtName != "Unknown" {
		t.Errorf("opinion is %+v (%v)", v, err)
	}
	v, err = codec.DecodeJudicialOpinion(pack(t, object{"text", "x", "case_id", "7", "court_name", ""}), 0)
	if err != nil || v.CaseID != "7" || v.CourtName != "" {
		t.Errorf("a given value must stand: %+v (%v)", v, err)
	}
	rejects(t, "judicial_opinion", object{"case_id", "7"}, "text", "missing_field")
	rejects(t, "judicial_opinion", object{"text", "x", "case_id", nil}, "case_id", "nil_value")
	many := object{}
	for i := range 65 {
		many = append(many, strings.Repeat("k", i+1), "v")
	}
	accepts(t, "judicial_opinion", text.with("metadata", many[:128]))
	rejects(t, "judicial_opinion", text.with("metadata", many), "metadata", "bad_count")
}

func TestAccept_FR4_CriterionResultFields(t *testing.T) {
	t.Parallel()
	fields(t, "criterion_result", object{
		"criterion_id", "c", "numeric_score", 3, "reasoning", "r", "relevance_confidence", 0.5, "security_violation_found", true,
	})
}

func TestAccept_FR5_ScoreIsAWholeNumberFrom1To5(t *testing.T) {
	t.Parallel()
	for _, good := range []int{1, 3, 5} {
		accepts(t, "criterion_opinion", opinion.with("numeric_score", good))
	}
	for _, bad := range []struct {
		score any
		code  string
	}{{0, "out_of_range"}, {6, "out_of_range"}, {3.0, "wrong_type"}, {float32(3), "wrong_type"}, {"3", "wrong_type"}, {true, "wrong_type"}, {nil, "nil_value"}} {
		rejects(t, "criterion_opinion", opinion.with("numeric_score", bad.score), "numeric_score", bad.code)
	}
}

// Every exported struct of the contract is either read by the model, which
// rejects what a message may not hold, or one of the few that are no message.
func TestAccept_SC2_NoAnyInTheContract(t *testing.T) {
	t.Parallel()
	noMessages := []string{"Collector", "PathElement", "Problem", "ValidationError"}
	m, err := model.Load("..")
	if err != nil {
		t.Fatal(err)
	}
	pkgs, err := packages.Load(&packages.Config{Mode: packages.NeedName | packages.NeedTypes}, "github.com/shadowcourt/shadowcourt/abi")
	if err != nil || len(pkgs) != 1 || len(pkgs[0].Errors) > 0 {
		t.Fatalf("load: %v %v", err, pkgs)
	}
	scope := pkgs[0].Types.Scope()
	walked := 0
	for _, name := range scope.Names() {
		obj, ok := scope.Lookup(name).(*types.TypeName)
		if !ok || !obj.Exported() || slices.Contains(noMessages, name) {
			continue
		}
		if _, isStruct := obj.Type().Underlying().(*types.Struct); isStruct {
			if m.Struct(name) == nil {
				t.Errorf("%s is a struct without abi tags", name)
			}
			if path := loose(obj.Type(), name, nil); path != "" {
				t.Errorf("%s is loose", path)
			}
			walked++
		}
	}
	for _, channels := range []string{"Update", "Snapshot", "NodeRequest", "ContestRequest", "EdgeRequest", "JudgeRequest", "Artifact"} {
		if m.Struct(channels) == nil {
			t.Errorf("%s was not walked", channels)
		}
	}
	if walked != len(m.Structs) {
		t.Errorf("walked %d structs, the model has %d", walked, len(m.Structs))
	}
}

// loose finds a part of a type that could hold just anything, and says where.
func loose(t types.Type, path string, above []types.Type) string {
	if slices.Contains(above, t) {
		return ""
	}
	above = append(above, t)
	switch u := t.Underlying().(type) {
	case *types.Interface, *types.Signature, *types.Chan:
		return path
	case *types.Pointer:
		return loose(u.Elem(), path, above)
	case *types.Slice:
		if b, ok := u.Elem().Underlying().(*types.Basic); ok && b.Kind() == types.Byte {
			return path
		}
		return loose(u.Elem(), path+"[]", above)
	case *types.Map:
		return loose(u.Elem(), path+"[key]", above)
	case *types.Struct:
		for field := range u.Fields() {
			if found := loose(field.Type(), path+"."+field.Name(), above); found != "" {
				return found
			}
		}
	}
	return ""
}
