package main

import (
	"fmt"
	"strings"

	"github.com/spf13/cobra"

	"github.com/shadowcourt/shadowcourt/abi/schema"
)

func newSchema(s stdio) *cobra.Command {
	return &cobra.Command{
		Use:   "schema [ARTIFACT]",
		Short: "Print the JSON Schema of an artifact, or list the artifacts",
		Long: `Print the JSON Schema (draft 2020-12) of an artifact of the contract; without one, list
the names. The schemas are necessary, not sufficient: rules across fields and across
artifacts stand in abi/SPEC.md.`,
		Example: "  shadowcourt schema verdict",
		Args: func(cmd *cobra.Command, args []string) error {
			if len(args) > 1 {
				return inputError(fmt.Errorf("schema takes one artifact or none; see `%s --help`", cmd.CommandPath()))
			}
			return nil
		},
		RunE: func(_ *cobra.Command, args []string) error {
			if len(args) == 0 {
				_, err := fmt.Fprintln(s.out, strings.Join(schema.Names(), "\n"))
				return err
			}
			text, ok := schema.Get(args[0])
			if !ok {
				return inputError(fmt.Errorf("there is no artifact %q; `shadowcourt schema` lists them", args[0]))
			}
			_, err := s.out.Write(text)
			return err
		},
	}
}
