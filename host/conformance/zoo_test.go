package conformance_test

import (
	"math"
	"slices"
	"strings"
	"testing"

	"github.com/shadowcourt/shadowcourt/abi"
	"github.com/shadowcourt/shadowcourt/abi/abitest"
	"github.com/shadowcourt/shadowcourt/abi/codec"
	"github.com/shadowcourt/shadowcourt/host/conformance"
	"github.com/shadowcourt/shadowcourt/internal/testkit/must"
	"github.com/shadowcourt/shadowcourt/internal/testkit/wasmtest"
)

// animal is a good tiny module with one thing broken, and the one check that must find it, with its clause.
type animal struct {
	name   string
	check  abitest.CheckID
	clause string
	wasm   []byte
}

const wasi = "wasi_snapshot_preview1"

// broken gives the file of a tiny module to which one thing was done.
func broken(do func(*tiny)) []byte {
	t := goodTiny()
	do(t)
	return t.bytes()
}

func zoo() []animal {
	return slices.Concat(unloadable(), misdeclared(), endless(), unreadable(), unfitting(), asking(), attentive(), unprepared())
}

// unloadable are rejected by the loader.
func unloadable() []animal {
	good := goodTiny().bytes()
	importing := func(module, name string, params ...byte) func(*tiny) {
		return func(t *tiny) {
			t.Imports = []wasmtest.Import{{Module: module, Name: name, Params: params, Results: []byte{wasmtest.I32}}}
		}
	}
	start := 3
	return []animal{
		{"a script", abitest.CheckModule, "§1.1", []byte("#!/bin/sh\nexit 0\n")},
		{"no bytes", abitest.CheckModule, "§1.1", nil},
		{"a file cut off", abitest.CheckModule, "§1.1", good[:len(good)/2]},
		{"a component", abitest.CheckModule, "§1.1", []byte("\x00asm\x0d\x00\x01\x00")},
		{"code that does not validate", abitest.CheckModule, "§1.1", broken(func(t *tiny) { t.Funcs[node].Body = []byte{wasmtest.LocalGet, 9} })},
		{"a file too large", abitest.CheckSizes, "§5.1", broken(func(t *tiny) {
			t.Customs = []wasmtest.Custom{{Name: "padding", Payload: make([]byte, abi.DefaultModuleBytes)}}
		})},
		{"too much memory", abitest.CheckSizes, "§5.1", broken(func(t *tiny) { t.MemoryPages = 1025 })},
		{"too large a table", abitest.CheckSizes, "§5.1", broken(func(t *tiny) { t.TableMin = abi.DefaultTableEntries + 1 })},
		{"no memory", abitest.CheckExports, "§2.1", broken(func(t *tiny) { t.Memory = "" })},
		{"a memory of another name", abitest.CheckExports, "§2.1", broken(func(t *tiny) { t.Memory = "mem" })},
		{"no allocator", abitest.CheckExports, "§2.1", broken(func(t *tiny) { t.Funcs[alloc].Export = "" })},
		{"no call function", abitest.CheckExports, "§2.1", broken(func(t *tiny) { t.Funcs[node].Export, t.Funcs[contest].Export = "", "" })},
		{"an allocator of 64 bits", abitest.CheckExports, "§2.1", broken(func(t *tiny) {
			t.Funcs[alloc].Params, t.Funcs[alloc].Body = []byte{wasmtest.I64}, wasmtest.Const(1024)
		})},
		{"a result of 32 bits", abitest.CheckExports, "§2.1", broken(func(t *tiny) {
			t.Funcs[node].Results, t.Funcs[node].Body = []byte{wasmtest.I32}, wasmtest.Const(8)
		})},
		{"_initialize with a parameter", abitest.CheckExports, "§2.1", broken(func(t *tiny) {
			t.Funcs = append(t.Funcs, wasmtest.Func{Export: "_initialize", Params: []byte{wasmtest.I32}})
		})},
		{"a command", abitest.CheckReactor, "§2.3", broken(func(t *tiny) { t.Funcs = append(t.Funcs, wasmtest.Func{Export: "_start"}) })},
		{"a trap at the start", abitest.CheckReactor, "§2.3", broken(func(t *tiny) {
			t.Funcs, t.Start = append(t.Funcs, wasmtest.Func{Body: []byte{wasmtest.Unreachable}}), &start
		})},
		{"a trap in _initialize", abitest.CheckReactor, "§2.3", broken(func(t *tiny) {
			t.Funcs = append(t.Funcs, wasmtest.Func{Export: "_initialize", Body: []byte{wasmtest.Unreachable}})
		})},
		{"data outside of memory", abitest.CheckReactor, "§2.3", broken(func(t *tiny) { t.Data = append(t.Data, make([]byte, 65536)...) })},
		{"an import from env", abitest.CheckImports, "§2.10", broken(importing("env", "now"))},
		{"the network", abitest.CheckImports, "§2.10", broken(importing(wasi, "sock_shutdown", wasmtest.I32, wasmtest.I32))},
		{"a stand-in of another signature", abitest.CheckImports, "§2.10", broken(importing(wasi, "sched_yield", wasmtest.I32))},
		{"a capability that it does not ask for", abitest.CheckCapabilities, "§2.12", broken(importing("shadowcourt", "recall", slices.Repeat([]byte{wasmtest.I32}, 4)...))},
		{"a capability without a function", abitest.CheckCapabilities, "§2.12", broken(func(t *tiny) {
			importing("shadowcourt", "complete", slices.Repeat([]byte{wasmtest.I32}, 4)...)(t)
			t.manifest.Capabilities = []abi.Capability{abi.CapComplete}
		})},
	}
}

