package plugin

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"os/exec"
	"path"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"time"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"

	"github.com/shadowcourt/shadowcourt/abi"
	"github.com/shadowcourt/shadowcourt/abi/abitest"
	"github.com/shadowcourt/shadowcourt/cmd/shadowcourt/internal/cli"
	"github.com/shadowcourt/shadowcourt/cmd/shadowcourt/internal/open"
	"github.com/shadowcourt/shadowcourt/host/conformance"
	"github.com/shadowcourt/shadowcourt/host/record"
	"github.com/shadowcourt/shadowcourt/internal/disk"
	"github.com/shadowcourt/shadowcourt/internal/moduleref"
	"github.com/shadowcourt/shadowcourt/internal/oci"
	"github.com/shadowcourt/shadowcourt/internal/sanitize"
	"github.com/shadowcourt/shadowcourt/internal/trust"
)

// pushed is what a program reads of `plugin push`.
type pushed struct {
	Reference string `json:"reference"`
	Digest    string `json:"digest"`
	Module    string `json:"module"`
	SignedBy  string `json:"signed_by,omitempty"` // id of the key
}

type pushOptions struct {
	key, cache          string
	format              format
	cases               int
	build, dryRun, move bool
}

func newPluginPush(s cli.Streams) *cobra.Command {
	o := &pushOptions{}
	cmd := &cobra.Command{
		Use:   "push FILE|NAME|DIR REF",
		Short: "Push a module to a registry or a layout directory, built and signed on request",
		Long: `Push a module to an OCI registry (oci://HOST/REPOSITORY[:TAG]) or a folder with an OCI image
layout (oci-layout:FOLDER[:TAG]). The fields of its manifest become annotations. With --key it is
signed, and the tag is set when the signature is attached; what the key has signed already stays
as it is. The standard output has the reference with the digest, for a pipeline. A tag that stands
for another module stays, unless --move is given.

--reproducible takes a folder of "plugin new": it builds the module twice in fresh folders with the
language's own tools and compares the bytes, runs the conformance kit on it, and pushes it with its
signature and the signed result of the kit. The tag of REF is the manifest's version where REF has
none. Nothing is pushed of a module that builds differently or breaks the contract. The build runs
with your rights, in a temporary folder below your cache folder, and without variables whose names
look secret.

Credentials are those of Docker: log in with "docker login".`,
		Example: "  shadowcourt plugin push bin/modules/clerk.wasm oci-layout:pushed:v1 --key court.key\n" +
			"  shadowcourt plugin push --reproducible lines oci-layout:published --dry-run",
		Args: cli.ExactArgs(2, "a module and a reference"),
		RunE: func(cmd *cobra.Command, args []string) error {
			for _, flag := range []string{"dry-run", "cases", "cache"} {
				if !o.build && cmd.Flags().Changed(flag) {
					return cli.InputError(fmt.Errorf("--%s goes with --reproducible", flag))
				}
			}
			ref, err := parseRef(args[1])
			if err != nil {
				return err
			}
			p := &parcel{}
			if o.build && !o.dryRun || cmd.Flags().Changed("key") {
				if p.key, err = signingKey(s, o.key); err != nil {
					return err
				}
			}
			if o.build {
				return o.reproduce(cmd.Context(), s, p, args[0], ref)
			}
			if p.wasm, err = open.Module(args[0]); err != nil {
				return err
			}
			if p.manifest, err = trust.ManifestOf(p.wasm); err != nil {
				return cli.InputError(fmt.Errorf("%s: %w", args[0], err))
			}
			source, err := newSource(nil)
			if err != nil {
				return err
			}
			defer waiting(s, args[1])()
			a, err := p.push(cmd.Context(), source, ref, o.move)
			if err != nil {
				return err
			}
			return printPushed(s, o.format, newPushed(a, p.key))
		},
	}
	f := cmd.Flags()
	open.KeyFlag(cmd, &o.key, keyUsage)
	f.BoolVar(&o.build, "reproducible", false, "build the module of a folder twice, compare, validate, and push it signed")
	f.IntVar(&o.cases, "cases", abitest.DefaultCases, "with --reproducible: random cases of the conformance kit, each put to every role")
	f.BoolVar(&o.dryRun, "dry-run", false, "with --reproducible: build and validate, read whether the tag is free, and push nothing; needs no key")
	open.CacheFlag(f, &o.cache, "with --reproducible: folder for compiled modules, or none")
	moveFlag(f, &o.move)
	o.format.flag(f)
	cli.RemovedFlags(f, "attach bills of materials with a tool of registries, such as `oras attach`", "sbom")
	return cmd
}

