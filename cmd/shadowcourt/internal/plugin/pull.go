package plugin

import (
	"cmp"
	"context"
	"errors"
	"fmt"

	"github.com/spf13/cobra"

	"github.com/shadowcourt/shadowcourt/abi"
	"github.com/shadowcourt/shadowcourt/cmd/shadowcourt/internal/cli"
	"github.com/shadowcourt/shadowcourt/cmd/shadowcourt/internal/open"
	"github.com/shadowcourt/shadowcourt/internal/disk"
	"github.com/shadowcourt/shadowcourt/internal/moduleref"
	"github.com/shadowcourt/shadowcourt/internal/oci"
	"github.com/shadowcourt/shadowcourt/internal/sanitize"
	"github.com/shadowcourt/shadowcourt/internal/trust"
)

// pullOptions are the flags of `plugin pull`.
type pullOptions struct {
	uses
	trust      open.Trust
	output     string
	format     format
	unverified bool
}

// newPluginPull is the command `plugin pull`.
func newPluginPull(s cli.Streams) *cobra.Command {
	o := &pullOptions{}
	cmd := &cobra.Command{
		Use:   "pull REF",
		Short: "Download a module when the trust policy accepts it",
		Long: `Download a module into a file. The trust policy decides first, as before a court: about the
roles of --role, or about each role that the module can play, of which it must accept one. No
policy is asked again about the file: a court that finds it in --modules runs it as a local module.

--unverified downloads without asking a policy: anybody may have made what comes.`,
		Example: "  shadowcourt plugin pull oci-layout:layout:clerk --unverified --output pulled.wasm",
		Args:    cli.ExactArgs(1, "one reference"),
		RunE:    func(cmd *cobra.Command, args []string) error { return o.run(cmd.Context(), s, args[0]) },
	}
	o.flags(cmd)
	o.trust.PolicyFlag(cmd.Flags())
	cmd.Flags().StringVar(&o.output, "output", "", "where to write (default: NAME.wasm, which must not be there yet)")
	cmd.Flags().BoolVar(&o.unverified, "unverified", false, "ask no trust policy")
	o.format.flag(cmd.Flags())
	return cmd
}

func (o *pullOptions) run(ctx context.Context, s cli.Streams, reference string) error {
	policy := &o.trust
	if o.unverified {
		if policy = nil; o.trust.Policy != "" {
			return cli.InputError(errors.New("use either --unverified or --trust"))
		}
	}
	defer waiting(s, reference)()
	source, err := newSource(policy)
	if err != nil {
		return err
	}
	a, err := resolve(ctx, source, reference)
	if err != nil {
		return err
	}
	how, roles := "unverified: no trust policy was asked, and anybody may have made it", []string{}
	if !o.unverified {
		all, err := o.assess(ctx, source, a)
		if err != nil {
			return err
		}
		if err := all.rejection(); err != nil {
			return cli.InputError(fmt.Errorf("%s is rejected: %w", a.Pinned(), err))
		}
		how = all.line()
		roles, _ = all.accepted()
	}
	wasm, manifest, err := trust.Fetch(ctx, source.Client, a)
	if err != nil {
		if errors.Is(err, trust.ErrOther) {
			err = cli.InputError(err)
		}
		return err
	}
	name, err := o.write(wasm, manifest)
	if err != nil {
		return cli.FileError(err)
	}
	if o.format == "json" {
		return writeJSON(s, struct {
			File      string   `json:"file"`
			Reference string   `json:"reference"`
			Module    string   `json:"module"`
			Verified  bool     `json:"verified"`
			Roles     []string `json:"roles"`
		}{name, a.Pinned().String(), a.Layer.Digest, !o.unverified, roles})
	}
	fmt.Fprintf(s.Err, "%s\n%s\n", sanitize.Line(a.Pinned().String()), how)
	_, err = fmt.Fprintln(s.Out, sanitize.Line(name))
	return err
}

// write writes the module. A name that the module gives itself never replaces a file, or leaves the folder.
func (o *pullOptions) write(wasm []byte, m *abi.Manifest) (string, error) {
	if o.output != "" {
		return o.output, disk.Replace(o.output, wasm)
	}
	name := "module.wasm"
	if len(m.Name) <= maxPluginName && pluginName.MatchString(m.Name) {
		name = m.Name + ".wasm"
	}
	return name, disk.CreateNew(name, wasm, 0o666)
}

// newPluginCopy is the command `plugin copy`.
func newPluginCopy(s cli.Streams) *cobra.Command {
	var form format
	var move bool
	cmd := &cobra.Command{
		Use:   "copy FROM TO",
		Short: "Copy a module with its signatures between registries and layout directories",
		Long: `Copy a module with all that is attached to it (signatures, result of the conformance kit, SBOM)
between registries and folders with an OCI image layout, such as for a site without a network.
The digest stays the same, so what is pinned and signed stays valid. No policy is asked: the court
that runs the copy decides. The tag is that of FROM, unless TO has one; one that stands for another
module stays, unless --move is given.`,
		Example: "  shadowcourt plugin copy oci-layout:layout:clerk oci-layout:copied",
		Args:    cli.ExactArgs(2, "two references"),
		RunE: func(cmd *cobra.Command, args []string) error {
			from, err := parseRef(args[0])
			if err != nil {
				return err
			}
			to, err := parseRef(args[1])
			if err != nil {
				return err
			}
			defer waiting(s, args...)()
			a, err := copyTo(cmd.Context(), from, to, move)
			if err != nil {
				return err
			}
			return printPushed(s, form, a, nil)
		},
	}
	moveFlag(cmd.Flags(), &move)
	form.flag(cmd.Flags())
	return cmd
}

func copyTo(ctx context.Context, from, to moduleref.Ref, move bool) (*oci.Artifact, error) {
	source, err := newSource(nil)
	if err != nil {
		return nil, err
	}
	a, err := source.Client.Resolve(ctx, from)
	if err != nil {
		return nil, err
	}
	if to.Tag() == "" && from.Digest() == "" {
		from = from.WithTag(cmp.Or(from.Tag(), "latest"))
	}
	at := to.WithTag(cmp.Or(to.Tag(), from.Tag()))
	if err := checkTag(ctx, source.Client, at, a.Digest, move); err != nil {
		return nil, err
	}
	return source.Client.Copy(ctx, from.WithDigest(a.Digest), to, trust.DocumentTypes...)
}