// misdeclared have a manifest that is not right, or not true.
func misdeclared() []animal {
	good := codec.AppendManifest(nil, goodTiny().manifest)
	return []animal{
		{"no manifest", abitest.CheckManifest, "§1.4", broken(func(t *tiny) { t.manifest = nil })},
		{"a manifest in JSON", abitest.CheckManifest, "§1.4", broken(func(t *tiny) { t.payload = []byte(`{"name":"tiny"}`) })},
		{"a manifest with a byte too many", abitest.CheckManifest, "§1.4", broken(func(t *tiny) { t.payload = append(slices.Clone(good), 0) })},
		{"a manifest that is not canonical", abitest.CheckManifest, "§1.4", broken(func(t *tiny) {
			t.payload = append([]byte{0xde, 0, good[0] & 15}, good[1:]...)
		})},
		{"families without node calls", abitest.CheckManifest, "§1.4", broken(func(t *tiny) {
			t.Funcs[node].Export, t.manifest.Calls = "", []abi.Call{abi.CallContest}
		})},
		{"node calls without families", abitest.CheckManifest, "§1.4", broken(func(t *tiny) { t.manifest.Families = []abi.Family{} })},
		{"a call named twice", abitest.CheckManifest, "§1.4", broken(func(t *tiny) {
			t.manifest.Calls = append(t.manifest.Calls, abi.CallNode)
		})},
		{"a family named twice", abitest.CheckManifest, "§1.4", broken(func(t *tiny) {
			t.manifest.Families = append(t.manifest.Families, abi.FamilyVerdict)
		})},
		{"a family that is the host's own", abitest.CheckManifest, "§1.4", broken(func(t *tiny) {
			t.manifest.Families = append(t.manifest.Families, abi.FamilyJudge)
		})},
		{"more memory than hosts give", abitest.CheckManifest, "§1.4", broken(func(t *tiny) {
			t.manifest.Limits = &abi.LimitRequest{MemoryBytes: 1 << 40}
		})},
		{"another contract", abitest.CheckVersion, "§6.2", broken(func(t *tiny) { t.manifest.ABI = "2.0" })},
		{"a later contract", abitest.CheckVersion, "§6.2", broken(func(t *tiny) { t.manifest.ABI = "1.99" })},
		{"a contract of no version", abitest.CheckVersion, "§6.2", broken(func(t *tiny) { t.manifest.ABI = "latest" })},
		{"a promise without an export", abitest.CheckCalls, "§2.2", broken(func(t *tiny) { t.Funcs[contest].Export = "" })},
		{"an export without a promise", abitest.CheckCalls, "§2.2", broken(func(t *tiny) { t.manifest.Calls = t.manifest.Calls[:1] })},
	}
}

