package cli

import (
	"errors"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"
)

// filled is the value of a flag that may be repeated. An empty word in it is a mistake, as of a variable that is not set: pflag
// would drop some of them without a word.
type filled struct{ pflag.Value }

func (f filled) Set(word string) error {
	if word == "" {
		return errors.New("it is empty; leave the flag out, or give it a value")
	}
	return f.Value.Set(word)
}

// rejectEmpty has every flag of a command and its subcommands that may be repeated reject empty words.
func rejectEmpty(cmd *cobra.Command) {
	cmd.Flags().VisitAll(func(f *pflag.Flag) {
		if t := f.Value.Type(); t == "stringArray" || t == "stringSlice" {
			f.Value = filled{f.Value}
			f.DefValue = ""
		}
	})
	for _, sub := range cmd.Commands() {
		rejectEmpty(sub)
	}
}
