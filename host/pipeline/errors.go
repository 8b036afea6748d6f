package pipeline

import (
	"cmp"
	"fmt"
	"slices"
	"strings"

	"github.com/shadowcourt/shadowcourt/host/internal/strictyaml"
)

// MaxErrors is how many faults are reported of one file; the last entry then says how many there are besides.
const MaxErrors = 100

// Code names a kind of fault or warning. Codes are stable: programs may compare them.
type Code string

// The faults.
const (
	CodeUnreadable     Code = "unreadable"      // the file can't be read
	CodeOutside        Code = "outside"         // a file outside of the folder of the pipeline's file
	CodeBadPrompt      Code = "bad_prompt"      // an unknown section, setting or placeholder of a prompt, or a setting out of its bounds
	CodeTooLarge       Code = "too_large"       // the file is over MaxFileBytes, or has more of something than is allowed
	CodeSyntax         Code = "syntax"          // not YAML, or not one document
	CodeEncoding       Code = "encoding"        // not UTF-8, or a control character
	CodeAlias          Code = "alias"           // aliases and merge keys are rejected: they can blow up a small file
	CodeTooDeep        Code = "too_deep"        // nested deeper than any pipeline is
	CodeUnknownKey     Code = "unknown_key"     // a key that the format does not have
	CodeDuplicateKey   Code = "duplicate_key"   // a key given twice
	CodeWrongType      Code = "wrong_type"      // a number for a text and the like; nothing is coerced
	CodeMissing        Code = "missing"         // something required is absent or empty
	CodeOutOfRange     Code = "out_of_range"    // a number outside its bounds
	CodeBadParameter   Code = "bad_parameter"   // a parameter that the module which gets it rejects; modules use the same code
	CodeBadDuration    Code = "bad_duration"    // not a duration such as "10m", or not above zero
	CodeBadThreshold   Code = "bad_threshold"   // outside [0, 1], or rejection above activation
	CodeDuplicateID    Code = "duplicate_id"    // two nodes, edges, zones or personas of one name
	CodeReservedName   Code = "reserved_name"   // a node whose name begins with "_"
	CodeUnknownNode    Code = "unknown_node"    // a name that is no node
	CodeUnknownEnd     Code = "unknown_end"     // a name that begins with "_" and is no end
	CodeUnknownElement Code = "unknown_element" // see Elements
	CodeUnknownFamily  Code = "unknown_family"  // see Families
	CodeUnknownMask    Code = "unknown_mask"    // see Masks
	CodeUnknownRole    Code = "unknown_role"    // see Roles
	CodeUnknownGrant   Code = "unknown_grant"   // see Capabilities
	CodeUnknownPersona Code = "unknown_persona" // neither defined nor built in
	CodeNotGranted     Code = "not_granted"     // something is named that a capability is needed for
	CodePersonaCount   Code = "persona_count"   // too few or too many personas for the family
	CodeWrongRole      Code = "wrong_role"      // a persona on a seat of another side
	CodeSamePersona    Code = "same_persona"    // one persona on two sides of the court
	CodeSameAlignment  Code = "same_alignment"  // two sides of the court with one alignment
	CodeSameModule     Code = "same_module"     // two sides of the court with one module
	CodeUnreachable    Code = "unreachable"     // a node that no path can reach
	CodeNoEnd          Code = "no_end"          // no path can reach an end
	CodeMore           Code = "more"            // there are more faults than MaxErrors
)

// Error is one fault, or one warning of [Lint].
type Error struct {
	File    string // as given to Parse
	Line    int    // from 1; 0 if unknown
	Column  int    // in characters, from 1; 0 if unknown
	Path    string // the data path, such as edges[3].to; empty for the whole file
	Code    Code
	Message string // for people, without the path
}

// Error gives file:line:column, path, message and code in one line.
func (e *Error) Error() string {
	var b strings.Builder
	if e.File != "" {
		b.WriteString(e.File)
		b.WriteByte(':')
	}
	if e.Line > 0 {
		fmt.Fprintf(&b, "%d:%d:", e.Line, e.Column)
	}
	if b.Len() > 0 {
		b.WriteByte(' ')
	}
	if e.Path != "" {
		b.WriteString(e.Path)
		b.WriteString(": ")
	}
	fmt.Fprintf(&b, "%s [%s]", e.Message, e.Code)
	return b.String()
}

// Errors are all faults of a file, sorted by line and column. It is the type of the errors of [Parse].
type Errors []*Error

// Error gives one fault a line.
func (e Errors) Error() string {
	lines := make([]string, len(e))
	for i, one := range e {
		lines[i] = one.Error()
	}
	return strings.Join(lines, "\n")
}

// Unwrap lets errors.As find the single faults.
func (e Errors) Unwrap() []error {
	all := make([]error, len(e))
	for i, one := range e {
		all[i] = one
	}
	return all
}

// Sorted gives the faults by line and column, at most [MaxErrors]; the last entry then says how many there are besides.
func (e Errors) Sorted() Errors {
	slices.SortStableFunc(e, func(a, b *Error) int {
		return cmp.Or(cmp.Compare(a.Line, b.Line), cmp.Compare(a.Column, b.Column))
	})
	if len(e) <= MaxErrors {
		return e
	}
	last := e[MaxErrors-1]
	return append(slices.Clip(e[:MaxErrors]), &Error{
		File: last.File, Line: last.Line, Column: last.Column, Code: CodeMore,
		Message: fmt.Sprintf("%d more faults are not shown", len(e)-MaxErrors),
	})
}

// errorsOf are those of the reader of a file as errors.
func errorsOf(file string, faults []strictyaml.Fault) Errors {
	all := make(Errors, len(faults))
	for i, f := range faults {
		all[i] = &Error{File: file, Line: f.Line, Column: f.Column, Path: f.Path, Code: Code(f.Code), Message: f.Message}
	}
	return all
}
