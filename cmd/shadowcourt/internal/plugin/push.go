package plugin

import (
	"context"
	"errors"
	"fmt"
	"path/filepath"
	"slices"
	"time"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"

	"github.com/shadowcourt/shadowcourt/abi"
	"github.com/shadowcourt/shadowcourt/abi/abitest"
	"github.com/shadowcourt/shadowcourt/cmd/shadowcourt/internal/cli"
	"github.com/shadowcourt/shadowcourt/cmd/shadowcourt/internal/open"
	"github.com/shadowcourt/shadowcourt/host/record"
	"github.com/shadowcourt/shadowcourt/internal/moduleref"
	"github.com/shadowcourt/shadowcourt/internal/oci"
	"github.com/shadowcourt/shadowcourt/internal/pull"
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

// pushOptions are the flags of `plugin push`.
type pushOptions struct {
	key, cache          string
	format              format
	cases               int
	build, dryRun, move bool
}

// newPluginPush is the command `plugin push`.
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
			if p.wasm, p.manifest, err = withManifest(args[0]); err != nil {
				return err
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
			return printPushed(s, o.format, a, p.key)
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
	return cmd
}

func printPushed(s cli.Streams, form format, a *oci.Artifact, key *record.Key) error {
	out := pushed{Reference: a.Pinned().String(), Digest: a.Digest, Module: a.Layer.Digest}
	if key != nil {
		out.SignedBy = key.ID()
	}
	if form == "json" {
		return writeJSON(s, out)
	}
	if key != nil {
		fmt.Fprintf(s.Err, "signed by %s\n", key.ID())
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
func (p *parcel) build(ctx context.Context, source *pull.Source, to moduleref.Ref) (*oci.Artifact, []oci.Attachment, error) {
	a, err := oci.Build(to, p.wasm, pull.Annotations(p.manifest))
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
func (p *parcel) push(ctx context.Context, source *pull.Source, to moduleref.Ref, move bool) (*oci.Artifact, error) {
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
func isSigned(ctx context.Context, source *pull.Source, ref moduleref.Ref, key *record.Key) (bool, error) {
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
	return slices.ContainsFunc(policy.Verify(ctx, pull.Subject(a), documents, time.Time{}), func(s trust.Signature) bool {
		return s.Counts && s.Kit == nil
	}), nil
}
