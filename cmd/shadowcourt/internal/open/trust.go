package open

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"net"
	"os"
	"path/filepath"
	"regexp"
	"runtime"
	"slices"
	"strings"
	"time"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"

	"github.com/shadowcourt/shadowcourt/cmd/shadowcourt/internal/cli"
	"github.com/shadowcourt/shadowcourt/host"
	"github.com/shadowcourt/shadowcourt/host/audit"
	"github.com/shadowcourt/shadowcourt/host/moduledir"
	"github.com/shadowcourt/shadowcourt/host/pipeline"
	"github.com/shadowcourt/shadowcourt/host/record"
	"github.com/shadowcourt/shadowcourt/internal/disk"
	"github.com/shadowcourt/shadowcourt/internal/oci"
	"github.com/shadowcourt/shadowcourt/internal/sanitize"
	"github.com/shadowcourt/shadowcourt/internal/strictyaml"
	"github.com/shadowcourt/shadowcourt/internal/trust"
)

// Trust is whose modules a command runs.
type Trust struct {
	// Policy is the file of the trust policy; empty: the user's own, if there is one.
	Policy string
	// Locked rejects what the lock file does not pin.
	Locked bool
	// Unpinned takes what the tags of references stand for now, whatever is pinned.
	Unpinned bool

	pulled map[string][]byte // what was fetched, by the names of their files
}

// Over puts what was fetched over a file system of modules.
func (t *Trust) Over(fsys fs.FS) fs.FS { return moduledir.Over(fsys, t.pulled) }

// Flags adds --trust and --locked.
func (t *Trust) Flags(cmd *cobra.Command) {
	t.PolicyFlag(cmd.Flags())
	cmd.Flags().BoolVar(&t.Locked, "locked", false, lockedUsage)
}

// PolicyFlag adds --trust.
func (t *Trust) PolicyFlag(f *pflag.FlagSet) { f.StringVar(&t.Policy, "trust", "", trustUsage) }

const (
	trustUsage  = "file of the trust policy, by which modules of registries are accepted (default: shadowcourt/trust.yaml in the user's configuration folder)"
	lockedUsage = "reject modules that " + trust.LockName + " beside the pipeline does not pin, and references to others than it says"
)

// TrustPolicy reads the policy; nil where none is named and the user has none.
func (t *Trust) TrustPolicy() (*trust.Policy, error) {
	path := t.Policy
	if path == "" {
		dir, err := os.UserConfigDir()
		if err != nil {
			return nil, nil //nolint:nilerr,nilnil // without a home there is no policy of the user
		}
		if path = filepath.Join(dir, "shadowcourt", "trust.yaml"); !disk.Exists(path) {
			return nil, nil //nolint:nilnil // no policy
		}
	}
	p, err := trust.Load(path)
	return p, cli.InputError(err)
}

// local says why modules of files, which a flag names, are rejected.
func (t *Trust) local(flag string) error {
	if t.Locked {
		return cli.InputError(fmt.Errorf("%s takes modules that no lock pins, and --locked rejects them: leave one out", flag))
	}
	policy, err := t.TrustPolicy()
	if err == nil {
		err = policy.AllowsLocal()
	}
	if err != nil {
		return cli.InputError(fmt.Errorf("%s: %w", flag, err))
	}
	return nil
}

// Registries is a client of registries, with a cache in the user's cache folder.
func Registries() (*oci.Client, error) {
	config := oci.Config{Clock: time.Now}
	if dir := defaultCache(); dir != "" {
		config.Cache = filepath.Join(filepath.Dir(dir), "registries")
	}
	return oci.New(config)
}

// The most references that the definitions of a command may have, and how long fetching all of them may take.
const (
	maxReferences = 100
	fetchTime     = 10 * time.Minute
)

// Use is what definitions do with a module that they name by a reference.
type Use struct {
	Reference string
	trust.Use        // Roles and Granted
	At        string // where it is named first: file, line and path
	Folder    string // of the file
}

// Uses are those of all references in pipelines and a rubric, in their order, each once. Any of them may be nil.
func Uses(rubric *audit.Rubric, defs ...*pipeline.Definition) []Use {
	var list []Use
	add := func(p trust.Part, file string, at pipeline.Position) {
		if !pipeline.IsReference(p.Module) {
			return
		}
		i := slices.IndexFunc(list, func(u Use) bool { return u.Reference == p.Module })
		if i < 0 {
			i = len(list)
			list = append(list, Use{Reference: p.Module, At: fmt.Sprintf("%s:%d:%d: %s", file, at.Line, at.Column, p.Path), Folder: filepath.Dir(file)})
		}
		list[i].Add(p)
	}
	for _, def := range defs {
		if def == nil {
			continue
		}
		for _, p := range trust.Parts(def) {
			add(p, def.File(), def.Position(p.Path))
		}
	}
	if rubric != nil {
		for i := range rubric.Judges {
			path := strictyaml.KeyPath("judges", rubric.Judges[i].ID) + ".module"
			add(trust.Part{Module: rubric.Judges[i].Module, Role: trust.RoleCriterion, Path: path}, rubric.File(), rubric.Position(path))
		}
	}
	return list
}

