package codec_test

import (
	"bytes"
	"go/types"
	"math"
	"slices"
	"strings"
	"testing"

	"github.com/vmihailenco/msgpack/v5"
	"golang.org/x/tools/go/packages"

	"github.com/shadowcourt/shadowcourt/abi"
	"github.com/shadowcourt/shadowcourt/abi/codec"
	"github.com/shadowcourt/shadowcourt/abi/internal/model"
	"github.com/shadowcourt/shadowcourt/internal/testkit/check"
	"github.com/shadowcourt/shadowcourt/internal/testkit/must"
)

// object is a map in the order in which it is written: key, value, key, value.
type object []any

// raw is bytes that stand for themselves.
type raw string

// pack writes a message by hand, right or wrong.
func pack(t testing.TB, v any) []byte {
	t.Helper()
	var b bytes.Buffer
	packTo(t, msgpack.NewEncoder(&b), &b, v)
	return b.Bytes()
}

func packTo(t testing.TB, e *msgpack.Encoder, b *bytes.Buffer, v any) {
	t.Helper()
	var err error
	switch v := v.(type) {
	case object:
		err = e.EncodeMapLen(len(v) / 2)
		for _, part := range v {
			packTo(t, e, b, part)
		}
	case []any:
		err = e.EncodeArrayLen(len(v))
		for _, part := range v {
			packTo(t, e, b, part)
		}
	case raw:
		b.WriteString(string(v))
	case int:
		err = e.EncodeInt(int64(v))
	default:
		err = e.Encode(v)
	}
	must.Do(t, err)
}

// with gives the object with the value of one key replaced.
func (o object) with(key string, value any) object {
	out := slices.Clone(o)
	for i := 0; i < len(out); i += 2 {
		if out[i] == key {
			out[i+1] = value
		}
	}
	return out
}

func (o object) without(key string) object {
	out := object{}
	for i := 0; i < len(o); i += 2 {
		if o[i] != key {
			out = append(out, o[i], o[i+1])
		}
	}
	return out
}

var (
	evidence = object{"source_ref", "log", "content", "FAIL", "relevance_confidence", 0.5}
	opinion  = object{
		"judge", "j", "criterion_id", "c", "numeric_score", 3, "argument", "a",
		"cited_evidence",
		[]any{"log"},
		"relevance_confidence", 0.5, "security_violation_found", false,
	}
	text = object{"text", "x", "metadata", object{"a", "b"}}
)

func nested(n int, inner any) any {
	for range n {
		inner = []any{inner}
	}
	return inner
}