func newPushed(a *oci.Artifact, key *record.Key) pushed {
	out := pushed{Reference: a.Pinned().String(), Digest: a.Digest, Module: a.Layer.Digest}
	if key != nil {
		out.SignedBy = key.ID()
	}
	return out
}

func printPushed(s cli.Streams, form format, out pushed) error {
	if form == "json" {
		return writeJSON(s, out)
	}
	if out.SignedBy != "" {
		fmt.Fprintf(s.Err, "signed by %s\n", out.SignedBy)
	}
	_, err := fmt.Fprintln(s.Out, sanitize.Line(out.Reference))
	return err
}

// parcel is a module with what is said about it.
type parcel struct {
	wasm     []byte
	manifest *abi.Manifest
	key      *record.Key     // nil: nothing is signed
	report   *abitest.Report // of the conformance kit; nil: none
}

// build gives what push will make, and what is signed about it for the repository that it goes to. A signature is left out where the module has one
// there.
func (p *parcel) build(ctx context.Context, source *trust.Source, to moduleref.Ref) (*oci.Artifact, []oci.Attachment, error) {
	a, err := oci.Build(to, p.wasm, trust.Annotations(p.manifest))
	if err != nil {
		return nil, nil, err
	}
	var about []oci.Attachment
	add := func(d trust.Document, failed error) {
		about, err = append(about, oci.Attachment{Type: d.Type, Data: d.Data}), errors.Join(err, failed)
	}
	if p.key == nil {
		return a, about, nil
	}
	if p.report != nil {
		add(trust.SignReport(p.key, subjectAt(a), p.report))
	}
	there, failed := isSigned(ctx, source, a.Pinned(), p.key)
	if failed != nil {
		return nil, nil, failed
	}
	if !there {
		add(trust.Sign(p.key, subjectAt(a), p.manifest, source.Now()))
	}
	return a, about, err
}

// push adds the parcel. Its tag is set last.
func (p *parcel) push(ctx context.Context, source *trust.Source, to moduleref.Ref, move bool) (*oci.Artifact, error) {
	a, about, err := p.build(ctx, source, to)
	if err != nil {
		return nil, err
	}
	if to.Tag() == "" && to.Digest() == "" {
		to = to.WithTag("latest")
	}
	if err := checkTag(ctx, source.Client, to, a.Digest, move); err != nil {
		return nil, err
	}
	return source.Client.Push(ctx, to, p.wasm, a.Annotations, about...)
}

func moveFlag(f *pflag.FlagSet, move *bool) {
	f.BoolVar(move, "move", false, "let a tag that stands for another module stand for this one")
}

// errTagTaken: a tag stands for another module.
var errTagTaken = errors.New("is another module")

// checkTag rejects a tag that stands for another manifest than the one of a digest.
func checkTag(ctx context.Context, client *oci.Client, to moduleref.Ref, digest string, move bool) error {
	if move || to.Tag() == "" {
		return nil
	}
	there, err := client.Resolve(ctx, to.WithTag(to.Tag()))
	switch {
	case errors.Is(err, oci.ErrNotFound):
		return nil
	case errors.Is(err, oci.ErrNotModule):
		err = errTagTaken
	case err == nil && there.Digest != digest:
		err = fmt.Errorf("%w, %s", errTagTaken, there.Digest)
	default:
		return err
	}
	return cli.InputError(fmt.Errorf("%s is published already and %w: take another tag, such as a new version, or use --move", to.WithDigest(""), err))
}

// subjectAt is what a signature of a module says of where it is. The path of a folder is nobody's business.
func subjectAt(a *oci.Artifact) trust.Subject {
	s := trust.Subject{Repository: a.Ref.Repository(), Manifest: a.Digest, Module: a.Layer.Digest}
	if a.Ref.IsLayout() {
		s.Repository = moduleref.Layout + filepath.Base(a.Ref.Path())
	}
	return s
}