// endless do not return as they should.
func endless() []animal {
	calling := func(module, name string, params []byte, results []byte, args ...byte) func(*tiny) {
		return func(t *tiny) {
			t.Imports = []wasmtest.Import{{Module: module, Name: name, Params: params, Results: results}}
			t.Funcs[node].Body = slices.Concat(args, []byte{wasmtest.Call, 0, wasmtest.Unreachable})
		}
	}
	four := slices.Repeat([]byte{wasmtest.I32}, 4)
	// asking puts a question of some bytes of the data, which ends the call.
	asking := func(code func(question []byte) []byte) func(*tiny) {
		return func(t *tiny) {
			t.Imports = []wasmtest.Import{{Module: "shadowcourt", Name: "recall", Params: four, Results: four[:1]}}
			t.manifest.Capabilities = []abi.Capability{abi.CapRecall}
			good := t.Funcs[node].Body
			at := 8 + len(t.Data)
			query := codec.AppendRecallQuery(nil, &abi.RecallQuery{Limit: 1})
			t.Data = append(t.Data, query...)
			question := slices.Concat(wasmtest.Const(int32(at)), wasmtest.Const(int32(len(query))), wasmtest.Const(0), wasmtest.Const(0), []byte{wasmtest.Call, 0, wasmtest.Drop})
			t.Funcs[node].Body = append(code(question), good...)
		}
	}
	loop := []byte{wasmtest.Loop, wasmtest.Void, wasmtest.Br, 0, wasmtest.End}
	in := func(function int, body ...byte) []byte {
		return broken(func(t *tiny) { t.Funcs[function].Body = body })
	}
	before := func(code ...byte) []byte {
		return broken(func(t *tiny) { t.Funcs[node].Body = append(code, t.Funcs[node].Body...) })
	}
	return []animal{
		{"a trap", abitest.CheckReturns, "§2.16", in(node, wasmtest.Unreachable)},
		{"a trap in one call of two", abitest.CheckReturns, "§2.16", in(contest, wasmtest.Unreachable)},
		{"a trap at long requests", abitest.CheckReturns, "§2.16", before(when(longerThan(10_000), []byte{wasmtest.Unreachable})...)},
		{"a trap at the longest requests", abitest.CheckReturns, "§2.16", before(when(longerThan(200_000), []byte{wasmtest.Unreachable})...)},
		{"a trap at what is not ASCII", abitest.CheckReturns, "§2.16", before(whenHas("gr\xc3\xb6", []byte{wasmtest.Unreachable})...)},
		{"exit", abitest.CheckStays, "§2.11", broken(calling(wasi, "proc_exit", four[:1], nil, wasmtest.Const(0)...))},
		{"a file", abitest.CheckStays, "§2.11", broken(calling(wasi, "fd_sync", four[:1], four[:1], wasmtest.Const(3)...))},
		{"no memory for a request", abitest.CheckAllocator, "§2.7", in(alloc, wasmtest.Const(0)...)},
		{"memory that is not there", abitest.CheckAllocator, "§2.7", in(alloc, wasmtest.Const(-16)...)},
		{"a trap in the allocator", abitest.CheckAllocator, "§2.7", in(alloc, wasmtest.Unreachable)},
		{"a buffer too small for some", abitest.CheckAllocator, "§2.7", in(alloc, wasmtest.Const(60_000)...)},
		{"a response outside of memory", abitest.CheckBounds, "§2.8", in(node, answerAt(0x7fff0000, 16)...)},
		{"a response over the end", abitest.CheckBounds, "§2.8", in(node, answerAt(8, 900_000)...)},
		{"a loop", abitest.CheckBudget, "§5.2", in(node, append(loop, wasmtest.Unreachable)...)},
		{"a memory bomb", abitest.CheckBudget, "§5.2", in(node, slices.Concat(
			[]byte{wasmtest.Loop, wasmtest.Void}, wasmtest.Const(1), []byte{wasmtest.MemoryGrow, 0}, wasmtest.Const(-1),
			[]byte{i32Eq, 0x45, brIf, 0, wasmtest.End, wasmtest.Unreachable})...)},
		{"deep recursion", abitest.CheckBudget, "§5.2", in(node, wasmtest.LocalGet, 0, wasmtest.LocalGet, 1, wasmtest.Call, node, wasmtest.I64Const, 1, wasmtest.I64Or)},
		{"a response of two megabytes", abitest.CheckOutput, "§5.1", in(node, answerAt(8, 2<<20)...)},
		{"a question that is none", abitest.CheckQuestions, "§2.12", broken(asking(func(q []byte) []byte {
			return slices.Concat(wasmtest.Const(8), wasmtest.Const(3), wasmtest.Const(0), wasmtest.Const(0), []byte{wasmtest.Call, 0, wasmtest.Drop}, q)
		}))},
		{"a question outside of memory", abitest.CheckQuestions, "§2.12", broken(asking(func(q []byte) []byte {
			return slices.Concat(wasmtest.Const(-64), wasmtest.Const(32), wasmtest.Const(0), wasmtest.Const(0), []byte{wasmtest.Call, 0, wasmtest.Drop}, q)
		}))},
		{"too many questions", abitest.CheckQuestions, "§2.12", broken(asking(func(q []byte) []byte { return slices.Repeat(q, 257) }))},
	}
}

