package pipeline

import (
	"github.com/shadowcourt/shadowcourt/abi"
	"github.com/shadowcourt/shadowcourt/internal/strictyaml"
)

// MaxErrors is how many faults are reported of one file; the last entry then says how many there are besides.
const MaxErrors = strictyaml.MaxErrors

type (
	// Code names a kind of fault or warning. Codes are stable: programs may compare them.
	Code = abi.Code
	// Error is one fault, or one warning of [Lint]: its File as given to Parse, Line and Column from 1 (0 if unknown), data Path such as
	// edges[3].to (empty for the whole file), Code, and Message for people, without the path.
	Error = strictyaml.Error
	// Errors are all faults of a file, sorted by line and column. It is the type of the errors of [Parse].
	Errors = strictyaml.Errors //nolint:errname // as programs know it
	// Position is a place in a file. Lines and columns count from 1, columns in characters; 0 is unknown.
	Position = strictyaml.Position
)

// The faults.
const (
	CodeUnreadable          = strictyaml.CodeUnreadable   // the file can't be read
	CodeOutside        Code = "outside"                   // a file outside of the folder of the pipeline's file
	CodeBadPrompt      Code = "bad_prompt"                // an unknown section, setting or placeholder of a prompt, or a setting out of its bounds
	CodeTooLarge            = strictyaml.CodeTooLarge     // the file is over MaxFileBytes, or has more of something than is allowed
	CodeSyntax              = strictyaml.CodeSyntax       // not YAML, or not one document
	CodeEncoding            = strictyaml.CodeEncoding     // not UTF-8, or a control character
	CodeAlias               = strictyaml.CodeAlias        // aliases and merge keys are rejected: they can blow up a small file
	CodeTooDeep             = strictyaml.CodeTooDeep      // nested deeper than any pipeline is
	CodeUnknownKey          = strictyaml.CodeUnknownKey   // a key that the format does not have
	CodeDuplicateKey        = strictyaml.CodeDuplicateKey // a key given twice
	CodeWrongType           = strictyaml.CodeWrongType    // a number for a text and the like; nothing is coerced
	CodeMissing             = strictyaml.CodeMissing      // something required is absent or empty
	CodeOutOfRange          = strictyaml.CodeOutOfRange   // a number outside its bounds
	CodeBadParameter   Code = "bad_parameter"             // a parameter that the module which gets it rejects; modules use the same code
	CodeBadDuration         = strictyaml.CodeBadDuration  // not a duration such as "10m", or not above zero
	CodeBadThreshold   Code = "bad_threshold"             // outside [0, 1], or rejection above activation
	CodeDuplicateID    Code = "duplicate_id"              // two nodes, edges, zones or personas of one name
	CodeReservedName   Code = "reserved_name"             // a node whose name begins with "_"
	CodeUnknownNode    Code = "unknown_node"              // a name that is no node
	CodeUnknownEnd     Code = "unknown_end"               // a name that begins with "_" and is no end
	CodeUnknownElement Code = "unknown_element"           // see Elements
	CodeUnknownFamily  Code = "unknown_family"            // see Families
	CodeUnknownMask    Code = "unknown_mask"              // see Masks
	CodeUnknownRole    Code = "unknown_role"              // see Roles
	CodeUnknownGrant   Code = "unknown_grant"             // see Capabilities
	CodeUnknownPersona Code = "unknown_persona"           // neither defined nor built in
	CodeNotGranted     Code = "not_granted"               // something is named that a capability is needed for
	CodePersonaCount   Code = "persona_count"             // too few or too many personas for the family
	CodeWrongRole      Code = "wrong_role"                // a persona on a seat of another side
	CodeSamePersona    Code = "same_persona"              // one persona on two sides of the court
	CodeSameAlignment  Code = "same_alignment"            // two sides of the court with one alignment
	CodeSameModule     Code = "same_module"               // two sides of the court with one module
	CodeUnreachable    Code = "unreachable"               // a node that no path can reach
	CodeNoEnd          Code = "no_end"                    // no path can reach an end
	CodeBadReference   Code = "bad_reference"             // a reference to a module in a registry that has another form
	CodeMore                = strictyaml.CodeMore         // there are more faults than MaxErrors
)
