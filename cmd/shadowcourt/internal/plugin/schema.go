package plugin

import (
	"fmt"
	"slices"
	"strings"

	"github.com/spf13/cobra"

	"github.com/shadowcourt/shadowcourt/abi/schema"
	"github.com/shadowcourt/shadowcourt/cmd/shadowcourt/internal/cli"
	"github.com/shadowcourt/shadowcourt/host/audit"
)

// rubricSchema is the name of the schema that is not of the contract.
const rubricSchema = "rubric"

// newSchema is the command `schema`.
func newSchema(s cli.Streams) *cobra.Command {
	return &cobra.Command{
		Use:   "schema [ARTIFACT]",
		Short: "Print the JSON Schema of an artifact or of a rubric, or list the names",
		Long: `Print the JSON Schema (draft 2020-12) of an artifact of the contract, or of the file of a
rubric; without a name, list the names. The schemas are necessary, not sufficient: rules
across fields and across artifacts stand in abi/SPEC.md, those of rubrics in docs/measuring.md.`,
		Example: "  shadowcourt schema verdict",
		Args: func(cmd *cobra.Command, args []string) error {
			if len(args) > 1 {
				return cli.InputError(fmt.Errorf("schema takes one artifact or none; see `%s --help`", cmd.CommandPath()))
			}
			return nil
		},
		RunE: func(_ *cobra.Command, args []string) error {
			if len(args) == 0 {
				names := slices.Sorted(slices.Values(append(schema.Names(), rubricSchema)))
				_, err := fmt.Fprintln(s.Out, strings.Join(names, "\n"))
				return err
			}
			text, ok := schema.Get(args[0])
			if args[0] == rubricSchema {
				text, ok = audit.Schema(), true
			}
			if !ok {
				return cli.InputError(fmt.Errorf("there is no artifact %q; `shadowcourt schema` lists them", args[0]))
			}
			_, err := s.Out.Write(text)
			return err
		},
	}
}
