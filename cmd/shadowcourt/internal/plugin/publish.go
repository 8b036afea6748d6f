package plugin

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"time"

	"github.com/spf13/cobra"

	"github.com/shadowcourt/shadowcourt/abi/abitest"
	"github.com/shadowcourt/shadowcourt/cmd/shadowcourt/internal/cli"
	"github.com/shadowcourt/shadowcourt/cmd/shadowcourt/internal/open"
	"github.com/shadowcourt/shadowcourt/host/conformance"
	"github.com/shadowcourt/shadowcourt/host/record"
	"github.com/shadowcourt/shadowcourt/internal/disk"
	"github.com/shadowcourt/shadowcourt/internal/moduleref"
	"github.com/shadowcourt/shadowcourt/internal/oci"
	"github.com/shadowcourt/shadowcourt/internal/pull"
	"github.com/shadowcourt/shadowcourt/internal/sanitize"
	"github.com/shadowcourt/shadowcourt/internal/trust"
)

// publishOptions are the flags of `plugin publish`.
type publishOptions struct {
	key, sbom, cache string
	format           format
	cases            int
	dryRun, move     bool
}

// newPluginPublish is the command `plugin publish`.
func newPluginPublish(s cli.Streams) *cobra.Command {
	o := &publishOptions{}
	cmd := &cobra.Command{
		Use:   "publish [DIR] REF",
		Short: "Build a module, validate it, and push it signed",
		Long: `Publish the module of a folder that "plugin new" made (default: the current folder): build it
twice in fresh folders with the language's own tools and compare the bytes, run the conformance
kit on it, push it with its signature, the signed result of the kit and, for Go, an SBOM. The tag
of REF is the manifest's version where REF has none; it is set last. Nothing is pushed of a
module that builds differently or breaks the contract. It runs the folder's build with your rights,
in a temporary folder below your cache folder, and without variables whose names look secret.

A tag that stands for another module stays, unless --move is given.`,
		Example: "  shadowcourt plugin publish lines oci-layout:published --dry-run",
		Args: func(cmd *cobra.Command, args []string) error {
			if len(args) != 1 && len(args) != 2 {
				return cli.InputError(fmt.Errorf("publish takes a folder and a reference, or a reference alone; see `%s --help`", cmd.CommandPath()))
			}
			return nil
		},
		RunE: func(cmd *cobra.Command, args []string) error {
			folder := "."
			if len(args) == 2 {
				folder = args[0]
			}
			return o.run(cmd.Context(), s, folder, args[len(args)-1])
		},
	}
	f := cmd.Flags()
	open.KeyFlag(cmd, &o.key, keyUsage)
	f.StringVar(&o.sbom, "sbom", "", "attach this bill of materials, in CycloneDX JSON (default for Go: the modules that are linked)")
	f.IntVar(&o.cases, "cases", abitest.DefaultCases, "random cases of the conformance kit, each put to every role")
	f.BoolVar(&o.dryRun, "dry-run", false, "build and validate, read whether the tag is free, and push nothing; needs no key")
	moveFlag(f, &o.move)
	o.format.flag(f)
	open.CacheFlag(f, &o.cache, "folder for compiled modules, or none")
	return cmd
}

// published is what a program reads of `plugin publish`.
type published struct {
	pushed
	Published bool     `json:"published"` // false after --dry-run
	Checks    int      `json:"checks"`    // of the conformance kit that passed
	SBOM      bool     `json:"sbom"`
	Line      string   `json:"pipeline"` // the line for a pipeline or a rubric
	Policy    []string `json:"trust"`    // lines of a trust policy
}

func (o *publishOptions) run(ctx context.Context, s cli.Streams, folder, reference string) error {
	if o.cases < 1 {
		return cli.InputError(fmt.Errorf("--cases %d: use one or more", o.cases))
	}
	ref, err := parseRef(reference)
	if err != nil {
		return err
	}
	if ref.Digest() != "" {
		return cli.InputError(fmt.Errorf("%s: a digest comes of the build; leave it out", reference))
	}
	p := &parcel{}
	if !o.dryRun {
		if p.key, err = signingKey(s, o.key); err != nil {
			return err
		}
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

func (o *publishOptions) publish(ctx context.Context, s cli.Streams, p *parcel, folder, temp string, ref moduleref.Ref) error {
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
func (o *publishOptions) rehearse(ctx context.Context, s cli.Streams, source *pull.Source, p *parcel, ref moduleref.Ref) (*oci.Artifact, error) {
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

// make builds and validates the module.
func (o *publishOptions) make(ctx context.Context, s cli.Streams, p *parcel, folder, temp string) error {
	t, err := toolchainOf(folder)
	if err != nil {
		return cli.InputError(err)
	}
	wasm, built, err := t.buildTwice(ctx, s, folder, temp)
	if err != nil {
		return err
	}
	p.wasm = wasm
	if p.manifest, err = pull.ManifestOf(wasm); err != nil {
		return err
	}
	fmt.Fprintf(s.Err, "built twice in %s: the same %d bytes, %s\n", t.language, len(wasm), record.DigestOf(wasm))
	fmt.Fprintln(s.Err, "checking with the conformance kit")
	options := conformance.Options{Cases: o.cases, Now: time.Now}
	if o.cache != "none" {
		options.CacheDir = o.cache
	}
	c, err := test(ctx, s, p.manifest.Name, wasm, options)
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
	switch {
	case o.sbom != "":
		p.sbom, err = readSBOM(o.sbom)
	case t.language == "go":
		if p.sbom, err = goBill(ctx, built, p.manifest.Version); err != nil {
			err = fmt.Errorf("SBOM: %w", err)
		}
	}
	return err
}

func (o *publishOptions) print(s cli.Streams, p *parcel, a *oci.Artifact) error {
	out := published{
		pushed:    pushed{Reference: a.Pinned().String(), Digest: a.Digest, Module: a.Layer.Digest},
		Published: !o.dryRun, Checks: len(p.report.Checks), SBOM: len(p.sbom) > 0,
		Line: "module: " + a.Pinned().String(),
	}
	if p.key != nil {
		out.SignedBy = p.key.ID()
	}
	at, err := (&pull.Source{}).Parse(a.Ref.String())
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
