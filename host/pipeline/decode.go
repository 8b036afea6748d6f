package pipeline

import (
	"io/fs"
	slashpath "path"
	"regexp"

	"gopkg.in/yaml.v3"

	"github.com/shadowcourt/shadowcourt/abi"
	"github.com/shadowcourt/shadowcourt/internal/strictyaml"
)

// readDefinition reads the shape of a file; what the values mean is checked by the validator.
func readDefinition(r *strictyaml.Reader, v *strictyaml.Node, def *Definition) {
	promptFiles := func(v *strictyaml.Node, path string) {
		r.Table(v, path, CodeDuplicateID, func(id string, _, v *strictyaml.Node, path string) {
			p, promptFile := Persona{ID: id}, ""
			r.Struct(v, path, &p, map[string]strictyaml.Setter{"prompt_file": r.Into(&promptFile)})
			def.Personas = append(def.Personas, p)
			if promptFile != "" {
				def.promptFiles[id] = promptFile
			}
		})
	}
	r.Struct(v, "", def, map[string]strictyaml.Setter{"personas": promptFiles})
	def.places = r.Places
}

// ReadYAML takes the personas from one name or a list under `persona`, or from a list under `parallel`.
func (n *Node) ReadYAML(r *strictyaml.Reader, v *strictyaml.Node, path string) {
	personas := func(parallel bool) strictyaml.Setter {
		return func(v *strictyaml.Node, path string) {
			switch {
			case n.Personas != nil:
				r.Fail(v, path, CodeDuplicateKey, "a node has either persona or parallel")
			case v.Kind != yaml.SequenceNode && !parallel:
				n.Personas = make([]string, 1)
				r.Into(&n.Personas[0])(v, path)
			default:
				n.Parallel = parallel
				r.Into(&n.Personas)(v, path)
				if v.Kind == yaml.SequenceNode && len(v.Content) == 0 {
					r.Fail(v, path, CodeMissing, "names nobody; leave the key out for the family's own")
				}
			}
		}
	}
	r.Struct(v, path, n, map[string]strictyaml.Setter{"persona": personas(false), "parallel": personas(true)})
}

// ReadYAML takes a number, a text or a flag.
func (p *Param) ReadYAML(r *strictyaml.Reader, v *strictyaml.Node, path string) {
	r.Mark(v, path)
	switch tag := v.ShortTag(); {
	case v.Kind == yaml.AliasNode:
	case v.Kind == yaml.ScalarNode && (tag == "!!int" || tag == "!!float"):
		p.Kind = ParamNumber
		r.Into(&p.Number)(v, path)
	case v.Kind == yaml.ScalarNode && tag == "!!bool":
		p.Kind = ParamFlag
		r.Into(&p.Flag)(v, path)
	case v.Kind == yaml.ScalarNode && tag == "!!str" && v.Style == 0 && numeric.MatchString(v.Value): // 1e309 is a text to the parser
		r.Fail(v, path, CodeOutOfRange, "%s is outside the range of numbers", strictyaml.Clip(v.Value))
	case v.Kind == yaml.ScalarNode && tag == "!!str":
		p.Kind, p.Text = ParamText, v.Value
	default:
		r.Wrong(v, path, "a number, a text or a flag")
	}
}

// numeric is what is written as a number.
var numeric = regexp.MustCompile(`^[-+]?(\d+\.?\d*|\.\d+)([eE][-+]?\d+)?$`)

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

// MaxFileBytes is the size limit of a pipeline file, 1 MiB.
const MaxFileBytes = 1 << 20

// Load reads and parses the file at path. Its error is an [Errors].
func Load(path string) (*Definition, error) {
	return load(path, strictyaml.Open, beside(path))
}

// LoadBytes is [Load] for a file whose bytes were read already, such as those of a pipe. Prompt files are read from the folder of path.
func LoadBytes(path string, data []byte) (*Definition, error) { return parse(path, data, beside(path)) }

// LoadFS is Load within a file system. Whether symbolic links lead out of the file's folder is up to the file system.
func LoadFS(fsys fs.FS, path string) (*Definition, error) {
	return load(path, fsys.Open, func(name string) (fs.File, error) { return fsys.Open(slashpath.Join(slashpath.Dir(path), name)) })
}

func load(path string, open, prompts opener) (*Definition, error) {
	data, err := strictyaml.ReadFile(path, MaxFileBytes, open)
	if err != nil {
		return nil, err
	}
	return parse(path, data, prompts)
}

// Parse turns a pipeline file into a checked Definition with all defaults filled in. file is the name for messages.
// The error, if any, is an [Errors] with every fault of the file, sorted by line and column, at most [MaxErrors].
// YAML aliases are rejected, and so is `prompt_file`, since a file that was only given as bytes lies beside nothing.
func Parse(file string, data []byte) (*Definition, error) { return parse(file, data, nil) }

func parse(file string, data []byte, prompts opener) (*Definition, error) {
	r := &strictyaml.Reader{File: file}
	def := &Definition{Court: DefaultCourt(), file: file, promptFiles: make(map[string]string)}
	if root := r.Document(data, MaxFileBytes); root != nil {
		readDefinition(r, root, def)
		def.Complete()
		v := newValidator(def, r)
		v.run()
		v.readPrompts(prompts)
	}
	if err := r.Err(); err != nil {
		return nil, err
	}
	return def, nil
}
