package pipeline

import (
	"errors"
	"io"
	"io/fs"
	"unicode/utf8"

	"github.com/shadowcourt/shadowcourt/host/internal/strictyaml"
)

// MaxPromptBytes is the size limit of a prompt, 64 KiB.
const MaxPromptBytes = 64 << 10

// opener opens a file by its path from the folder of the pipeline's file.
type opener func(name string) (io.ReadCloser, error)

// readPrompts reads the prompt files of personas. The texts become part of the definition, so that everything that depends on a
// definition depends on its prompts.
func (v *validator) readPrompts(open opener) {
	for i := range v.def.Personas {
		p := &v.def.Personas[i]
		file := v.def.promptFiles[p.ID]
		if file == "" {
			continue
		}
		at := strictyaml.KeyPath("personas", p.ID) + ".prompt_file"
		if open == nil {
			v.fail(at, CodeUnreadable, "%q can't be read: where the pipeline lies is not known", strictyaml.Clip(file))
			continue
		}
		text, err := readPrompt(open, file)
		switch {
		case err != nil:
			v.fail(at, CodeUnreadable, "%q can't be read: %v", strictyaml.Clip(file), err)
		case len(text) > MaxPromptBytes:
			v.fail(at, CodeTooLarge, "%q is larger than %d bytes", strictyaml.Clip(file), MaxPromptBytes)
		case !utf8.Valid(text):
			v.fail(at, CodeEncoding, "%q is not UTF-8", strictyaml.Clip(file))
		case len(text) == 0:
			v.fail(at, CodeMissing, "%q is empty", strictyaml.Clip(file))
		default:
			p.Prompt = string(text)
			delete(v.def.promptFiles, p.ID) // it has been read: a further validation sees a prompt
		}
	}
}

func readPrompt(open opener, name string) ([]byte, error) {
	f, err := open(name)
	if err != nil {
		if path, ok := errors.AsType[*fs.PathError](err); ok {
			err = path.Err
		}
		return nil, err
	}
	defer func() { _ = f.Close() }()
	return io.ReadAll(io.LimitReader(f, MaxPromptBytes+1))
}
