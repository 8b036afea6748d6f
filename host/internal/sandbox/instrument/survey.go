package instrument

import "github.com/shadowcourt/shadowcourt/host/internal/sandbox/wasmfile"

// survey is what has to be known of a body before it is written: what joining
// ways costs, which is paid where a loop begins, and of which types numbers may
// turn out not to be one.
type survey struct {
	loops []int64 // for each loop, in their order, what each turn costs
	open  []construct
	sets  int // local.set and local.tee so far
	nans  [nanKinds]bool
}

// construct is a structured instruction that has not ended.
type construct struct {
	sets int // before it
	loop int // its index, or -1
}

// look reads a body. Faults are found when it is written.
func (s *survey) look(f *wasmfile.File, b wasmfile.Body, params int) {
	locals := params + b.Locals
	s.loops, s.open, s.sets, s.nans = s.loops[:0], s.open[:0], 0, [nanKinds]bool{}
	r := f.Reader(b.Code, b.End)
	for r.Left() > 0 && r.Err() == nil {
		in := r.Instruction()
		switch in.Op {
		case wasmfile.OpLocalSet, wasmfile.OpLocalTee:
			s.sets++
		case wasmfile.OpBlock, wasmfile.OpIf:
			s.open = append(s.open, construct{loop: -1})
		case wasmfile.OpLoop:
			s.open = append(s.open, construct{s.sets, len(s.loops)})
			s.loops = append(s.loops, joinUnits+operandsOf(f, in).params)
		case wasmfile.OpEnd:
			s.close(locals)
		default:
			if kind, ok := mayBeNaN(in.Op); ok {
				s.nans[kind] = true
			}
		}
	}
}

func (s *survey) close(locals int) {
	if len(s.open) == 0 {
		return // of the function
	}
	c := s.open[len(s.open)-1]
	s.open = s.open[:len(s.open)-1]
	if c.loop >= 0 {
		s.loops[c.loop] += joining(s.sets-c.sets, locals)
	}
}

// joining is what it costs where ways join on which locals were set: those that
// find no register are moved.
func joining(sets, locals int) int64 { return int64(max(0, min(sets, locals)-freeLocals)) }

// values are how many a block or a function takes and gives.
type values struct{ params, results int64 }

func operandsOf(f *wasmfile.File, in wasmfile.Instruction) values {
	if !in.HasType {
		return values{}
	}
	return valuesOf(f, in.Index)
}

// valuesOf is what a type says; one that is not there is rejected later.
func valuesOf(f *wasmfile.File, index uint32) values {
	if int64(index) >= int64(len(f.Types)) {
		return values{}
	}
	return valuesOfType(f.Types[index])
}

func valuesOfType(t wasmfile.FuncType) values {
	return values{int64(len(t.Params)), int64(len(t.Results))}
}
