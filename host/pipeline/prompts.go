package pipeline

import (
	"errors"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"unicode/utf8"

	"github.com/shadowcourt/shadowcourt/abi/prompt"
	"github.com/shadowcourt/shadowcourt/internal/strictyaml"
)

// MaxPromptBytes is the size limit of a prompt, 64 KiB.
const MaxPromptBytes = 64 << 10

// opener opens a file by its path from the folder of the pipeline's file. It opens no file outside of the folder.
type opener func(name string) (fs.File, error)

// beside opens files of the folder that a file is in. A pipeline may come from somebody else and its prompts are sent to a provider, so
// that neither a path nor a symbolic link may name another file of this machine.
func beside(path string) opener {
	folder := filepath.Dir(path)
	return func(name string) (fs.File, error) {
		root, err := os.OpenRoot(folder)
		if err != nil {
			return nil, err
		}
		defer func() { _ = root.Close() }()
		name = filepath.FromSlash(name)
		info, err := root.Stat(name)
		switch {
		case err != nil && leadsOut(folder, name):
			return nil, errOutside
		case err != nil:
			return nil, err
		case !info.Mode().IsRegular():
			return nil, errIrregular // opening a pipe would wait for its writer
		}
		return root.Open(name)
	}
}

var (
	errOutside   = errors.New("a symbolic link leads out of the folder of the pipeline's file")
	errIrregular = errors.New("it is not a regular file")
)

// leadsOut says whether a file is there, but outside of the folder.
func leadsOut(folder, name string) bool {
	folder, err := filepath.EvalSymlinks(folder)
	if err != nil {
		return false
	}
	file, err := filepath.EvalSymlinks(filepath.Join(folder, name))
	if err != nil {
		return false
	}
	inside, err := filepath.Rel(folder, file)
	return err != nil || !filepath.IsLocal(inside)
}

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
			v.FailAt(at, CodeUnreadable, "%q can't be read: where the pipeline lies is not known", strictyaml.Clip(file))
			continue
		}
		if why := notBeside(file); why != "" {
			v.FailAt(at, CodeOutside, "%q %s: write a path within the folder of the pipeline's file, such as prompts/reader.md", strictyaml.Clip(file), why)
			continue
		}
		text, err := readPrompt(open, file)
		switch {
		case errors.Is(err, errOutside):
			v.FailAt(at, CodeOutside, "%q can't be read: %v", strictyaml.Clip(file), err)
		case err != nil:
			v.FailAt(at, CodeUnreadable, "%q can't be read: %v", strictyaml.Clip(file), err)
		case len(text) > MaxPromptBytes:
			v.FailAt(at, CodeTooLarge, "%q is larger than %d bytes", strictyaml.Clip(file), MaxPromptBytes)
		case !utf8.Valid(text):
			v.FailAt(at, CodeEncoding, "%q is not UTF-8", strictyaml.Clip(file))
		case len(text) == 0:
			v.FailAt(at, CodeMissing, "%q is empty", strictyaml.Clip(file))
		default:
			v.checkPrompt(p, at, strictyaml.Clip(file)+":", string(text))
			p.Prompt = string(text)
			delete(v.def.promptFiles, p.ID) // it has been read: a further validation sees a prompt
		}
	}
}

// readsPrompts says whether a module is one of those that take prompts of the shipped format. Those of other authors may have any other.
func readsPrompts(module string) bool {
	return slices.Contains([]string{"reader", "prosecutor", "advocate", "magistrate"}, module)
}

// checkPrompt finds faults that would fail each call of the persona. where names the text, as "prompts/reader.md:".
func (v *validator) checkPrompt(p *Persona, at, where, text string) {
	if !readsPrompts(p.Module) {
		return
	}
	_, faults := prompt.Parse(text)
	for _, f := range faults {
		v.FailAt(at, CodeBadPrompt, "%s%d: %s", where, f.Line, f.What)
	}
}

// notBeside says why a path names no file of the folder; empty where it may name one.
func notBeside(name string) string {
	switch {
	case strings.HasPrefix(name, "/"), filepath.IsAbs(name), filepath.VolumeName(name) != "":
		return "is an absolute path"
	case !filepath.IsLocal(filepath.FromSlash(name)):
		return "leads out of the folder of the pipeline's file"
	}
	return ""
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
