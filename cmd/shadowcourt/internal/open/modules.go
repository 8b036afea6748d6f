package open

import (
	"bytes"
	"context"
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path"
	"path/filepath"
	"slices"
	"strings"
	"time"

	"github.com/shadowcourt/shadowcourt/cmd/shadowcourt/internal/cli"
	"github.com/shadowcourt/shadowcourt/host/alibi"
	"github.com/shadowcourt/shadowcourt/host/bundle"
	"github.com/shadowcourt/shadowcourt/host/module"
	"github.com/shadowcourt/shadowcourt/host/trial"
	"github.com/shadowcourt/shadowcourt/internal/sanitize"
	"github.com/shadowcourt/shadowcourt/internal/service/wire"
	"github.com/shadowcourt/shadowcourt/pipelines"
)

// File reads a module, or a manifest, which is smaller.
func File(name string) ([]byte, error) {
	f, err := os.Open(name)
	if err != nil {
		return nil, err
	}
	defer func() { _ = f.Close() }()
	return module.Read(f, name)
}

// Module reads a file, or an embedded module when the name is none's.
func Module(name string) ([]byte, error) {
	wasm, err := File(name)
	if err == nil || filepath.Base(name) != name || strings.Contains(name, ".") {
		return wasm, cli.InputError(err)
	}
	modules, embedErr := bundle.FS()
	if embedErr != nil {
		return nil, embedErr
	}
	if wasm, embedErr = fs.ReadFile(modules, name+".wasm"); embedErr != nil {
		return nil, cli.InputError(fmt.Errorf("%s is neither a file nor an embedded module", name))
	}
	return wasm, nil
}

// Modules is a folder of modules; empty means the embedded ones.
func Modules(dir string) (fs.FS, error) {
	if dir == "" {
		return bundle.FS()
	}
	info, err := os.Stat(dir)
	if err != nil {
		return nil, cli.InputError(fmt.Errorf("--modules: %w", err))
	}
	if !info.IsDir() {
		return nil, cli.InputError(fmt.Errorf("--modules: %s is no folder", dir))
	}
	return os.DirFS(dir), nil
}

// WithEmbedded has the files of a folder before those that are embedded, so that a judge needs no copy of all others beside it.
func WithEmbedded(own fs.FS) (fs.FS, error) {
	embedded, err := bundle.FS()
	return overlay{own, embedded}, err
}

type overlay struct{ own, embedded fs.FS }

// Open opens a file of the folder, or the embedded one.
func (o overlay) Open(name string) (fs.File, error) {
	f, err := o.own.Open(name)
	if errors.Is(err, fs.ErrNotExist) {
		return o.embedded.Open(name)
	}
	return f, err
}

// EachModule calls do for every NAME.wasm at the root of fsys, by name.
func EachModule(fsys fs.FS, do func(name string, wasm []byte) error) error {
	files, err := fs.Glob(fsys, "*.wasm")
	if err != nil {
		return err
	}
	for _, file := range files {
		wasm, err := fs.ReadFile(fsys, file)
		if err != nil {
			return err
		}
		if err := do(file[:len(file)-len(".wasm")], wasm); err != nil {
			return err
		}
	}
	return nil
}

// NamedModules reads the files of NAME=FILE words. flag is for messages.
func NamedModules(flag string, words []string) (map[string][]byte, error) {
	modules := make(map[string][]byte, len(words))
	var faults []error
	for _, word := range words {
		name, file, ok := strings.Cut(word, "=")
		if !ok || name == "" || file == "" {
			faults = append(faults, fmt.Errorf("%s%q: use NAME=FILE", flag, word))
			continue
		}
		if modules[name] != nil {
			faults = append(faults, fmt.Errorf("%s%s: two files for one name", flag, name))
			continue
		}
		wasm, err := File(file)
		if err != nil {
			faults = append(faults, fmt.Errorf("%s%w", flag, err))
			continue
		}
		modules[name] = wasm
	}
	return modules, errors.Join(faults...)
}

// InputFiles are the files that a command with these flags reads.
func (o *Flags) InputFiles(dockets []string) []cli.NamedFile {
	profile := cli.File("--profile", "")
	if o.Profile != noProfile {
		profile = definitionFile("--profile", profileFolder, o.Profile)
	}
	own := []cli.NamedFile{PipelineFile(o.Pipeline), profile, cli.File("--casebook", o.casebook), cli.File("--rules", o.rules)}
	return slices.Concat(own, ModuleFiles(o.Modules), ArgumentFiles("the docket", dockets))
}

