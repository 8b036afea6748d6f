package cli

import (
	"errors"
	"fmt"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"
)

// Option is what may follow the value of a flag behind a comma: NAME, or NAME=VALUE.
type Option struct {
	name, usage string
	set         func(value string) error
	repeated    bool   // it may be given more than once
	value       string // what the help calls it; empty where NAME alone will do
}

// BoolOption is one without a value.
func BoolOption(to *bool, name, usage string) Option {
	return Option{name: name, usage: usage, set: func(value string) (err error) {
		if *to, err = strconv.ParseBool(value); err != nil {
			return errors.New("use true or false")
		}
		return nil
	}}
}

// TextOption is one with a text.
func TextOption(to *string, name, value, usage string) Option {
	return Option{name: name, usage: usage, value: value, set: func(value string) error {
		*to = value
		return nil
	}}
}

// ListOption is one that may be repeated.
func ListOption(to *[]string, name, value, usage string) Option {
	return Option{name: name, usage: usage, value: value, repeated: true, set: func(value string) error {
		*to = append(*to, value)
		return nil
	}}
}

// DurationOption is one with a time above 0.
func DurationOption(to *time.Duration, name, usage string) Option {
	return Option{name: name, usage: usage, value: "DURATION", set: func(value string) error {
		d, err := time.ParseDuration(value)
		if err != nil || d <= 0 {
			return errors.New("use a duration above 0, such as 90s or 10m")
		}
		*to = d
		return nil
	}}
}

// RemovedOption is one that a flag had: it is rejected, with what to do instead.
func RemovedOption(name, instead string) Option {
	return Option{name: name, set: func(string) error { return errors.New("it was removed: " + instead) }}
}

// optionValue is a flag of a text with options behind it. It may be repeated: what comes later is added.
type optionValue struct {
	text    *string
	options []Option
	given   []string // the options, as they were given
}

// OptionVar adds a flag with the default text that is there already. What stands behind its last comma is an option where it is the name of
// one, so that the text may have commas.
func OptionVar(f *pflag.FlagSet, text *string, name, usage string, options ...Option) {
	if *text != "" {
		usage += fmt.Sprintf(" (default %q)", *text)
	}
	var described strings.Builder
	described.WriteString(usage)
	for i := range options {
		o := &options[i]
		if o.usage == "" { // removed
			continue
		}
		described.WriteString("\n  ," + o.name)
		if o.value != "" {
			described.WriteString("=" + o.value)
		}
		described.WriteString("  " + o.usage)
	}
	f.VarPF(&optionValue{text: text, options: options}, name, "", described.String()).DefValue = "" // the usage has it before the options
}

// Alias adds a hidden flag, the earlier spelling of an option.
func Alias(f *pflag.FlagSet, old, flag, option string) {
	value := aliasValue{func(text string) error {
		err := f.Set(flag, option+"="+text)
		if cause := errors.Unwrap(err); cause != nil {
			return cause // pflag names the flag that was given itself
		}
		return err
	}}
	a := f.VarPF(value, old, "", "")
	a.Hidden = true
	for _, o := range f.Lookup(flag).Value.(*optionValue).options { //nolint:forcetypeassert // OptionVar made it
		if o.name == option && o.value == "" {
			a.NoOptDefVal = "true"
		}
	}
}

// IsAlias says whether a flag is one of Alias.
func IsAlias(f *pflag.Flag) bool {
	_, ok := f.Value.(aliasValue)
	return ok
}

type aliasValue struct{ set func(string) error }

func (aliasValue) String() string          { return "" }
func (aliasValue) Type() string            { return "string" }
func (a aliasValue) Set(text string) error { return a.set(text) }

func (*optionValue) Type() string { return "string" }

func (v *optionValue) String() string {
	if v.text == nil {
		return ""
	}
	words := v.given
	if *v.text != "" {
		words = append([]string{*v.text}, words...)
	}
	return strings.Join(words, ",")
}

// Set takes a text with its options, or options alone.
func (v *optionValue) Set(text string) error {
	words := strings.Split(text, ",")
	last := len(words)
	for last > 0 {
		name, _, valued := strings.Cut(words[last-1], "=")
		if o := v.option(name); o == nil || !valued && o.value != "" {
			break
		}
		last--
	}
	if last > 1 && optionLike.MatchString(words[last-1]) && !strings.HasPrefix(text, "exec:") {
		return fmt.Errorf("unknown option %q: behind a comma there may be %s", words[last-1], strings.Join(v.known(), ", "))
	}
	for _, word := range words[last:] {
		if err := v.setOption(word); err != nil {
			return err
		}
		v.given = append(v.given, word)
	}
	if last > 0 {
		*v.text = strings.Join(words[:last], ",")
	}
	return nil
}

func (v *optionValue) setOption(word string) error {
	name, value, valued := strings.Cut(word, "=")
	if !valued {
		value = "true"
	}
	if value == "" {
		return fmt.Errorf("%s= is empty: leave it out, or give it a value", name)
	}
	o := v.option(name)
	if !o.repeated && slices.ContainsFunc(v.given, func(before string) bool { return before == name || strings.HasPrefix(before, name+"=") }) {
		return fmt.Errorf("%s is given twice", name)
	}
	if err := o.set(value); err != nil {
		return fmt.Errorf("%s=%s: %w", name, value, err)
	}
	return nil
}

// optionLike is what is more likely a slip in an option than the end of a file's name with a comma.
var optionLike = regexp.MustCompile(`^[a-z][a-z-]*(=.*)?$`)

func (v *optionValue) known() []string {
	var forms []string
	for _, o := range v.options {
		if o.usage == "" { // removed
			continue
		}
		if o.value != "" {
			o.name += "=" + o.value
		}
		forms = append(forms, o.name)
	}
	return forms
}

func (v *optionValue) option(name string) *Option {
	for i := range v.options {
		if v.options[i].name == name {
			return &v.options[i]
		}
	}
	return nil
}

// Given are the options of a flag, as they were given.
func Given(f *pflag.Flag) []string {
	if v, ok := f.Value.(*optionValue); ok {
		return v.given
	}
	return nil
}

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