// isSigned says whether a key has signed what a reference names: another signature adds nothing, and lists of them are bounded.
func isSigned(ctx context.Context, source *trust.Source, ref moduleref.Ref, key *record.Key) (bool, error) {
	a, err := source.Client.Resolve(ctx, ref)
	if err != nil {
		if errors.Is(err, oci.ErrNotFound) {
			err = nil
		}
		return false, err
	}
	documents, err := source.Documents(ctx, a)
	if err != nil {
		return false, err
	}
	text, err := key.PublicPEM()
	if err != nil {
		return false, err
	}
	policy, err := trust.OfKey("key", text)
	if err != nil {
		return false, err
	}
	return slices.ContainsFunc(policy.Verify(ctx, trust.SubjectOf(a), documents, time.Time{}), func(s trust.Signature) bool {
		return s.Counts && s.Kit == nil
	}), nil
}

// published is what a program reads of `plugin push --reproducible`.
type published struct {
	pushed
	Published bool     `json:"published"` // false after --dry-run
	Checks    int      `json:"checks"`    // of the conformance kit that passed
	Line      string   `json:"pipeline"`  // the line for a pipeline or a rubric
	Policy    []string `json:"trust"`     // lines of a trust policy
}

func (o *pushOptions) reproduce(ctx context.Context, s cli.Streams, p *parcel, folder string, ref moduleref.Ref) error {
	if o.cases < 1 {
		return cli.InputError(fmt.Errorf("--cases %d: use one or more", o.cases))
	}
	if ref.Digest() != "" {
		return cli.InputError(fmt.Errorf("%s: a digest comes of the build; leave it out", ref))
	}
	// The build, and what it installs, must not read the key.
	for _, variable := range []string{"SHADOWCOURT_KEY", open.KeyVariable(o.key)} {
		if variable != "" {
			if err := os.Unsetenv(variable); err != nil {
				return err
			}
		}
	}
	if err := privateTemp(); err != nil {
		return err
	}
	dir, err := disk.TempDir("shadowcourt-publish")
	if err != nil {
		return err
	}
	return errors.Join(o.publish(ctx, s, p, folder, dir.Path, ref), dir.Remove())
}

func (o *pushOptions) publish(ctx context.Context, s cli.Streams, p *parcel, folder, temp string, ref moduleref.Ref) error {
	if err := o.make(ctx, s, p, folder, temp); err != nil {
		return err
	}
	if ref.Tag() == "" {
		version, err := moduleref.Parse(ref.String() + ":" + p.manifest.Version)
		if err != nil {
			return cli.InputError(fmt.Errorf("the version %q of the manifest is no tag: name one in the reference", sanitize.Line(p.manifest.Version)))
		}
		ref = version
	}
	source, err := newSource(nil)
	if err != nil {
		return err
	}
	defer waiting(s, ref.String())()
	var a *oci.Artifact
	if o.dryRun {
		a, err = o.rehearse(ctx, s, source, p, ref)
	} else {
		a, err = p.push(ctx, source, ref, o.move)
	}
	if err != nil {
		return err
	}
	return o.print(s, p, a)
}

// rehearseTime is how long a dry run waits for the registry.
const rehearseTime = 15 * time.Second

// rehearse gives what would be pushed. A registry that does not answer is no fault of the module.
func (o *pushOptions) rehearse(ctx context.Context, s cli.Streams, source *trust.Source, p *parcel, ref moduleref.Ref) (*oci.Artifact, error) {
	a, _, err := p.build(ctx, source, ref)
	if err != nil {
		return nil, err
	}
	short, cancel := context.WithTimeout(ctx, rehearseTime)
	defer cancel()
	if err := checkTag(short, source.Client, ref, a.Digest, o.move); err != nil {
		if errors.Is(err, errTagTaken) || ctx.Err() != nil {
			return nil, err
		}
		fmt.Fprintf(s.Err, "whether the tag is free could not be read: %s\n", shown(err.Error()))
	}
	return a, nil
}

func (o *pushOptions) make(ctx context.Context, s cli.Streams, p *parcel, folder, temp string) error {
	t, err := toolchainOf(folder)
	if err != nil {
		return cli.InputError(err)
	}
	wasm, err := t.buildTwice(ctx, s, folder, temp)
	if err != nil {
		return err
	}
	p.wasm = wasm
	if p.manifest, err = trust.ManifestOf(wasm); err != nil {
		return err
	}
	fmt.Fprintf(s.Err, "built twice in %s: the same %d bytes, %s\n", t.language, len(wasm), record.DigestOf(wasm))
	fmt.Fprintln(s.Err, "checking with the conformance kit")
	c, err := test(ctx, s, p.manifest.Name, wasm, conformance.Options{Cases: o.cases, Now: time.Now, CacheDir: o.cache})
	if err != nil {
		return err
	}
	if !c.Passed {
		var b bytes.Buffer
		if err := printChecked(cli.Streams{Out: &b}, &c, false); err != nil {
			return err
		}
		fmt.Fprint(s.Err, b.String())
		return errors.New("the module breaks the contract: nothing was published")
	}
	p.report = c.Report
	fmt.Fprintf(s.Err, "conformance kit: %d checks passed\n", len(c.Checks))
	return nil
}

