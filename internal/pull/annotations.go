package pull

import (
	"fmt"
	"slices"
	"strconv"
	"strings"

	v1 "github.com/opencontainers/image-spec/specs-go/v1"

	"github.com/shadowcourt/shadowcourt/abi"
	"github.com/shadowcourt/shadowcourt/internal/sanitize"
)

// annotationPrefix begins the keys of what the standard keys of OCI don't say.
const annotationPrefix = "dev.shadowcourt.module."

// field is one of a manifest as an annotation.
type field struct {
	key   string
	write func(*abi.Manifest) string
	read  func(*abi.Manifest, string) error
}

func text(key string, of func(*abi.Manifest) *string) field {
	return field{key, func(m *abi.Manifest) string { return *of(m) }, func(m *abi.Manifest, s string) error { *of(m) = s; return nil }}
}

// words is a list of words with a blank between each two.
func words[T ~string](key string, of func(*abi.Manifest) *[]T) field {
	return field{
		annotationPrefix + key,
		func(m *abi.Manifest) string {
			list := make([]string, len(*of(m)))
			for i, word := range *of(m) {
				list[i] = string(word)
			}
			return strings.Join(list, " ")
		},
		func(m *abi.Manifest, s string) error {
			for word := range strings.FieldsSeq(s) {
				*of(m) = append(*of(m), T(word))
			}
			return nil
		},
	}
}

// limit is a number that is asked for beyond the default.
func limit(key string, of func(*abi.LimitRequest) *int) field {
	return field{
		annotationPrefix + "limits." + key,
		func(m *abi.Manifest) string {
			if m.Limits == nil || *of(m.Limits) == 0 {
				return ""
			}
			return strconv.Itoa(*of(m.Limits))
		},
		func(m *abi.Manifest, s string) (err error) {
			if m.Limits == nil {
				m.Limits = &abi.LimitRequest{}
			}
			*of(m.Limits), err = strconv.Atoi(s)
			return err
		},
	}
}

// fields of a manifest.
var fields = []field{ //nolint:gochecknoglobals // constant
	text(v1.AnnotationTitle, func(m *abi.Manifest) *string { return &m.Name }),
	text(v1.AnnotationVersion, func(m *abi.Manifest) *string { return &m.Version }),
	text(v1.AnnotationSource, func(m *abi.Manifest) *string { return &m.Source }),
	text(v1.AnnotationLicenses, func(m *abi.Manifest) *string { return &m.Licence }),
	text(annotationPrefix+"abi", func(m *abi.Manifest) *string { return &m.ABI }),
	words("calls", func(m *abi.Manifest) *[]abi.Call { return &m.Calls }),
	words("families", func(m *abi.Manifest) *[]abi.Family { return &m.Families }),
	words("edges", func(m *abi.Manifest) *[]string { return &m.Edges }),
	words("criteria", func(m *abi.Manifest) *[]string { return &m.Criteria }),
	words("capabilities", func(m *abi.Manifest) *[]abi.Capability { return &m.Capabilities }),
	limit("memory_bytes", func(l *abi.LimitRequest) *int { return &l.MemoryBytes }),
	limit("output_bytes", func(l *abi.LimitRequest) *int { return &l.OutputBytes }),
	limit("wall_clock", func(l *abi.LimitRequest) *int { return &l.WallClock }),
	limit("fuel", func(l *abi.LimitRequest) *int { return &l.Fuel }),
}

// Annotations are those of the OCI manifest of a module with a manifest: each field, so that nobody has to download the module to read them.
func Annotations(m *abi.Manifest) map[string]string {
	all := map[string]string{}
	for i := range fields {
		if value := fields[i].write(m); value != "" {
			all[fields[i].key] = value
		}
	}
	return all
}

// Manifest reads what [Annotations] wrote. Nothing of it is proven: the manifest within the module counts.
func Manifest(annotations map[string]string) (*abi.Manifest, error) {
	m := &abi.Manifest{}
	for i := range fields {
		value, there := annotations[fields[i].key]
		if !there {
			continue
		}
		if err := fields[i].read(m, value); err != nil {
			return nil, fmt.Errorf("annotation %s: %q is no number", fields[i].key, sanitize.Cut(value, 50))
		}
	}
	if m.Name == "" || m.ABI == "" || len(m.Calls) == 0 {
		return nil, fmt.Errorf("its annotations do not describe a module of a court: %s, %sabi and %scalls are missing", v1.AnnotationTitle, annotationPrefix, annotationPrefix)
	}
	return m, nil
}

// differs names a field in which annotations are not those of a manifest, one of what it asks for first; empty if there is none.
func differs(annotations map[string]string, m *abi.Manifest) string {
	own := Annotations(m)
	for _, f := range slices.Backward(fields) {
		if annotations[f.key] != own[f.key] {
			return f.key
		}
	}
	return ""
}