func TestRejections(t *testing.T) {
	t.Parallel()
	long := strings.Repeat("é", 100)
	cases := []struct {
		name, typ string
		message   any
		want      string // "code path: detail", one a line
	}{
		{"no bytes", "evidence", raw(""), "truncated : the message ends here"},
		{"unknown", "evidence", append(evidence, "severity", nested(3, 1)), "unknown_field severity: is not known"},
		{"unknown and no name", "evidence", append(evidence, "A b", 1), `unknown_field ["A b"]: is not known`},
		{"unknown and long", "evidence", append(evidence, long, 1), `unknown_field ["` + strings.Repeat("é", 32) + `..."]: is not known`},
		{"missing", "evidence", object{"content", "x"}, "missing_field source_ref: is missing\nmissing_field relevance_confidence: is missing"},
		{"twice", "evidence", append(evidence, "content", 3), "duplicate_key content: occurs twice"},
		{"twice in a map", "judicial_opinion", text.with("metadata", object{"a", "b", "a", 3}), `duplicate_key metadata["a"]: occurs twice`},
		{"nil", "evidence", evidence.with("content", nil), "nil_value content: is nil, not a string"},
		{"binary", "evidence", evidence.with("content", []byte("x")), "bin_for_string content: is binary, not a string"},
		{"extension", "evidence", evidence.with("content", raw("\xd4\x01x")), "extension_type content: is an extension, not a string"},
		{"a string for a bool", "criterion_opinion", opinion.with("security_violation_found", "no"), "wrong_type security_violation_found: is a string, not a bool"},
		{"a bool for a float", "evidence", evidence.with("relevance_confidence", true), "wrong_type relevance_confidence: is a bool, not a float"},
		{"bad UTF-8", "evidence", evidence.with("content", "a\xff"), "invalid_utf8 content: is not valid UTF-8"},
		{"bad UTF-8 in a key", "evidence", append(evidence, "\xff", 1), "invalid_utf8 : a key is not valid UTF-8"},
		{"empty", "evidence", evidence.with("source_ref", ""), "empty source_ref: is empty"},
		{"enum", "challenge", object{"evidence_index", 0, "challenge", "x", "severity", "deadly"}, `invalid_value severity: "deadly" is none of fatal, weakening, minor`},
		{"too few", "case", object{"id", "x", "subject", "", "labels", []any{"a"}, "evidence", []any{}, "documents", []any{}}, "bad_count labels: 1 are fewer than 2"},
		{"empty list", "edge_request", object{"node", "n", "family", "indict", "questions", []any{}, "limits", object{"ttl_exceeded", false, "handoffs", 0, "max_handoffs", 1}, "remands", 0, "max_remands", 0, "loops_left", 0}, "empty questions: is empty"},
		{"a key that is none", "judicial_opinion", text.with("metadata", object{1, "b", "c", 3}), "wrong_type metadata: a key is an integer, not a string\nwrong_type metadata[\"c\"]: is an integer, not a string"},
		{"a field that is none", "judicial_opinion", append(text, nil, 1), "wrong_type : a key is nil, not a string"},
		{"uint64 for an int", "position", object{"node", "n", "pass", uint64(math.MaxUint64), "sequence", 0}, "out_of_range pass: 18446744073709551615 is outside [0, 9223372036854775807]"},
		{"trailing", "judicial_opinion", raw("\x81\xa4text\xa1x\xc0\xc0"), "trailing_bytes : 2 bytes follow the message"},
		{"longer than the bytes", "judicial_opinion", raw("\x81\xa4text\xdb\xff\xff\xff\xffx"), "bad_length text: 4294967295 bytes are more than the 1 left"},
		{"map longer than the bytes", "evidence", raw("\x82\xa1x\xc0"), "bad_length : 4 parts cannot stand in the 3 bytes left"},
		{"cut in a header", "judicial_opinion", raw("\x81\xa4text\xda\x00"), "truncated text: the message ends here"},
		{"reserved", "evidence", raw("\x81\xa7content\xc1"), "reserved_byte content: 0xc1 is no msgpack"},
		{"deep", "evidence", append(evidence, "x", nested(32, 1)), "unknown_field x: is not known\ntoo_deep x: is nested deeper than 32"},
		{"as deep as allowed", "evidence", append(evidence, "x", nested(31, 1)), "unknown_field x: is not known"},
		{
			"all together, in their order", "evidence",
			object{"content", 1, "x", 1, "source_ref", "", "content", 2},
			"wrong_type content: is an integer, not a string\nunknown_field x: is not known\nempty source_ref: is empty\nduplicate_key content: occurs twice\nmissing_field relevance_confidence: is missing",
		},
		{
			"nested", "update",
			object{"evidences", object{"repo", []any{evidence, evidence.with("relevance_confidence", 1.5)}}},
			`out_of_range evidences["repo"][1].relevance_confidence: 1.5 is outside [0, 1]`,
		},
		{
			"a problem before the end is kept", "evidence", raw("\x82\xa7content\x01\xaasource_ref\xa5x"),
			"wrong_type content: is an integer, not a string\nbad_length source_ref: 5 bytes are more than the 1 left",
		},
	}
	for _, c := range cases {
		t.Run(c.name, func(t *testing.T) {
			t.Parallel()
			_, rejected := decode(t, messageNamed(t, c.typ), pack(t, c.message))
			check.Equal(t, show(rejected), c.want, "problems")
		})
	}
}

func show(v *abi.ValidationError) string {
	if v == nil {
		return ""
	}
	var lines []string
	for _, p := range v.Problems {
		lines = append(lines, string(p.Code)+" "+p.Path.String()+": "+p.Detail)
	}
	return strings.Join(lines, "\n")
}

func TestSizeCap(t *testing.T) {
	t.Parallel()
	message := pack(t, evidence)
	must.Get(codec.DecodeEvidence(message, len(message)))(t, "as large as allowed")
	_, err := codec.DecodeEvidence(message, len(message)-1)
	if got := problems(t, err); got == nil || len(got.Problems) != 1 || got.Problems[0].Code != abi.CodeTooLarge {
		t.Errorf("a byte too large: %v", err)
	}
	if _, err := codec.DecodeEvidence(make([]byte, abi.DefaultInputBytes+1), 0); err == nil || problems(t, err).Problems[0].Code != abi.CodeTooLarge {
		t.Errorf("over the default: %v", err)
	}
}

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
	m := must.Get(model.Load(".."))(t)
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
			check.Equal(t, loose(obj.Type(), name, nil), "", "loose")
			walked++
		}
	}
	for _, channels := range []string{"Update", "Snapshot", "NodeRequest", "ContestRequest", "EdgeRequest", "JudgeRequest", "Artifact"} {
		if m.Struct(channels) == nil {
			t.Errorf("%s was not walked", channels)
		}
	}
	check.Equal(t, walked, len(m.Structs), "walked", "structs, the model")
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
