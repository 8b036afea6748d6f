package experiment

import (
	"archive/zip"
	"bytes"
	"encoding/xml"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"time"

	"github.com/shadowcourt/shadowcourt/abi"
	"github.com/shadowcourt/shadowcourt/abi/sourcefile"
	"github.com/shadowcourt/shadowcourt/host/experiment/isolate"
	"github.com/shadowcourt/shadowcourt/repo"
)

// gradleScript has each task of tests write its class path, and an empty line.
const gradleScript = `allprojects {
    tasks.withType(Test) {
        doFirst { new File(%q, "loaded").append(it.classpath.files.collect { it.absolutePath + "\n" }.join() + "\n") }
    }
}
`

func traceGradle(c *isolate.Command, folder string) error {
	script := filepath.Join(folder, "trace.gradle")
	c.Args = slices.Insert(c.Args, 1, "--init-script="+script)
	return os.WriteFile(script, fmt.Appendf(nil, gradleScript, folder), 0o600)
}

func gradleClassPaths(written []byte) (paths [][]string) {
	for part := range strings.SplitSeq(string(written), "\n\n") {
		if part = strings.TrimSpace(part); part != "" {
			paths = append(paths, strings.Split(part, "\n"))
		}
	}
	return paths
}

// surefireClassPaths are those that reports have among the properties of the JVM.
func surefireClassPaths(reports []byte) (paths [][]string) {
	decoder := xml.NewDecoder(bytes.NewReader(reports))
	for {
		token, err := decoder.Token()
		if err != nil {
			return paths
		}
		if start, ok := token.(xml.StartElement); ok && start.Name.Local == "property" && attribute(start, "name") == "surefire.test.class.path" {
			paths = append(paths, filepath.SplitList(strings.TrimSuffix(attribute(start, "value"), string(filepath.ListSeparator))))
		}
	}
}

func attribute(e xml.StartElement, name string) string {
	for _, a := range e.Attr {
		if a.Name.Local == name {
			return a.Value
		}
	}
	return ""
}

// maxClassPaths of a run are looked at.
const maxClassPaths = 100

// loadedClasses says whether class paths have the code of a tree that is seen at top. An archive from elsewhere may not have a class that
// the tree has, unless the tree's own comes first.
func (r *defined) loadedClasses(paths [][]string, top string, t *repo.Tree) loaded {
	if len(paths) == 0 || len(paths) > maxClassPaths || t == nil {
		return loaded{code: abi.NotCertified}
	}
	var all loaded
	for _, entries := range paths {
		all = all.worse(r.classPath(entries, top, t))
	}
	return all
}

func (r *defined) classPath(entries []string, top string, t *repo.Tree) loaded {
	var before []string // modules whose classes come before those of later entries
	unknown := false
	for _, entry := range entries {
		if in, own := r.ownFile(top, entry); own {
			if !strings.Contains(path.Base(in), "test") {
				before = append(before, r.moduleOf(in, "target", "build", "out", "bin"))
			}
			continue
		}
		a := r.archive(entry, t)
		unknown = unknown || a == nil
		for module, class := range a {
			switch {
			case slices.Contains(before, module):
			case class == "" || t == r.source.Head && !r.source.Committed && within(r.source.Top, entry): // the files that it was read from
				unknown = true
			default:
				return loaded{abi.Contradicted, "class " + class + " comes from " + entry + ", not from the tree"}
			}
		}
	}
	if unknown || len(before) == 0 {
		return loaded{code: abi.NotCertified}
	}
	return loaded{code: abi.Certified}
}

// moduleOf is the folder of the module that a file of a tree is of: that with one of these folders, or else the innermost project.
func (r *defined) moduleOf(file string, folders ...string) string {
	parts := strings.Split(file, "/")
	if at := slices.IndexFunc(parts, func(p string) bool { return slices.Contains(folders, p) }); at >= 0 {
		return path.Join(parts[:at]...)
	}
	innermost := ""
	for _, project := range r.projects {
		if below(project, file) && (innermost == "" || depth(project) > depth(innermost)) {
			innermost = project
		}
	}
	return strings.TrimPrefix(innermost, ".")
}

// archive is what an archive of classes and a tree both have: a class by its module in the tree, empty where they have only a package in common.
type archive map[string]string

type archiveKey struct {
	tree *repo.Tree
	file string
	size int64
	time time.Time
}

// maxArchiveBytes of an archive are looked into.
const maxArchiveBytes = 64 << 20

// archive looks into an entry of a class path that is not of the tree. It is nil where nobody knows what is in there.
func (r *defined) archive(file string, t *repo.Tree) archive {
	file, err := filepath.EvalSymlinks(file)
	if errors.Is(err, fs.ErrNotExist) {
		return archive{}
	}
	if err != nil || within(r.source.Scratch, file) { // a run may have written it
		return nil
	}
	info, err := os.Stat(file)
	if err != nil || !info.Mode().IsRegular() || info.Size() > maxArchiveBytes {
		return nil
	}
	key := archiveKey{t, file, info.Size(), info.ModTime()}
	if known, ok := r.archives.Load(key); ok {
		return known.(archive) //nolint:forcetypeassert // nothing else is stored
	}
	z, err := zip.OpenReader(file)
	if err != nil {
		return nil
	}
	defer func() { _ = z.Close() }()
	a, sources := archive{}, r.sourcesOf(t)
	for _, f := range z.File {
		class, ok := strings.CutSuffix(f.Name, ".class")
		if class, _, _ = strings.Cut(class, "$"); !ok || strings.HasPrefix(class, "META-INF/") || !strings.Contains(class, "/") {
			continue
		}
		if module, ok := sources[class]; ok {
			a[module] = strings.ReplaceAll(class, "/", ".")
		} else if module, ok := sources[path.Dir(class)+"/"]; ok && a[module] == "" {
			a[module] = ""
		}
	}
	r.archives.Store(key, a)
	return a
}

// sourceRoot is what stands before the package in the usual layout of folders.
var sourceRoot = regexp.MustCompile(`^(?:.*/)?src/\w+/(?:java|kotlin|groovy|scala)/`)

// sourcesOf are the modules of the classes of a tree's product, by com/example/Cart, and of their packages, by com/example/. The source of a class has its
// name, and lies in the folders of its package. In another layout nobody knows which of the folders are the package, and each may be the first.
func (r *defined) sourcesOf(t *repo.Tree) map[string]string {
	if known, ok := r.packages.Load(t); ok {
		return known.(map[string]string) //nolint:forcetypeassert // nothing else is stored
	}
	sources := map[string]string{}
	for _, file := range t.Paths() {
		extension := path.Ext(file)
		if !slices.Contains([]string{".java", ".kt", ".groovy", ".scala"}, extension) || sourcefile.KindOf(file) != abi.SourceProduct {
			continue
		}
		module, stem := r.moduleOf(file, "src"), strings.TrimSuffix(file, extension)
		root := sourceRoot.FindString(stem)
		for stem = stem[len(root):]; strings.Contains(stem, "/"); _, stem, _ = strings.Cut(stem, "/") {
			sources[stem], sources[path.Dir(stem)+"/"] = module, module
			if root != "" {
				break
			}
		}
	}
	r.packages.Store(t, sources)
	return sources
}
