package sandbox

import (
	"bytes"
	"context"
	"errors"
	"strings"
	"testing"

	"github.com/shadowcourt/shadowcourt/abi"
	"github.com/shadowcourt/shadowcourt/abi/codec"
	"github.com/shadowcourt/shadowcourt/internal/testkit/must"
	"github.com/shadowcourt/shadowcourt/internal/testkit/wasmtest"
)

const answerAt = 8192

// asking is a module that passes its request on to a capability, so many times, and returns what was answered the last time.
func asking(capability abi.Capability, room, capacity int32, times int) wasmtest.Module {
	i32s := bytes.Repeat([]byte{wasmtest.I32}, 4)
	ask := wasmtest.Join([]byte{wasmtest.LocalGet, 0, wasmtest.LocalGet, 1}, wasmtest.Const(room), wasmtest.Const(capacity), []byte{wasmtest.Call, 0})
	body := bytes.Repeat(append(bytes.Clone(ask), wasmtest.Drop), times-1)
	body = wasmtest.Join(body, ask, []byte{wasmtest.I64ExtendU}, []byte{wasmtest.I64Const}, big(answerAt), []byte{wasmtest.I64Const, 32, wasmtest.I64Shl, wasmtest.I64Or})
	m := small(body)
	m.Imports = []wasmtest.Import{{Module: abi.CapabilityModule, Name: string(capability), Params: i32s, Results: []byte{wasmtest.I32}}}
	return m
}

// big is the operand of an i64.const.
func big(v int32) []byte { return wasmtest.Const(v)[1:] }

func loadGranted(tb testing.TB, e *Engine, m wasmtest.Module, granted ...abi.Capability) (*Module, error) {
	tb.Helper()
	info := must.Get(Inspect(m.Bytes()))(tb)
	return e.LoadInspected(context.Background(), info, granted)
}

// library is a broker that knows one case by its name.
type library struct {
	Nothing
	name  string
	lines []string
}

func (l *library) Ask(ctx context.Context, capability abi.Capability, request []byte) ([]byte, error) {
	return Answer(ctx, l, capability, request)
}

func (l *library) Log(_ context.Context, line abi.LogLine) error {
	l.lines = append(l.lines, line.Message)
	return nil
}

func (l *library) Recall(context.Context, abi.RecallQuery) (abi.PriorCases, error) {
	if l.name == "" {
		return abi.PriorCases{}, errors.New("the library burns")
	}
	return abi.PriorCases{Cases: []abi.PriorCase{{CaseID: l.name, Status: "affirmed", Seen: 1}}}, nil
}

func recallQuery(limit int) []byte {
	return codec.AppendRecallQuery(nil, &abi.RecallQuery{Limit: limit})
}

func askFor(m *Module, broker Broker, request []byte) (Output, error) {
	return m.Call(WithBroker(context.Background(), broker), abi.CallNode, request)
}

func TestAccept_PL8_ACapabilityThatIsNotGrantedIsNotThere(t *testing.T) {
	t.Parallel()
	e := open(t, Config{})
	for _, capability := range Capabilities() {
		var rejected *LoadError
		if _, err := loadGranted(t, e, asking(capability, answerAt, 100, 1)); !errors.As(err, &rejected) || !rejected.Has(FaultForbiddenImport) {
			t.Errorf("%s without a grant: %v", capability, err)
		}
		must.Get(loadGranted(t, e, asking(capability, answerAt, 100, 1), capability))(t, capability, "with a grant")
	}
	var rejected *LoadError
	if _, err := loadGranted(t, e, asking(abi.CapComplete, answerAt, 100, 1), abi.CapComplete); !errors.As(err, &rejected) || !rejected.Has(FaultForbiddenImport) {
		t.Errorf("a name without a function: %v", err)
	}
	wrong := asking(abi.CapRecall, answerAt, 100, 1)
	wrong.Imports[0].Params = wrong.Imports[0].Params[1:]
	if _, err := loadGranted(t, e, wrong, abi.CapRecall); !errors.As(err, &rejected) || !rejected.Has(FaultWrongSignature) {
		t.Errorf("another signature: %v", err)
	}
}

