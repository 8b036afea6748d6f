package codec

import "slices"

// key writes the key of a field.
func (e *encoder) key(name string) *encoder {
	e.text(name)
	return e
}

// present counts an optional field that is written.
func present(is bool) int {
	if is {
		return 1
	}
	return 0
}

func writeList[T any](e *encoder, list []T, write func(*encoder, *T)) {
	e.listLen(len(list))
	for i := range list {
		write(e, &list[i])
	}
}

func writeTexts[T ~string](e *encoder, list []T) {
	e.listLen(len(list))
	for i := range list {
		e.text(string(list[i]))
	}
}

func writeIntegers(e *encoder, list []int) {
	e.listLen(len(list))
	for i := range list {
		e.integer(int64(list[i]))
	}
}

// writeMap writes the entries in order of their keys.
func writeMap[V any](e *encoder, m map[string]V, write func(*encoder, *V)) {
	keys := make([]string, 0, len(m)) // not slices.Sorted(maps.Keys(m)): its iterators make a module larger and slower
	for k := range m {
		keys = append(keys, k)
	}
	slices.Sort(keys)
	e.mapLen(len(m))
	for _, k := range keys {
		v := m[k]
		write(e.key(k), &v)
	}
}
