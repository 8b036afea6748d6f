package experiment

import (
	"errors"
	"fmt"
	"slices"
	"strings"
)

// CheckVariable says why tests can't be given a variable of a name, as [Config].Env gives them.
func CheckVariable(name string) error {
	switch {
	case !variableName.MatchString(name):
		return fmt.Errorf("%q is not the name of a variable: use letters, digits and _", name)
	case name == "HOME":
		return errors.New("HOME: tests have a home of their own; to give them yours use --home")
	case name == "TMPDIR" || name == "PWD":
		return fmt.Errorf("%s: each run has its own", name)
	}
	return nil
}

// checkEnv checks assignments.
func checkEnv(assignments []string) error {
	for _, v := range assignments {
		name, value, ok := strings.Cut(v, "=")
		if !ok || strings.ContainsRune(value, 0) {
			return fmt.Errorf("variable %q: expected NAME=VALUE", name)
		}
		if err := CheckVariable(name); err != nil {
			return err
		}
	}
	return nil
}

// give adds assignments to variables, in place of those with their names: of two with one name programs take the first or the last.
func give(variables, given []string) []string {
	for _, v := range given {
		name, _, _ := strings.Cut(v, "=")
		variables = append(slices.DeleteFunc(variables, func(old string) bool { return strings.HasPrefix(old, name+"=") }), v)
	}
	return variables
}

// names are those of assignments.
func names(assignments []string) []string {
	list := make([]string, len(assignments))
	for i, v := range assignments {
		list[i], _, _ = strings.Cut(v, "=")
	}
	return list
}