// unreadable answer with what no host takes.
func unreadable() []animal {
	good := verdict(abi.Verdict{Decision: abi.Mistrial, Reasoning: "it cannot say"})
	replace := func(old, with string) []byte {
		at := slices.Index(good, old[0])
		for string(good[at:at+len(old)]) != old {
			at++
		}
		return answersWith(slices.Concat(good[:at], []byte(with), good[at+len(old):]))
	}
	both := codec.AppendNodeResponse(nil, &abi.NodeResponse{
		Artifact: &abi.Artifact{Discovery: &abi.Discovery{}}, Failure: &abi.Failure{Code: "both"},
	})
	return []animal{
		{"no response", abitest.CheckMessage, "§2.9", answersWith(nil)},
		{"JSON", abitest.CheckEncoding, "§3.7", answersWith([]byte(`{"artifact":{}}`))},
		{"a byte too many", abitest.CheckEncoding, "§3.7", answersWith(append(slices.Clone(good), 0xc0))},
		{"a response cut off", abitest.CheckEncoding, "§3.7", answersWith(good[:len(good)-4])},
		{"a key that there is not", abitest.CheckEncoding, "§3.7", replace("\xa9reasoning", "\xa9reasonong")},
		{"nil", abitest.CheckEncoding, "§3.7", replace("\xadit cannot say", "\xc0")},
		{"a string that is no UTF-8", abitest.CheckEncoding, "§3.7", replace("\xadit cannot say", "\xadit cannot \xe2\x82 ")},
		{"NaN", abitest.CheckEncoding, "§3.7", answersWith(verdict(abi.Verdict{Decision: abi.Mistrial, Confidence: math.NaN()}))},
		{"surer than sure", abitest.CheckEncoding, "§3.7", answersWith(verdict(abi.Verdict{Decision: abi.Mistrial, Confidence: 1.5}))},
		{"a decision that there is not", abitest.CheckEncoding, "§3.7", answersWith(verdict(abi.Verdict{Decision: "convict"}))},
		{"a verdict without a classification", abitest.CheckConsistent, "§9.1", answersWith(verdict(abi.Verdict{Decision: abi.Affirm}))},
		{"an artifact and a failure", abitest.CheckConsistent, "§9.1", answersWith(both)},
	}
}

// answersWith gives one response to every node call.
func answersWith(response []byte) []byte {
	return broken(func(t *tiny) { t.Funcs[node].Body = t.gives(response) })
}