// Who asks is told of its own case, whichever instance it runs in, and in every way of putting instances back.
func TestCapabilityAnswersComeFromTheCall(t *testing.T) {
	t.Parallel()
	for _, reset := range Resets() {
		e := open(t, Config{Reset: reset})
		m := must.Get(loadGranted(t, e, asking(abi.CapRecall, answerAt, 4096, 1), abi.CapRecall))(t)
		fuel := map[string]uint64{}
		for _, name := range []string{"one", "two", "one", "none", "two"} {
			ctx, want := context.Background(), abi.PriorCases{}
			if name != "none" {
				ctx = WithBroker(ctx, &library{name: name})
				want.Cases = []abi.PriorCase{{CaseID: name, Status: "affirmed", Seen: 1}}
			}
			out := must.Get(m.Call(ctx, abi.CallNode, recallQuery(3)))(t)
			if !bytes.Equal(out.Bytes, codec.AppendPriorCases(nil, &want)) {
				t.Errorf("%s: asked about %q and got %q", reset, name, out.Bytes)
			}
			if before, ok := fuel[name]; ok && before != *out.Fuel {
				t.Errorf("%s: fuel %d, before %d", reset, *out.Fuel, before)
			}
			fuel[name] = *out.Fuel
		}
		if fuel["one"] != fuel["two"] || fuel["one"] <= fuel["none"] {
			t.Errorf("%s: fuel %v is not by the bytes", reset, fuel)
		}
	}
}

// What a module asks before its first call it asks of nobody.
func TestWarmCallsAskNobody(t *testing.T) {
	t.Parallel()
	for _, reset := range []Reset{ResetAuto, ResetFresh} {
		e := open(t, Config{Reset: reset})
		info := must.Get(Inspect(asking(abi.CapRecall, answerAt, 4096, 1).Bytes()))(t)
		asked := &library{} // fails whoever asks
		m := must.Get(e.LoadInspected(WithBroker(t.Context(), asked), info, []abi.Capability{abi.CapRecall}, Warm{abi.CallNode, recallQuery(1)}))(t)
		must.Get(askFor(m, &library{name: "one"}, recallQuery(1)))(t, reset)
	}
}

func TestCapabilityRejections(t *testing.T) {
	t.Parallel()
	e := open(t, Config{})
	long := codec.AppendCorrelateQuery(nil, &abi.CorrelateQuery{Text: strings.Repeat("a", 2000), Limit: 1})
	for name, test := range map[string]struct {
		module  wasmtest.Module
		broker  library
		request []byte
		cause   Cause
		detail  string
	}{
		"a limit of nothing":  {asking(abi.CapRecall, answerAt, 100, 1), library{name: "x"}, recallQuery(0), CauseBadRequest, "limit"},
		"no message":          {asking(abi.CapRecall, answerAt, 100, 1), library{name: "x"}, nil, CauseBadRequest, "recall"},
		"an answer elsewhere": {asking(abi.CapRecall, 1<<30, 100, 1), library{name: "x"}, recallQuery(1), CauseBadPointer, "answer of recall"},
		"too many questions":  {asking(abi.CapCorrelate, answerAt, 100, maxQueries+1), library{name: "x"}, long, CauseDenied, "256 questions"},
		"a host that fails":   {asking(abi.CapRecall, answerAt, 100, 1), library{}, recallQuery(1), CauseHost, "burns"},
	} {
		m := must.Get(loadGranted(t, e, test.module, Capabilities()...))(t)
		_, err := askFor(m, &test.broker, test.request)
		var failed *CallError
		if !errors.As(err, &failed) || failed.Cause != test.cause || !strings.Contains(failed.Detail, test.detail) {
			t.Errorf("%s: %v", name, err)
		}
		if _, err := askFor(m, &library{name: "x"}, recallQuery(1)); err != nil && test.cause != CauseBadPointer && test.cause != CauseDenied {
			t.Errorf("%s: the next call fails: %v", name, err)
		}
	}
}

// An answer without room is not written, and its length is told.
func TestAnAnswerThatIsTooLongIsNotWritten(t *testing.T) {
	t.Parallel()
	m := must.Get(loadGranted(t, open(t, Config{}), asking(abi.CapRecall, answerAt, 3, 1), abi.CapRecall))(t)
	out, err := askFor(m, &library{name: "one"}, recallQuery(1))
	want := codec.AppendPriorCases(nil, &abi.PriorCases{Cases: []abi.PriorCase{{CaseID: "one", Status: "affirmed", Seen: 1}}})
	if err != nil || !bytes.Equal(out.Bytes, make([]byte, len(want))) {
		t.Errorf("%q (%v)", out.Bytes, err)
	}
}

func TestALogIsCutAndBreaksNothing(t *testing.T) {
	t.Parallel()
	m := must.Get(loadGranted(t, open(t, Config{}), asking(abi.CapLog, answerAt, 0, maxLogLines+50), abi.CapLog))(t)
	broker := &library{}
	out, err := askFor(m, broker, codec.AppendLogLine(nil, &abi.LogLine{Message: "here"}))
	if err != nil || len(out.Bytes) != 0 || len(broker.lines) != maxLogLines || broker.lines[0] != "here" {
		t.Errorf("%d lines, answer %q (%v)", len(broker.lines), out.Bytes, err)
	}
}