func (o *pushOptions) print(s cli.Streams, p *parcel, a *oci.Artifact) error {
	out := published{pushed: newPushed(a, p.key), Published: !o.dryRun, Checks: len(p.report.Checks), Line: "module: " + a.Pinned().String()}
	at, err := (&trust.Source{}).Parse(a.Ref.String())
	if err != nil {
		return err
	}
	file := "publisher.key"
	if o.key != "" && open.KeyVariable(o.key) == "" {
		file = filepath.Base(o.key)
	}
	m := p.manifest
	out.Policy = trust.Example(file+".pub", at.Repository(), trust.Use{Name: m.Name, Roles: rolesOf(m), Asks: m.Capabilities, Granted: m.Capabilities})
	if o.format == "json" {
		return writeJSON(s, &out)
	}
	did := "published"
	if o.dryRun {
		did = "would publish"
	}
	_, err = fmt.Fprintf(s.Out, "%s %s\n\nIn a pipeline or rubric:\n  %s\n\nIn a trust policy, with the public key beside it:\n  %s\n",
		did, sanitize.Line(out.Reference), sanitize.Line(out.Line), sanitize.Block(strings.Join(out.Policy, "\n  ")))
	return err
}

type toolchain struct {
	language string
	marks    []string // files that a scaffold of the language has
	commands [][]string
	output   string // pattern of the module's file
	skip     string // folder that the build makes
}

func toolchains() []toolchain {
	return []toolchain{
		{"go", []string{"go.mod", "build/main.go"}, [][]string{{"go", "run", "./build"}}, "*.wasm", ""},
		{"rust", []string{"Cargo.toml"}, [][]string{{"cargo", "build", "--quiet", "--release", "--target", "wasm32-unknown-unknown"}}, "target/wasm32-unknown-unknown/release/*.wasm", "target"},
		{"typescript", []string{"package.json", "asconfig.json"}, [][]string{{"npm", "install", "--silent", "--no-audit", "--no-fund"}, {"npm", "run", "--silent", "build"}}, "build/*.wasm", "build"},
		{"c", []string{"Makefile"}, [][]string{{"make", "--silent"}}, "build/*.wasm", "build"},
	}
}

func toolchainOf(dir string) (*toolchain, error) {
	for _, t := range toolchains() {
		if !slices.ContainsFunc(t.marks, func(mark string) bool {
			info, err := os.Stat(filepath.Join(dir, filepath.FromSlash(mark)))
			return err != nil || info.IsDir()
		}) {
			return &t, nil
		}
	}
	return nil, fmt.Errorf("%s is no folder of `shadowcourt plugin new`: it has neither go.mod with build/main.go, nor Cargo.toml, asconfig.json or a Makefile; "+
		"`shadowcourt plugin push` takes a module that is built", dir)
}

// The most that is copied of a scaffold.
const (
	maxSources     = 20_000
	maxSourceBytes = 256 << 20
)

// copySources copies a scaffold without what builds make.
func copySources(from, to string, t *toolchain) error {
	source, err := os.OpenRoot(from)
	if err != nil {
		return err
	}
	defer func() { _ = source.Close() }()
	target, err := os.OpenRoot(to)
	if err != nil {
		return err
	}
	defer func() { _ = target.Close() }()
	count, size := 0, int64(0)
	return fs.WalkDir(source.FS(), ".", func(name string, e fs.DirEntry, err error) error {
		switch {
		case err != nil:
			return err
		case e.IsDir() && (e.Name() == ".git" || e.Name() == "node_modules" || name == t.skip):
			return fs.SkipDir
		case e.IsDir():
			return target.MkdirAll(name, 0o700)
		case path.Ext(name) == ".wasm", path.Ext(name) == ".key": // what builds leave, and keys, which no build needs
			return nil
		case !e.Type().IsRegular():
			return fmt.Errorf("%s is not a regular file", name)
		}
		info, err := e.Info()
		if err != nil {
			return err
		}
		if count, size = count+1, size+info.Size(); count > maxSources || size > maxSourceBytes {
			return fmt.Errorf("%s has more than %d files or %d bytes", from, maxSources, int64(maxSourceBytes))
		}
		data, err := source.ReadFile(name)
		if err != nil {
			return err
		}
		return target.WriteFile(name, data, info.Mode().Perm()|0o600)
	})
}

