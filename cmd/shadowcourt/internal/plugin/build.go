package plugin

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"os/exec"
	"path"
	"path/filepath"
	"regexp"
	"runtime/debug"
	"slices"
	"strings"
	"time"

	"github.com/shadowcourt/shadowcourt/cmd/shadowcourt/internal/cli"
	"github.com/shadowcourt/shadowcourt/cmd/shadowcourt/internal/open"
	"github.com/shadowcourt/shadowcourt/internal/disk"
	"github.com/shadowcourt/shadowcourt/internal/sanitize"
	"github.com/shadowcourt/shadowcourt/internal/sbom"
)

// toolchain is how the scaffold of a language is built.
type toolchain struct {
	language string
	marks    []string // files that a scaffold of the language has
	commands [][]string
	output   string // pattern of the module's file
	skip     string // folder that the build makes
}

func toolchains() []toolchain {
	return []toolchain{
		{"go", []string{"go.mod", "build/main.go"}, [][]string{{"go", "run", "./build"}}, "*.wasm", ""},
		{"rust", []string{"Cargo.toml"}, [][]string{{"cargo", "build", "--quiet", "--release", "--target", "wasm32-unknown-unknown"}}, "target/wasm32-unknown-unknown/release/*.wasm", "target"},
		{"typescript", []string{"package.json", "asconfig.json"}, [][]string{{"npm", "install", "--silent", "--no-audit", "--no-fund"}, {"npm", "run", "--silent", "build"}}, "build/*.wasm", "build"},
		{"c", []string{"Makefile"}, [][]string{{"make", "--silent"}}, "build/*.wasm", "build"},
	}
}

// toolchainOf finds out the language of a scaffold.
func toolchainOf(dir string) (*toolchain, error) {
	for _, t := range toolchains() {
		if !slices.ContainsFunc(t.marks, func(mark string) bool {
			info, err := os.Stat(filepath.Join(dir, filepath.FromSlash(mark)))
			return err != nil || info.IsDir()
		}) {
			return &t, nil
		}
	}
	return nil, fmt.Errorf("%s is no folder of `shadowcourt plugin new`: it has neither go.mod with build/main.go, nor Cargo.toml, asconfig.json or a Makefile; "+
		"`shadowcourt plugin push` takes a module that is built", dir)
}

// The most that is copied of a scaffold.
const (
	maxSources     = 20_000
	maxSourceBytes = 256 << 20
)

// copySources copies a scaffold without what builds make.
func copySources(from, to string, t *toolchain) error {
	source, err := os.OpenRoot(from)
	if err != nil {
		return err
	}
	defer func() { _ = source.Close() }()
	target, err := os.OpenRoot(to)
	if err != nil {
		return err
	}
	defer func() { _ = target.Close() }()
	count, size := 0, int64(0)
	return fs.WalkDir(source.FS(), ".", func(name string, e fs.DirEntry, err error) error {
		switch {
		case err != nil:
			return err
		case e.IsDir() && (e.Name() == ".git" || e.Name() == "node_modules" || name == t.skip):
			return fs.SkipDir
		case e.IsDir():
			return target.MkdirAll(name, 0o700)
		case path.Ext(name) == ".wasm", path.Ext(name) == ".key": // what builds leave, and keys, which no build needs
			return nil
		case !e.Type().IsRegular():
			return fmt.Errorf("%s is not a regular file", name)
		}
		info, err := e.Info()
		if err != nil {
			return err
		}
		if count, size = count+1, size+info.Size(); count > maxSources || size > maxSourceBytes {
			return fmt.Errorf("%s has more than %d files or %d bytes", from, maxSources, int64(maxSourceBytes))
		}
		data, err := source.ReadFile(name)
		if err != nil {
			return err
		}
		return target.WriteFile(name, data, info.Mode().Perm()|0o600)
	})
}

// build builds a scaffold in a fresh folder, and gives the module.
func (t *toolchain) build(ctx context.Context, from, folder string) ([]byte, error) {
	if err := copySources(from, folder, t); err != nil {
		return nil, cli.InputError(err)
	}
	for _, command := range t.commands {
		if _, err := tool(ctx, folder, nil, command...); err != nil {
			return nil, err
		}
	}
	found, err := filepath.Glob(filepath.Join(folder, filepath.FromSlash(t.output)))
	if err != nil {
		return nil, err
	}
	if len(found) != 1 {
		return nil, fmt.Errorf("%s left %s, expected one", strings.Join(t.commands[len(t.commands)-1], " "), cli.Count(len(found), "file "+t.output, "files "+t.output))
	}
	return open.File(found[0])
}

