package runner

import (
	"os"
	"path/filepath"
	"slices"
	"strings"
)

// shown are the files that a command needs beside those of the system: its installation, what the definition's folders and allowed
// variables name, and what is installed for the checkout.
func (r *Runner) shown(variables []string, command string) []string {
	list := installation(command)
	for _, f := range r.definition.Folders {
		if folder := f.path(); folder != "" {
			for _, name := range f.within() {
				list = append(list, filepath.Join(folder, name))
			}
		}
	}
	for _, v := range variables {
		if name, value, _ := strings.Cut(v, "="); slices.Contains(r.definition.Allow, name) {
			list = append(list, filepath.SplitList(value)...)
		}
	}
	for _, name := range r.installed {
		at := filepath.Join(r.source.Top, filepath.FromSlash(name))
		if linked, err := filepath.EvalSymlinks(at); err == nil && !within(r.source.Top, linked) {
			list = append(list, linked)
		}
		list = append(list, installation(filepath.Join(at, "bin", "python"))...)
	}
	return list
}

// Sees says whether tests see a path that is not in their tree.
func (r *Runner) Sees(path string) bool {
	variables, overlays := r.environment(Environment{}, "")
	folders := slices.Clone(overlays)
	for _, project := range r.projects {
		if command, err := r.program(project); err == nil {
			folders = append(folders, r.shown(variables, command)...)
		}
	}
	return slices.ContainsFunc(folders, func(folder string) bool { return filepath.IsAbs(folder) && within(folder, path) })
}

// installed are the folders and files that an installation has beside its programs, as languages and package managers lay them out.
var installed = []string{"lib", "lib64", "libexec", "include", "share", "pyvenv.cfg"}

// installation is what belongs to a program: its folder, what is installed beside that, and the same of what it is a link to, and of an
// interpreter that lies beside it.
func installation(program string) []string {
	var list []string
	programs := []string{program}
	for i := 0; i < len(programs) && i < maxLinks; i++ {
		folder := filepath.Dir(programs[i])
		if !filepath.IsAbs(folder) || slices.Contains(list, folder) {
			continue
		}
		list = append(list, folder, programs[i])
		prefix := filepath.Dir(folder)
		if home, err := os.UserHomeDir(); err != nil || !within(prefix, home) && prefix != filepath.Join(home, ".local") {
			for _, name := range installed {
				list = append(list, filepath.Join(prefix, name))
			}
		} else if prefix != home {
			list = append(list, filepath.Join(prefix, "lib"))
		}
		for _, name := range []string{programs[i], filepath.Join(folder, "python"), filepath.Join(folder, "python3"), filepath.Join(folder, "node")} {
			if linked, err := filepath.EvalSymlinks(name); err == nil && linked != name {
				programs = append(programs, linked)
			}
		}
	}
	return list
}

// maxLinks bounds the programs that belong to one.
const maxLinks = 20