// Fetched are the modules of a run.
type Fetched struct {
	// Modules is the file system that a host reads; nil for the embedded modules.
	Modules fs.FS
	// Signed says who signed those of registries.
	Signed map[record.Digest]host.Signature
	// Manifests are the digests of their OCI manifests by reference.
	Manifests map[string]string
}

// Fetch fetches what pipelines and a rubric name by references, each after the policy has accepted it, and puts it over modules, which are
// those of a folder, nil for the embedded ones. file is that of the pipeline, beside which the lock file stands. The error has every fault.
func (t *Trust) Fetch(ctx context.Context, file string, modules fs.FS, rubric *audit.Rubric, defs ...*pipeline.Definition) (*Fetched, error) {
	policy, err := t.TrustPolicy()
	if err != nil {
		return nil, err
	}
	if modules != nil {
		if err := policy.AllowsLocal(); err != nil {
			return nil, cli.InputError(fmt.Errorf("--modules: %w", err))
		}
	}
	uses := Uses(rubric, defs...)
	all := &Fetched{Modules: modules, Signed: map[record.Digest]host.Signature{}, Manifests: map[string]string{}}
	if len(uses) == 0 && !t.Locked {
		return all, nil
	}
	var pinned *trust.Lock
	if !t.Unpinned {
		pinned, err = trust.FindLock(LockFile(file))
	}
	if err == nil && pinned == nil && t.Locked {
		err = fmt.Errorf("--locked: there is no %s; `shadowcourt lock` writes it", LockFile(file))
	}
	if err != nil {
		return nil, cli.InputError(err)
	}
	if err := t.fetch(ctx, all, uses, policy, pinned); err != nil {
		return nil, err
	}
	if !t.Locked {
		return all, nil
	}
	digests, err := all.digests(rubric, defs...)
	if err != nil {
		return nil, err
	}
	return all, cli.InputError(pinned.Check(digests))
}

func (t *Trust) fetch(ctx context.Context, all *Fetched, uses []Use, policy *trust.Policy, pinned *trust.Lock) error {
	switch n := len(uses); {
	case n == 0:
		return nil
	case n > maxReferences:
		return cli.InputError(fmt.Errorf("%d references to modules: at most %d are fetched", n, maxReferences))
	}
	ctx, cancel := context.WithTimeoutCause(ctx, fetchTime, fmt.Errorf("the modules of registries were not there within %s", fetchTime))
	defer cancel()
	client, err := Registries()
	if err != nil {
		return cli.InputError(fmt.Errorf("--cache: %w", err))
	}
	source := trust.Source{Client: client, Policy: policy, Lock: pinned, Now: time.Now}
	if t.pulled == nil {
		t.pulled = map[string][]byte{}
	}
	var faults []error
	away := false // a registry can't be reached: then it is no fault of the input
	for i := range uses {
		u := &uses[i]
		if t.Locked && pinned.Module(u.Reference) == nil {
			continue // the check of all modules says so
		}
		source.Folder = u.Folder
		m, err := source.Module(ctx, u.Reference, u.Use)
		if err != nil {
			if ctx.Err() != nil {
				return context.Cause(ctx)
			}
			if _, ok := errors.AsType[net.Error](err); ok {
				away = true
			}
			faults = append(faults, fmt.Errorf("%s: %w", sanitize.Line(u.At), err))
			continue
		}
		t.pulled[pipeline.ModuleFile(u.Reference)] = m.Wasm
		all.Signed[record.DigestOf(m.Wasm)] = host.Signature{Signer: m.Decision.Signer, Policy: m.Decision.Policy}
		all.Manifests[u.Reference] = m.Artifact.Digest
	}
	switch err := errors.Join(faults...); {
	case away:
		return fmt.Errorf("%w\na module that is pinned by a digest or by `shadowcourt lock` is taken from the cache, once it was fetched", err)
	case err != nil:
		return cli.InputError(err)
	}
	under, err := all.orEmbedded()
	all.Modules = t.Over(under)
	return err
}

func (f *Fetched) orEmbedded() (fs.FS, error) {
	if f.Modules != nil {
		return f.Modules, nil
	}
	return Modules("")
}

