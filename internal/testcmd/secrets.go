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

// commandFiles are variables with files by which a step of GitHub Actions changes those behind it, and with the results of earlier runs.
var commandFiles = []string{"GITHUB_ENV", "GITHUB_PATH", "GITHUB_OUTPUT", "GITHUB_STATE", "SHADOWCOURT_CACHE"}

// withoutSecrets is an environment without the variables that hold secrets of this program, without those that steer later steps, and without those
// of these names.
func withoutSecrets(env, names []string) []string {
	names = slices.Concat(names, commandFiles)
	return slices.DeleteFunc(env, func(variable string) bool {
		name, _, _ := strings.Cut(variable, "=")
		if slices.ContainsFunc(names, func(n string) bool { return strings.EqualFold(n, name) }) {
			return true
		}
		own, is := strings.CutPrefix(strings.ToUpper(name), secretPrefix)
		return is && slices.ContainsFunc(secretWords(), func(word string) bool { return strings.Contains(own, word) })
	})
}