func experimentAnswer(revision abi.TreeRevision, runs int) []byte {
	return codec.AppendNodeResponse(nil, &abi.NodeResponse{Experiment: &abi.Experiment{
		Product: revision, Tests: revision, Environment: abi.OriginalEnvironment, Order: abi.Alone, Runs: runs,
	}})
}

// unfitting answer what was not asked.
func unfitting() []animal {
	family := func(f abi.Family, a abi.Artifact) []byte {
		return broken(func(t *tiny) {
			t.Funcs[node].Body = t.gives(nodeAnswer(a))
			t.manifest.Families = []abi.Family{f}
		})
	}
	contested := func(c abi.Challenge) []byte {
		return broken(func(t *tiny) { t.Funcs[contest].Body = t.gives(challenges(c)) })
	}
	far := abi.Challenge{EvidenceIndex: 1 << 20, Challenge: "doubtful", Severity: abi.Minor}
	invented := abi.Finding{Document: "log", Observation: "o", Quote: "this stands in no log"}
	return []animal{
		{"another artifact", abitest.CheckArtifact, "§4.2", family(abi.FamilyVerdict, abi.Artifact{Discovery: &abi.Discovery{}})},
		{"an experiment that nobody offered", abitest.CheckOffers, "§2.12", answersWith(experimentAnswer(abi.Base, 100))},
		{"an experiment beside those on offer", abitest.CheckOffers, "§2.12", broken(func(t *tiny) {
			t.Funcs[node].Body = append(whenHas("offe", t.gives(experimentAnswer(abi.Base, 100))), t.Funcs[node].Body...)
		})},
		{"an experiment that was run already", abitest.CheckOffers, "§2.12", broken(func(t *tiny) {
			t.Funcs[node].Body = append(whenHas("offe", t.gives(experimentAnswer(abi.Head, 5))), t.Funcs[node].Body...)
		})},
		{"a charge of its own", abitest.CheckIndict, "§4.3", family(abi.FamilyIndict, abi.Artifact{Indictment: &abi.Indictment{ChargedDefectType: "mine"}})},
		{"a quote that does not stand", abitest.CheckDiscover, "§4.4", family(abi.FamilyDiscover, abi.Artifact{Discovery: &abi.Discovery{Findings: []abi.Finding{invented}}})},
		{"a challenge of an item not put", abitest.CheckContest, "§4.5", contested(far)},
		{"a brief on an item that is not there", abitest.CheckDefend, "§4.6", family(abi.FamilyDefend, abi.Artifact{DefenseBrief: &abi.DefenseBrief{Challenges: []abi.Challenge{far}}})},
		{"an item that stands nowhere", abitest.CheckHearing, "§4.7", family(abi.FamilyHearing, abi.Artifact{HearingTurn: &abi.HearingTurn{
			NewItems: []abi.IndictmentItem{{SourceRef: "me", Content: "this stands in no log"}},
		}})},
		{"a label of no case", abitest.CheckVerdict, "§4.8", family(abi.FamilyVerdict, abi.Artifact{Verdict: &abi.Verdict{Decision: abi.Amend, FinalClassification: "mine"}})},
		{"somebody else's word", abitest.CheckIdentity, "§4.11", contested(abi.Challenge{Challenge: "doubtful", Severity: abi.Minor, By: "the bench"})},
		{"no answers", abitest.CheckEdges, "§4.12", broken(func(t *tiny) {
			t.serve(abi.CallEdges, codec.AppendEdgeResponse(nil, &abi.EdgeResponse{}))
			t.manifest.Edges = []string{"HD1"}
		})},
		{"no opinions", abitest.CheckJudge, "§4.16", broken(func(t *tiny) {
			t.serve(abi.CallJudge, codec.AppendJudgeResponse(nil, &abi.JudgeResponse{}))
			t.manifest.Criteria = []string{"clear"}
		})},
		{"a prior case of another label", abitest.CheckLight, "§9.2", family(abi.FamilyRecall, abi.Artifact{Recall: &abi.RecallResult{Classification: "mine"}})},
		{"no account of a remand", abitest.CheckLight, "§9.2", broken(func(t *tiny) {
			// Plain cases are not remanded: to these it gives a failure.
			remanded := t.gives(nodeAnswer(abi.Artifact{Report: &abi.LightReport{Classification: "x"}}))
			t.Funcs[node].Body = append(whenHas("feed", remanded), t.gives(nodeFailure("first_time"))...)
			t.manifest.Families = []abi.Family{abi.FamilyReport}
		})},
	}
}

