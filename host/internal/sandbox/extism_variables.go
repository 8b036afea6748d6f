package sandbox

// variables are what an Extism guest sets by name: what Extism keeps from call
// to call, and a pristine instance only from its start.
//
// They live on Go's heap, so they are few: maxVariableBytes bounds names, values
// and what the host holds for each. Extism's own default is as much, and
// counts names and values only.
type variables struct {
	byName map[string]*variable
	held   uint64 // bytes
}

type variable struct{ value []byte }

const (
	maxVariableBytes = 1 << 20
	variableBytes    = 128 // of the host's memory for a variable, beside its name and value
)

// get gives the value of one, or nil.
func (v *variables) get(name []byte) []byte {
	if found := v.byName[string(name)]; found != nil {
		return found.value
	}
	return nil
}

// added is how many more bytes are held if one is set.
func (v *variables) added(name []byte, length int) uint64 {
	old := v.byName[string(name)]
	if old == nil {
		return variableBytes + uint64(len(name)+length)
	}
	return uint64(max(length, cap(old.value)) - cap(old.value))
}

// set sets one to a copy of a value. Where the old value has room, the new one
// takes its place: a guest that sets one again and again makes no garbage.
func (v *variables) set(name, value []byte) {
	v.held += v.added(name, len(value))
	old := v.byName[string(name)]
	if old == nil {
		if v.byName == nil {
			v.byName = map[string]*variable{}
		}
		old = &variable{}
		v.byName[string(name)] = old
	}
	if cap(old.value) < len(value) {
		old.value = make([]byte, len(value))
	}
	old.value = append(old.value[:0], value...)
}

func (v *variables) remove(name []byte) {
	if old := v.byName[string(name)]; old != nil {
		v.held -= variableBytes + uint64(len(name)+cap(old.value))
		delete(v.byName, string(name))
	}
}

// clone copies the values, too: those of a template belong to many instances.
func (v *variables) clone() variables {
	var c variables
	for name, old := range v.byName {
		c.set([]byte(name), old.value)
	}
	return c
}