// privateTemp has the temporary folders of this process and of builds in the user's own cache folder. Tools read configuration of the folders above,
// such as .cargo/config.toml and go.work: in a shared folder that would be anybody's.
func privateTemp() error {
	cache, err := os.UserCacheDir()
	if err != nil {
		return fmt.Errorf("builds need a cache folder: %w", err)
	}
	folder := filepath.Join(cache, "shadowcourt", "tmp")
	if err := os.MkdirAll(folder, 0o700); err != nil {
		return err
	}
	info, err := os.Stat(folder)
	if err == nil {
		err = disk.PrivateFolder(info)
	}
	if err != nil {
		return fmt.Errorf("the folder for builds %s: %w", folder, err)
	}
	for _, variable := range []string{"TMPDIR", "TMP", "TEMP"} {
		err = errors.Join(err, os.Setenv(variable, folder))
	}
	return err
}

// secretWords are in the names of variables that builds do not see.
var secretWords = regexp.MustCompile(`(?i)^SHADOWCOURT_|TOKEN|SECRET|PASSW|CREDENTIAL|_KEY$|DOCKER_AUTH`)

// toolEnv is the environment of builds: without what is secret by its name, and without a Go workspace.
func toolEnv(own []string) []string {
	env := slices.DeleteFunc(os.Environ(), func(v string) bool {
		name, _, _ := strings.Cut(v, "=")
		return secretWords.MatchString(name)
	})
	return append(append(env, "GOWORK=off"), own...)
}

// maxToolOutput is how much of what a tool says is told.
const maxToolOutput = 4000

// tool runs a tool of the author and gives its standard output.
func tool(ctx context.Context, folder string, env []string, command ...string) ([]byte, error) {
	cmd := exec.CommandContext(ctx, command[0], command[1:]...) //nolint:gosec // the commands are those of toolchains
	cmd.Dir, cmd.Env, cmd.WaitDelay = folder, toolEnv(env), 10*time.Second
	var out, said bytes.Buffer
	cmd.Stdout, cmd.Stderr = &out, &said
	err := cmd.Run()
	if err == nil {
		return out.Bytes(), nil
	}
	if ctx.Err() != nil {
		return nil, context.Cause(ctx)
	}
	text := strings.TrimSpace(said.String() + out.String())
	return nil, fmt.Errorf("%s: %w\n%s", strings.Join(command, " "), err, sanitize.Block(text[max(0, len(text)-maxToolOutput):]))
}

// buildTwice builds a scaffold in two fresh folders below one, and compares the bytes. The first of them stays for goBill.
func (t *toolchain) buildTwice(ctx context.Context, s cli.Streams, from, below string) (wasm []byte, folder string, err error) {
	var built [2][]byte
	for i, name := range []string{"first", "the-second"} { // names of other lengths: paths in the module would show
		fmt.Fprintln(s.Err, [...]string{"building", "building again"}[i])
		folder := filepath.Join(below, name)
		if err := os.Mkdir(folder, 0o700); err != nil {
			return nil, "", err
		}
		if built[i], err = t.build(ctx, from, folder); err != nil {
			return nil, "", err
		}
	}
	if !bytes.Equal(built[0], built[1]) {
		at := 0
		for at < min(len(built[0]), len(built[1])) && built[0][at] == built[1][at] {
			at++
		}
		return nil, "", fmt.Errorf("the build is not reproducible: two builds of the same sources in two folders have %d and %d bytes, and differ from byte %d on; "+
			"leave paths, times and random values out of the module", len(built[0]), len(built[1]), at)
	}
	return built[0], filepath.Join(below, "first"), nil
}

// goBill is the bill of materials of a Go module: the modules of the packages that are linked.
func goBill(ctx context.Context, folder, version string) ([]byte, error) {
	release, err := tool(ctx, folder, nil, "go", "env", "GOVERSION")
	if err != nil {
		return nil, err
	}
	listed, err := tool(ctx, folder, []string{"GOOS=wasip1", "GOARCH=wasm"}, "go", "list", "-deps", "-f",
		"{{with .Module}}{{.Path}}\t{{.Version}}\t{{.Sum}}\t{{.Main}}{{end}}", ".")
	if err != nil {
		return nil, err
	}
	info := &debug.BuildInfo{GoVersion: strings.TrimSpace(string(release))}
	lines := strings.Split(strings.TrimSpace(string(listed)), "\n")
	slices.Sort(lines)
	for _, line := range slices.Compact(lines) {
		fields := strings.Split(line, "\t")
		switch {
		case len(fields) != 4:
		case fields[3] == "true":
			info.Main = debug.Module{Path: fields[0], Version: version}
		default:
			info.Deps = append(info.Deps, &debug.Module{Path: fields[0], Version: fields[1], Sum: fields[2]})
		}
	}
	if info.Main.Path == "" {
		return nil, errors.New("go list names no main module")
	}
	var b bytes.Buffer
	err = sbom.Write(&b, info)
	return b.Bytes(), err
}