// attentive answer well, and look at what they must not look at.
func attentive() []animal {
	other := verdict(abi.Verdict{Decision: abi.Mistrial})
	trap := []byte{wasmtest.Unreachable}
	// unless answers what has four bytes in it, and traps over the rest.
	unless := func(four string) []byte {
		return broken(func(t *tiny) { t.Funcs[node].Body = append(whenHas(four, t.Funcs[node].Body), wasmtest.Unreachable) })
	}
	// over traps over what has four bytes in it.
	over := func(four string) []byte {
		return broken(func(t *tiny) { t.Funcs[node].Body = append(whenHas(four, trap), t.Funcs[node].Body...) })
	}
	otherwise := func(condition func(then []byte) []byte) []byte {
		return broken(func(t *tiny) {
			t.Funcs[node].Body = append(condition(t.gives(other)), t.Funcs[node].Body...)
		})
	}
	edges := func(four string, then *abi.EdgeResponse) []byte {
		return broken(func(t *tiny) {
			t.serve(abi.CallEdges, codec.AppendEdgeResponse(nil, &abi.EdgeResponse{Failure: &abi.Failure{Code: "never"}}))
			t.Funcs[node].Body = append(whenHas(four, t.gives(codec.AppendEdgeResponse(nil, then))), t.Funcs[node].Body...)
			t.manifest.Edges = []string{"HD1"}
		})
	}
	oddFields := slices.Concat([]byte{wasmtest.LocalGet, 0, load8, 0, 0}, wasmtest.Const(1), []byte{0x71}) // i32.and
	return []animal{
		{"a judge by the node's name", abitest.CheckNodeName, "§4.1", otherwise(func(then []byte) []byte { return whenHas("e-tw", then) })},
		{"a judge by the family's name", abitest.CheckNodeName, "§4.1", otherwise(func(then []byte) []byte {
			return when(nodeNameIs("verd"), then)
		})},
		{"a judge by the length of the name", abitest.CheckNodeName, "§4.1", otherwise(func(then []byte) []byte {
			return when(byteIs(6, 0xa2), then)
		})},
		{"a trap at a name that it does not know", abitest.CheckNodeName, "§4.1", broken(func(t *tiny) {
			t.Funcs[node].Body = append(when(nodeNameIs("qzqz"), trap), t.Funcs[node].Body...)
		})},
		{"a trap without Light", abitest.CheckOptional, "§3.12", unless("\xa5lig")},
		{"a trap without a brief", abitest.CheckOptional, "§3.12", unless("\xaddef")},
		{"a trap at one label", abitest.CheckOptional, "§3.12", over("els\x91")},
		{"a trap at no labels", abitest.CheckOptional, "§3.12", over("els\x90")},
		{"a trap at a hearing without rounds", abitest.CheckOptional, "§3.12", over("nds\x90")},
		{"a trap at a rule that it does not know", abitest.CheckUnknown, "§4.15", broken(func(t *tiny) {
			t.serve(abi.CallEdges, codec.AppendEdgeResponse(nil, &abi.EdgeResponse{Failure: &abi.Failure{Code: "never"}}))
			t.Funcs[node].Body = append(whenHas("7f3a", trap), t.Funcs[node].Body...)
			t.manifest.Edges = []string{"HD1"}
		})},
		{"an edge of _any by the artifact", abitest.CheckAny, "§4.13", edges("amen", &abi.EdgeResponse{Failure: &abi.Failure{Code: "amended"}})},
		{"no to a rule that it does not know", abitest.CheckUnknown, "§4.15", edges("7f3a", &abi.EdgeResponse{Answers: []abi.EdgeAnswer{{ID: "unknown"}}})},
		{"a judge by the number of fields", abitest.CheckParams, "§4.17", otherwise(func(then []byte) []byte { return when(oddFields, then) })},
		{"a trap where all is absent", abitest.CheckOptional, "§3.12", broken(func(t *tiny) {
			t.Funcs[node].Body = append(when(byteIs(0, 0x85), []byte{wasmtest.Unreachable}), t.Funcs[node].Body...)
		})},
		{"a loop where there is nothing", abitest.CheckMalformed, "§3.14", broken(func(t *tiny) {
			t.Funcs[node].Body = append(when(lengthIs(0), []byte{wasmtest.Loop, wasmtest.Void, wasmtest.Br, 0, wasmtest.End, wasmtest.Unreachable}), t.Funcs[node].Body...)
		})},
		{"no response to nothing", abitest.CheckMalformed, "§3.14", broken(func(t *tiny) {
			t.Funcs[node].Body = append(when(lengthIs(0), i64(0)), t.Funcs[node].Body...)
		})},
		{"a response outside, to nil", abitest.CheckMalformed, "§3.14", broken(func(t *tiny) {
			t.Funcs[node].Body = append(when(byteIs(0, 0xc0), answerAt(0x7fff0000, 1)), t.Funcs[node].Body...)
		})},
		{"a count of its calls", abitest.CheckMemory, "§2.6", otherwise(func(then []byte) []byte {
			first := slices.Concat([]byte{wasmtest.GlobalGet, 0}, wasmtest.Const(1), []byte{wasmtest.GlobalSet, 0}, wasmtest.Const(0), []byte{i32Eq})
			return when(first, then)
		})},
	}
}