func (t *toolchain) build(ctx context.Context, from, folder string) ([]byte, error) {
	if err := copySources(from, folder, t); err != nil {
		return nil, cli.InputError(err)
	}
	for _, command := range t.commands {
		if _, err := tool(ctx, folder, command...); err != nil {
			return nil, err
		}
	}
	found, err := filepath.Glob(filepath.Join(folder, filepath.FromSlash(t.output)))
	if err != nil {
		return nil, err
	}
	if len(found) != 1 {
		return nil, fmt.Errorf("%s left %s, expected one", strings.Join(t.commands[len(t.commands)-1], " "), cli.Count(len(found), "file "+t.output, "files "+t.output))
	}
	return open.File(found[0])
}

// privateTemp has the temporary folders of this process and of builds in the user's own cache folder. Tools read configuration of the folders above,
// such as .cargo/config.toml and go.work: in a shared folder that would be anybody's.
func privateTemp() error {
	cache, err := os.UserCacheDir()
	if err != nil {
		return fmt.Errorf("builds need a cache folder: %w", err)
	}
	folder := filepath.Join(cache, "shadowcourt", "tmp")
	if err := os.MkdirAll(folder, 0o700); err != nil {
		return err
	}
	info, err := os.Stat(folder)
	if err == nil {
		err = disk.PrivateFolder(info)
	}
	if err != nil {
		return fmt.Errorf("the folder for builds %s: %w", folder, err)
	}
	for _, variable := range []string{"TMPDIR", "TMP", "TEMP"} {
		err = errors.Join(err, os.Setenv(variable, folder))
	}
	return err
}

// secretWords are in the names of variables that builds do not see.
var secretWords = regexp.MustCompile(`(?i)^SHADOWCOURT_|TOKEN|SECRET|PASSW|CREDENTIAL|_KEY$|DOCKER_AUTH`)

// maxToolOutput is how much of what a tool says is told.
const maxToolOutput = 4000

func tool(ctx context.Context, folder string, command ...string) ([]byte, error) {
	cmd := exec.CommandContext(ctx, command[0], command[1:]...) //nolint:gosec // the commands are those of toolchains
	env := slices.DeleteFunc(os.Environ(), func(v string) bool {
		name, _, _ := strings.Cut(v, "=")
		return secretWords.MatchString(name)
	})
	env = append(env, "GOWORK=off")
	cmd.Dir, cmd.Env, cmd.WaitDelay = folder, env, 10*time.Second
	var out, said bytes.Buffer
	cmd.Stdout, cmd.Stderr = &out, &said
	err := cmd.Run()
	if err == nil {
		return out.Bytes(), nil
	}
	if ctx.Err() != nil {
		return nil, context.Cause(ctx)
	}
	text := strings.TrimSpace(said.String() + out.String())
	return nil, fmt.Errorf("%s: %w\n%s", strings.Join(command, " "), err, sanitize.Block(text[max(0, len(text)-maxToolOutput):]))
}

// buildTwice builds a scaffold in two fresh folders below one, and compares the bytes.
func (t *toolchain) buildTwice(ctx context.Context, s cli.Streams, from, below string) ([]byte, error) {
	var built [2][]byte
	for i, name := range []string{"first", "the-second"} { // names of other lengths: paths in the module would show
		fmt.Fprintln(s.Err, [...]string{"building", "building again"}[i])
		folder := filepath.Join(below, name)
		if err := os.Mkdir(folder, 0o700); err != nil {
			return nil, err
		}
		var err error
		if built[i], err = t.build(ctx, from, folder); err != nil {
			return nil, err
		}
	}
	if !bytes.Equal(built[0], built[1]) {
		at := 0
		for at < min(len(built[0]), len(built[1])) && built[0][at] == built[1][at] {
			at++
		}
		return nil, fmt.Errorf("the build is not reproducible: two builds of the same sources in two folders have %d and %d bytes, and differ from byte %d on; "+
			"leave paths, times and random values out of the module", len(built[0]), len(built[1]), at)
	}
	return built[0], nil
}
