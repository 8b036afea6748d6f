package plugin

import (
	"context"
	"errors"
	"fmt"

	"github.com/spf13/cobra"

	"github.com/shadowcourt/shadowcourt/cmd/shadowcourt/internal/cli"
	"github.com/shadowcourt/shadowcourt/cmd/shadowcourt/internal/open"
	"github.com/shadowcourt/shadowcourt/host/record"
	"github.com/shadowcourt/shadowcourt/internal/moduleref"
	"github.com/shadowcourt/shadowcourt/internal/oci"
	"github.com/shadowcourt/shadowcourt/internal/pull"
	"github.com/shadowcourt/shadowcourt/internal/sanitize"
	"github.com/shadowcourt/shadowcourt/internal/trust"
)

// newPluginSign is the command `plugin sign`.
func newPluginSign(s cli.Streams) *cobra.Command {
	var key string
	var form format
	cmd := &cobra.Command{
		Use:   "sign REF",
		Short: "Sign a module in a registry or a layout directory",
		Long: `Download a module, compare its manifest with what the registry says about it, and attach a
signature (a DSSE envelope with an in-toto statement of the module's digest, name, version and
capabilities). Sign what you have examined: name it by its digest. A module that the key has
signed already stays as it is.`,
		Example: "  shadowcourt plugin sign oci-layout:layout:clerk --key court.key",
		Args:    cli.ExactArgs(1, "one reference"),
		RunE: func(cmd *cobra.Command, args []string) error {
			ref, err := parseRef(args[0])
			if err != nil {
				return err
			}
			k, err := signingKey(s, key)
			if err != nil {
				return err
			}
			source, err := newSource(nil)
			if err != nil {
				return err
			}
			defer waiting(s, args...)()
			a, err := sign(cmd.Context(), s, source, ref, k)
			if err != nil {
				return err
			}
			return printPushed(s, form, a, k)
		},
	}
	open.KeyFlag(cmd, &key, keyUsage)
	form.flag(cmd.Flags())
	return cmd
}

func sign(ctx context.Context, s cli.Streams, source *pull.Source, ref moduleref.Ref, key *record.Key) (*oci.Artifact, error) {
	a, err := source.Client.Resolve(ctx, ref)
	if err != nil {
		return nil, err
	}
	_, manifest, err := pull.Fetch(ctx, source.Client, a)
	if errors.Is(err, pull.ErrOther) {
		err = cli.InputError(err)
	}
	if err != nil {
		return nil, err
	}
	there, err := isSigned(ctx, source, a.Pinned(), key)
	if err != nil {
		return nil, err
	}
	if there {
		fmt.Fprintf(s.Err, "%s: the key has signed it already\n", sanitize.Line(a.Pinned().String()))
		return a, nil
	}
	d, err := trust.Sign(key, subjectAt(a), manifest, source.Now())
	if err != nil {
		return nil, err
	}
	_, err = source.Client.Attach(ctx, a, oci.Attachment{Type: d.Type, Data: d.Data})
	return a, err
}