// digests of all modules that definitions name, by name. Those that are not there are left out.
func (f *Fetched) digests(rubric *audit.Rubric, defs ...*pipeline.Definition) (map[string]string, error) {
	modules, err := f.orEmbedded()
	if err != nil {
		return nil, err
	}
	var names []string
	for _, def := range defs {
		if def != nil {
			names = append(names, def.Modules()...)
		}
	}
	if rubric != nil {
		names = append(names, rubric.Modules()...)
	}
	digests := map[string]string{}
	for _, name := range names {
		wasm, err := fs.ReadFile(modules, pipeline.ModuleFile(name))
		switch {
		case err == nil:
			digests[name] = string(record.DigestOf(wasm))
		case pipeline.IsReference(name): // not fetched, since nothing pins it
			digests[name] = ""
		}
	}
	return digests, nil
}

// Lock pins all modules that definitions name, in a lock file with others.
func (f *Fetched) Lock(file *trust.Lock, rubric *audit.Rubric, defs ...*pipeline.Definition) error {
	digests, err := f.digests(rubric, defs...)
	if err != nil {
		return err
	}
	file.Modules = slices.DeleteFunc(file.Modules, func(m trust.Pin) bool { _, again := digests[m.Name]; return again })
	for name, digest := range digests {
		file.Modules = append(file.Modules, trust.Pin{Name: name, Manifest: f.Manifests[name], Digest: digest})
	}
	return nil
}

// LockFile is the lock file of a pipeline.
func LockFile(pipelineFile string) string {
	return filepath.Join(filepath.Dir(pipelineFile), trust.LockName)
}

// keyVariable has the key where no flag names one.
const keyVariable = "SHADOWCOURT_KEY"

// keyFromEnv begins the name of a variable that has the key.
const keyFromEnv = "env:"

// MaxKeyBytes is the largest file of a key that is read.
const MaxKeyBytes = 64 << 10

// KeyFlag adds --key.
func KeyFlag(cmd *cobra.Command, name *string, use string) {
	cmd.Flags().StringVar(name, "key", "", use+": a file, or "+keyFromEnv+"NAME for a variable that holds it (default: the variable "+keyVariable+")")
}

// KeyVariable is the variable that a name of a key stands for; empty for a file.
func KeyVariable(name string) string {
	variable, fromEnv := strings.CutPrefix(name, keyFromEnv)
	if !fromEnv {
		return ""
	}
	return variable
}

// Key reads a key. Nothing of it gets into an error, not even where its text was given in place of a name.
func Key(name string) (*record.Key, error) {
	variable, fromEnv := strings.CutPrefix(name, keyFromEnv)
	switch {
	case looksSecret(variable):
		return nil, errors.New("--key: that looks like the text of a key; give the name of its file, or " + keyFromEnv + "NAME for a variable that holds it")
	case name == "" && os.Getenv(keyVariable) == "":
		return nil, fmt.Errorf("which key? use --key FILE, --key %sNAME or the variable %s: to sign, a key that `shadowcourt record key new FILE` makes; "+
			"to verify, the FILE.pub of the key that signed", keyFromEnv, keyVariable)
	case name == "":
		variable, fromEnv = keyVariable, true
	}
	text, from := []byte(os.Getenv(variable)), "the variable "+variable+", which must hold the text of a key and not the name of its file"
	if !fromEnv {
		var err error
		if text, err = disk.ReadBounded(name, MaxKeyBytes); err != nil {
			return nil, fmt.Errorf("--key: %w", err)
		}
		from = "--key " + name
	} else if len(bytes.TrimSpace(text)) == 0 {
		return nil, fmt.Errorf("--key: the variable %s is empty or not there", variable)
	}
	key, err := record.ParseKey(text)
	if err != nil {
		return nil, fmt.Errorf("%s: %w", from, err)
	}
	return key, nil
}

// secretLike is a line of the text of a key: 32 bytes and more in base64 or in hex.
var secretLike = regexp.MustCompile(`^[A-Za-z0-9+/_-]{43,}=*$`)

// looksSecret says whether a name may be the text of a key.
func looksSecret(name string) bool {
	return strings.ContainsAny(name, "\r\n") || strings.Contains(name, "-----") || secretLike.MatchString(name) && !disk.Exists(name)
}

// WarnOfKey warns of the file of a secret key that others than its owner may read or write. Keys of variables, public keys, and what is no
// file of its own such as a pipe, have no mode that says so.
func WarnOfKey(stderr io.Writer, name string) {
	info, err := os.Stat(name)
	if err != nil || !info.Mode().IsRegular() {
		return
	}
	if key, err := Key(name); err == nil && key.Signs() {
		warnOfMode(stderr, "secret key", name, info)
	}
}

// warnOfMode warns of a secret that others than its owner may read or write, where the mode of a file says so.
func warnOfMode(stderr io.Writer, what, name string, info fs.FileInfo) {
	if mode := info.Mode().Perm(); mode&0o077 != 0 && runtime.GOOS != "windows" {
		shown := sanitize.Line(name)
		fmt.Fprintf(stderr, "warning: others may read or write the %s %s (mode %04o); `chmod 600 %s` keeps it to its owner\n", what, shown, mode, shown)
	}
}
