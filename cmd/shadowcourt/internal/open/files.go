package open

import (
	"io/fs"
	"os"
	"path"
	"path/filepath"
	"slices"
	"strings"

	"github.com/shadowcourt/shadowcourt/cmd/shadowcourt/internal/cli"
	"github.com/shadowcourt/shadowcourt/pipelines"
)

// InputFiles are the files that a command with these flags reads.
func (o *Flags) InputFiles(dockets []string) []cli.NamedFile {
	profile := cli.File("--profile", "")
	if o.Profile != noProfile {
		profile = definitionFile("--profile", profileFolder, o.Profile)
	}
	own := []cli.NamedFile{PipelineFile(o.Pipeline), profile, cli.File("--casebook", o.casebook)}
	return slices.Concat(own, ModuleFiles(o.Modules), ArgumentFiles("the docket", dockets))
}

// definitionFile is the file of a flag that takes a pipeline, a profile or a rubric: none where the name is that of a shipped
// one, which stands in a folder of [pipelines.FS].
func definitionFile(flag, folder, name string) cli.NamedFile {
	if _, err := fs.Stat(pipelines.FS, path.Join(folder, name+".yaml")); err == nil && !strings.ContainsAny(name, `./\`) {
		name = ""
	}
	return cli.File(flag, name)
}

// ModuleFiles are the files of --modules.
func ModuleFiles(dir string) []cli.NamedFile {
	if dir == "" {
		return nil
	}
	var files []cli.NamedFile
	entries, _ := os.ReadDir(dir) // what is wrong with the folder is told when it is used
	for _, entry := range entries {
		files = append(files, cli.File("a module of --modules", filepath.Join(dir, entry.Name())))
	}
	return files
}

// ArgumentFiles are the files that arguments name, but for the standard input.
func ArgumentFiles(what string, args []string) []cli.NamedFile {
	var files []cli.NamedFile
	for _, name := range args {
		if name != "-" {
			files = append(files, cli.File(what, name))
		}
	}
	return files
}
