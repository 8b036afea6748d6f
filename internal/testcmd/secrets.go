package testcmd

import (
	"slices"
	"strings"
)

// secretPrefix begins the variables of this program, and secretWords are in the names of those that hold a secret.
const secretPrefix = "SHADOWCOURT_"

func secretWords() []string {
	return []string{"KEY", "TOKEN", "SECRET", "PASSWORD", "DATABASE"}
}

// withoutSecrets is an environment without the variables that hold secrets of this program, and without those of these names.
func withoutSecrets(env, names []string) []string {
	return slices.DeleteFunc(env, func(variable string) bool {
		name, _, _ := strings.Cut(variable, "=")
		if slices.ContainsFunc(names, func(n string) bool { return strings.EqualFold(n, name) }) {
			return true
		}
		own, is := strings.CutPrefix(strings.ToUpper(name), secretPrefix)
		return is && slices.ContainsFunc(secretWords(), func(word string) bool { return strings.Contains(own, word) })
	})
}