// definitionFile is the file of a flag that takes a pipeline, a profile or a rubric: none where the name is that of a shipped
// one, which stands in a folder of [pipelines.FS].
func definitionFile(flag, folder, name string) cli.NamedFile {
	if _, err := fs.Stat(pipelines.FS, path.Join(folder, name+".yaml")); err == nil && !strings.ContainsAny(name, `./\`) {
		name = ""
	}
	return cli.File(flag, name)
}

// ModuleFiles are the files of --modules.
func ModuleFiles(dir string) []cli.NamedFile {
	if dir == "" {
		return nil
	}
	var files []cli.NamedFile
	entries, _ := os.ReadDir(dir) // what is wrong with the folder is told when it is used
	for _, entry := range entries {
		files = append(files, cli.File("a module of --modules", filepath.Join(dir, entry.Name())))
	}
	return files
}

// ArgumentFiles are the files that arguments name, but for the standard input.
func ArgumentFiles(what string, args []string) []cli.NamedFile {
	var files []cli.NamedFile
	for _, name := range args {
		if name != "-" {
			files = append(files, cli.File(what, name))
		}
	}
	return files
}

// Results are what was found on this machine, for a docket service: they are collected while a run goes on, and sent at its end. It is a writer of trials. One goroutine uses it.
type Results struct {
	client *wire.Client
	lines  bytes.Buffer
	trials int
}

// NewResults connects to a service, and makes sure that results may be sent to it, before anything runs.
func NewResults(ctx context.Context, stderr io.Writer, server, program string) (*Results, error) {
	c, err := Client(stderr, server, wire.ClientConfig{Program: program})
	if err != nil {
		return nil, err
	}
	me, err := c.Me(ctx)
	switch {
	case ctx.Err() != nil:
		return nil, cli.ErrInterrupted
	case err != nil:
		return nil, rejection(err)
	case !me.Can("submit"):
		return nil, cli.InputError(fmt.Errorf("%s: the token of %s lacks the scope submit", c.Server(), me.Name))
	}
	return &Results{client: c}, nil
}

// rejection is an error of the command line where the service rejects what was sent.
func rejection(err error) error {
	if rejected, ok := errors.AsType[*wire.Error](err); ok && rejected.Rejected() {
		return cli.InputError(err)
	}
	return err
}

// Write adds a trial.
func (r *Results) Write(t *trial.Trial) error { return r.Add(t, nil, 0) }

// Close does nothing: see [Results.Send].
func (r *Results) Close() error { return nil }

// Add adds a trial with its answer of the alibi.
func (r *Results) Add(t *trial.Trial, a *alibi.Answer, took time.Duration) error {
	p, err := wire.NewPushed(t, a, took.Seconds())
	if err == nil {
		err = wire.WritePush(&r.lines, p)
	}
	if r.trials++; err == nil && (r.lines.Len() > wire.MaxPushBytes || r.trials > wire.MaxPushTrials) {
		err = fmt.Errorf("--server: the results are too many: %w", wire.ErrPushTooLarge)
	}
	return err
}

// Send sends the results behind their head, and record behind them, and says where they are. Without results it does nothing.
func (r *Results) Send(ctx context.Context, stderr io.Writer, s *wire.Submission, head wire.Push, record []byte) error {
	if r.trials == 0 {
		return nil
	}
	head.Format, head.Trials = wire.PushFormat, r.trials
	var first bytes.Buffer
	if err := wire.WritePush(&first, &head); err != nil {
		return err
	}
	body := slices.Concat(first.Bytes(), r.lines.Bytes(), record)
	if s.Format = "results"; s.Key == "" {
		sum := sha256.Sum256(body)
		s.Key = "push-" + hex.EncodeToString(sum[:])
	}
	d, _, err := r.client.Submit(ctx, s, body)
	if err != nil {
		return fmt.Errorf("the results were not sent: %w", rejection(err))
	}
	fmt.Fprintf(stderr, "docket %d: %s\n", d.ID, sanitize.Line(fmt.Sprintf("%s/dockets/%d", r.client.Server(), d.ID)))
	return nil
}

// CheckServerText rejects what can't describe a docket.
func CheckServerText(option, text string) error {
	const most = 200
	for _, c := range text {
		if c < ' ' || c == 0x7f {
			return fmt.Errorf("--server %s: use no control characters", option)
		}
	}
	if len([]rune(text)) > most {
		return fmt.Errorf("--server %s: use at most %d characters", option, most)
	}
	return nil
}
