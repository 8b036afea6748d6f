package experiment

import (
	"context"
	"encoding/json"
	"path"
	"regexp"
	"slices"
	"strings"

	"github.com/shadowcourt/shadowcourt/repo"
)

// world says by which files another tree needs other installations than head; empty where it does not. All trees run with one installation, that of
// the checkout, which is head's: what a tree does with it shows nothing of its own dependencies.
func (r *defined) world(ctx context.Context, t *repo.Tree, project string) string {
	head := r.source.Head
	if t == nil || t == head || len(r.definition.Installs) == 0 {
		return ""
	}
	key := worldKey{t, project}
	if known, ok := r.worlds.Load(key); ok {
		return known.(string) //nolint:forcetypeassert // nothing else is in the map
	}
	var differ []string
	ours, theirs := r.installs(ctx, head, project), r.installs(ctx, t, project)
	for name, text := range ours {
		if other, ok := theirs[name]; !ok || other != text {
			differ = append(differ, name)
		}
	}
	for name := range theirs {
		if _, ok := ours[name]; !ok {
			differ = append(differ, name)
		}
	}
	slices.Sort(differ)
	why := ""
	if len(differ) > 0 {
		why = strings.Join(differ, ", ") + " is not as in the tree under test, and both ran with its installation"
	}
	if len(differ) > 1 {
		why = strings.Replace(why, " is not ", " are not ", 1)
	}
	if ctx.Err() == nil {
		r.worlds.Store(key, why)
	}
	return why
}

// worldKey names the files that a project of a tree is installed by.
type worldKey struct {
	tree    *repo.Tree
	project string
}

// maxManifest bounds what is read of a file that dependencies are installed by, in bytes.
const maxManifest = 32 << 20

// requirements are the files of dependencies that a line of another one names.
var requirements = regexp.MustCompile(`^(?:-r|-c|--requirement|--constraint)[ =]*(\S+)`)

// installs are what the files of a project, and of the folders around it, say of what is to be installed for it. A file that says nothing is not
// among them.
func (r *defined) installs(ctx context.Context, t *repo.Tree, project string) map[string]string {
	var names []string
	for _, name := range t.Paths() {
		if folder := path.Dir(name); !below(folder, project) {
			continue
		}
		if slices.ContainsFunc(r.definition.Installs, func(p string) bool { ok, _ := path.Match(p, path.Base(name)); return ok }) {
			names = append(names, name)
		}
	}
	said := map[string]string{}
	for i := 0; i < len(names) && i < maxFolders; i++ { // names grow
		text, err := t.Read(ctx, names[i], maxManifest)
		if err != nil {
			continue
		}
		if what := dependencies(path.Base(names[i]), string(text)); what != "" {
			said[names[i]] = what
		}
		for line := range strings.Lines(string(text)) {
			m := requirements.FindStringSubmatch(strings.TrimSpace(line))
			if m == nil {
				continue
			}
			if other := path.Join(path.Dir(names[i]), m[1]); !slices.Contains(names, other) {
				names = append(names, other)
			}
		}
	}
	return said
}

// scripted are settings that scripts of package.json give to what they run.
var scripted = regexp.MustCompile(`[A-Za-z_]\w*=\S+| -r \S+| --(?:require|import|loader)[ =]\S+`)

// dependencies are what a file says of what is to be installed, without what changes without it: the project's own name and version, its scripts but for
// variables that they set, and settings of tools.
func dependencies(name, text string) string {
	switch name {
	case "package.json":
		return members(text, "dependencies", "devDependencies", "optionalDependencies", "peerDependencies", "bundleDependencies", "bundledDependencies",
			"overrides", "resolutions", "pnpm", "engines", "packageManager", "workspaces") +
			strings.Join(scripted.FindAllString(members(text, "scripts"), -1), " ")
	case "package-lock.json", "npm-shrinkwrap.json":
		var lock struct {
			Packages     map[string]json.RawMessage `json:"packages"`
			Dependencies map[string]json.RawMessage `json:"dependencies"`
		}
		if json.Unmarshal([]byte(text), &lock) != nil {
			return text
		}
		delete(lock.Packages, "") // the project itself, which package.json has
		sorted, err := json.Marshal(lock)
		if err != nil {
			return text
		}
		return string(sorted)
	case "pyproject.toml":
		return lines(text, pythonSection, ownLine)
	case "setup.cfg":
		return lines(text, optionsSection, ownLine)
	case "setup.py":
		return lines(text, nil, ownLine)
	default:
		return lines(text, nil, comment)
	}
}

// members are some members of a JSON object; all of the text where it is none.
func members(text string, names ...string) string {
	var all, some map[string]any
	if json.Unmarshal([]byte(text), &all) != nil {
		return text
	}
	some = map[string]any{}
	for _, name := range names {
		if value, ok := all[name]; ok {
			some[name] = value
		}
	}
	if len(some) == 0 {
		return ""
	}
	sorted, err := json.Marshal(some)
	if err != nil {
		return text
	}
	return string(sorted)
}

// The sections of pyproject.toml and setup.cfg that tell what is installed.
var (
	pythonSection  = regexp.MustCompile(`^\[+\s*(?:project|build-system|dependency-groups|tool\.(?:poetry|uv|pdm|hatch|flit|setuptools))\b`)
	optionsSection = regexp.MustCompile(`^\[\s*options\b`)
)

// Lines that tell nothing: comments, and those of the project's own name and version.
var (
	comment = regexp.MustCompile(`^(?:#|$)`)
	ownLine = regexp.MustCompile(`^(?:(?:name|version|__version__|description|long_description|readme|license|keywords)\s*[=:]|#|$)`)
)

// lines are those of the sections that an expression selects, or of all, without those that tell nothing.
func lines(text string, section, without *regexp.Regexp) string {
	var b strings.Builder
	in := section == nil
	for line := range strings.Lines(text) {
		line = strings.TrimSpace(line)
		if section != nil && strings.HasPrefix(line, "[") && !strings.HasPrefix(line, "[\"") {
			in = section.MatchString(line)
		}
		if in && !without.MatchString(line) {
			b.WriteString(line + "\n")
		}
	}
	return b.String()
}