// unprepared have the export by which a host prepares them, and are not ready for what follows.
func unprepared() []animal {
	preparing := func(body func(t *tiny) []byte) []byte {
		return broken(func(t *tiny) {
			f := t.Funcs[node]
			f.Export, f.Body = abi.ExportPrepare, body(t)
			t.Funcs = append(t.Funcs, f)
		})
	}
	const emptyMap = 0x80
	return []animal{
		{"an answer to what it does not have", abitest.CheckPrepared, "§2.19", preparing(func(t *tiny) []byte { return t.gives([]byte{emptyMap}) })},
		{"a trap when it is prepared", abitest.CheckPrepared, "§2.19", preparing(func(*tiny) []byte { return []byte{wasmtest.Unreachable} })},
	}
}

// Four bytes that tell what a request has: the first of a key with its length, or some of an outcome.
const (
	hasModels      = "\xa6mod"
	hasCompletions = "\xabcom"
	hasFailed      = "e\xa6fa"
	hasNotAsked    = "_ask"
)

func question(model string, tokens int) []byte {
	return codec.AppendNodeResponse(nil, &abi.NodeResponse{Completion: &abi.Completion{
		Model: model, Messages: []abi.ChatMessage{{Role: abi.ChatUser, Content: "which label is it?"}}, AnswerTokens: tokens, Samples: 1,
	}})
}

// reaction is what a module does where a request has four bytes.
type reaction struct {
	four string
	then []byte // a response; nil for a trap
}

// reacting answers with the first reaction whose bytes the request has, and otherwise as a good module does.
func reacting(list ...reaction) []byte { return broken(func(t *tiny) { t.react(list...) }) }

func (t *tiny) react(list ...reaction) {
	body := t.Funcs[node].Body
	for _, r := range slices.Backward(list) {
		then := []byte{wasmtest.Unreachable}
		if r.then != nil {
			then = t.gives(r.then)
		}
		// The search moves through the request: the locals 2 and 3 keep where it begins.
		body = slices.Concat(
			[]byte{wasmtest.LocalGet, 2, localSet, 0, wasmtest.LocalGet, 3, localSet, 1}, whenHas(r.four, then), body)
	}
	t.Funcs[node].Locals = []byte{wasmtest.I32, wasmtest.I32}
	t.Funcs[node].Body = slices.Concat([]byte{wasmtest.LocalGet, 0, localSet, 2, wasmtest.LocalGet, 1, localSet, 3}, body)
}

// What a module that asks well does: it goes by the answer, and asks where there is none yet.
func goodAsker() []reaction {
	sure := verdict(abi.Verdict{Decision: abi.Acquit, Reasoning: "the model is sure"})
	told := verdict(abi.Verdict{Decision: abi.Acquit, Reasoning: "the model is not sure"})
	return []reaction{{"I fi", sure}, {hasCompletions, told}, {hasModels, question("model-one", 1)}}
}

// asking are askers with one thing wrong.
func asking() []animal {
	good := goodAsker()
	but := func(first ...reaction) []byte { return reacting(append(first, good...)...) }
	asks := question("model-one", 1)
	stranger := abi.Artifact{Discovery: &abi.Discovery{Findings: []abi.Finding{{
		Document: "log", Observation: "o", Quote: " ", Source: "model:nine",
	}}}}
	return []animal{
		{"a model that it was not offered", abitest.CheckModels, "§2.12", reacting(good[0], good[1], reaction{hasModels, question("model-nine", 1)})},
		{"a longer answer than there is", abitest.CheckModels, "§2.12", reacting(good[0], good[1], reaction{hasModels, question("model-one", 600)})},
		{"a model where none is offered", abitest.CheckModels, "§2.12", answersWith(asks)},
		{"the same question forever", abitest.CheckModels, "§2.12", reacting(reaction{hasCompletions, asks}, good[2])},
		{"a question after one that was not asked", abitest.CheckModels, "§2.12", but(reaction{hasNotAsked, asks})},
		{"a trap at a model that fails", abitest.CheckOutcomes, "§2.12", but(reaction{hasFailed, nil})},
		{"a trap at an answer that is no sentence", abitest.CheckOutcomes, "§2.12", but(reaction{"\": n", nil})},
		{"a label that a model made up", abitest.CheckVerdict, "§4.8", reacting(
			reaction{hasCompletions, verdict(abi.Verdict{Decision: abi.Amend, FinalClassification: "mine"})}, good[2])},
		{"a finding of a model that was not asked", abitest.CheckIdentity, "§4.11", broken(func(t *tiny) {
			t.Funcs[node].Body = t.gives(nodeFailure("no_model"))
			t.manifest.Families = []abi.Family{abi.FamilyDiscover}
			t.react(reaction{hasCompletions, nodeAnswer(stranger)}, good[2])
		})},
	}
}

// A module that asks a model passes, also where nothing comes of it.
func TestAccept_PL10_AGoodAskerPassesEverything(t *testing.T) {
	t.Parallel()
	report := must.Get(conformance.Run(t.Context(), reacting(goodAsker()...), zooOptions()))(t)
	if !report.Passed() || len(report.Notes) > 0 {
		t.Errorf("failed %+v, notes %+v", report.Failed(), report.Notes)
	}
	for _, c := range report.Checks {
		if (c.ID == abitest.CheckModels || c.ID == abitest.CheckOutcomes) && (c.Status != abitest.Passed || c.Tried < 100) {
			t.Errorf("%s is %s after %d tries", c.ID, c.Status, c.Tried)
		}
	}
}

// What costs money for nothing breaks no clause, and is noted.
func TestAccept_PL10_QuestionsForNothingAreNoted(t *testing.T) {
	t.Parallel()
	good := goodAsker()
	for want, wasm := range map[string][]byte{
		"answers alike whatever the model says":         reacting(good[1], good[2]),
		"asks the same question again after the answer": reacting(good[2]),
	} {
		report := must.Get(conformance.Run(t.Context(), wasm, zooOptions()))(t)
		if !report.Passed() || len(report.Notes) != 1 || report.Notes[0].Clause != "§2.12" || !strings.Contains(report.Notes[0].Text, want) {
			t.Errorf("%s: failed %+v, notes %+v", want, report.Failed(), report.Notes)
		}
	}
}
