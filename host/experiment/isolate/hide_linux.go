package isolate

import (
	"errors"
	"io/fs"
	"os"
	"os/user"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"syscall"
	"unsafe"

	"golang.org/x/sys/unix"
)

// systemFolders are the folders of / with programs and settings of the system. All others may hold anybody's files.
var systemFolders = []string{
	"bin", "dev", "etc", "gnu", "lib", "lib32", "lib64", "libx32", "nix", "opt", "proc", "sbin", "snap", "sys", "tmp", "usr",
}

// systemFiles are what programs need of the other folders.
var systemFiles = []string{"/run/current-system", "/run/opengl-driver", "/run/systemd/resolve", "/var/lib/ca-certificates", "/var/tmp"}

// privacy says what a program does not see, and what it sees again within that.
type privacy struct {
	Hidden []string `json:"hidden"`
	Shown  []string `json:"shown"`
	// Temp is a folder in the place of which the program sees one of its own, which it may write to unless it is Sealed; empty for none.
	Temp   string `json:"temp"`
	Sealed bool   `json:"sealed"`
}

// privacyOf hides the folders that are not the system's, the user's home and what only some may read in /etc, and shows what the
// command names and the folders of its PATH.
func privacyOf(c *Command) privacy {
	p := filePrivacy(c)
	for _, v := range c.Env {
		dir, ok := strings.CutPrefix(v, "TMPDIR=")
		if info, err := os.Stat(dir); ok && c.Original && err == nil && info.IsDir() && filepath.IsAbs(dir) && !slices.Contains(tempFolders, filepath.Clean(dir)) {
			p.Temp, p.Sealed, p.Shown = dir, unix.Access(dir, unix.W_OK) != nil, append(p.Shown, dir)
		}
	}
	return p
}

func filePrivacy(c *Command) privacy {
	homes := homeFolders()
	if c.Home {
		return privacy{Shown: homes} // one below /tmp, where the scratch folder is seen
	}
	p := privacy{Hidden: slices.Concat(otherFolders(), protected(), homes, c.Hide), Shown: slices.Clone(systemFiles)}
	for _, v := range c.Env {
		if list, ok := strings.CutPrefix(v, "PATH="); ok {
			p.Shown = append(p.Shown, filepath.SplitList(list)...)
		}
	}
	p.Shown = append(p.Shown, c.Show...)
	for _, path := range slices.Clone(p.Shown) { // links lead to what is hidden, too
		if target, err := filepath.EvalSymlinks(path); err == nil && target != path {
			p.Shown = append(p.Shown, target)
		}
	}
	p.Shown = slices.DeleteFunc(p.Shown, func(path string) bool {
		return !filepath.IsAbs(path) || slices.ContainsFunc(homes, func(home string) bool { return within(path, home) })
	})
	p.Shown = append(p.Shown, c.Scratch)
	p.Shown = append(p.Shown, c.Overlays...)
	for i := range c.Views {
		p.Shown = append(p.Shown, c.Views[i].At)
	}
	return p
}

func within(folder, path string) bool {
	rel, err := filepath.Rel(folder, path)
	return err == nil && filepath.IsLocal(rel)
}

// otherFolders are the folders and files of / that are not the system's.
func otherFolders() []string {
	entries, err := os.ReadDir("/")
	if err != nil {
		return nil
	}
	var list []string
	for _, e := range entries {
		if e.Type()&fs.ModeSymlink == 0 && !slices.Contains(systemFolders, e.Name()) {
			list = append(list, "/"+e.Name())
		}
	}
	return list
}

// homeFolders are the user's home as the environment and the system know it.
func homeFolders() []string {
	var list []string
	home, _ := os.UserHomeDir()
	names := []string{home}
	if u, err := user.Current(); err == nil {
		names = append(names, u.HomeDir)
	}
	for _, name := range names {
		if target, err := filepath.EvalSymlinks(name); err == nil && filepath.IsAbs(target) && target != "/" && !slices.Contains(list, target) {
			list = append(list, target)
		}
	}
	return list
}

// protected is what of /etc not everybody may read: to root, tests would see it.
var protected = sync.OnceValue(func() []string {
	var list []string
	_ = filepath.WalkDir("/etc", func(name string, e fs.DirEntry, err error) error {
		if err != nil || e.Type()&fs.ModeSymlink != 0 {
			return nil // who can't read it sees nothing of it
		}
		info, err := e.Info()
		if err != nil {
			return nil // it went away meanwhile
		}
		switch {
		case e.IsDir() && info.Mode().Perm()&0o005 != 0o005:
			list = append(list, name)
			return filepath.SkipDir
		case info.Mode().IsRegular() && info.Mode().Perm()&0o004 == 0:
			list = append(list, name)
		}
		return nil
	})
	return list
})

// hide covers what is hidden with empty folders and files, and shows in them what is shown. The longer path counts.
func hide(p *privacy) error {
	type place struct {
		path   string
		show   *os.File // nil for what is hidden
		linked bool     // the path goes through a link
	}
	var places []place
	for _, path := range p.Shown {
		if !slices.ContainsFunc(p.Hidden, func(dir string) bool { return within(dir, path) }) {
			continue
		}
		if f, err := os.OpenFile(path, unix.O_PATH|unix.O_CLOEXEC, 0); err == nil {
			defer f.Close()
			target, err := filepath.EvalSymlinks(path)
			places = append(places, place{path, f, err != nil || target != path})
		}
	}
	for _, path := range p.Hidden {
		places = append(places, place{path: path})
	}
	// Of equal paths what is shown comes last, and so is seen. What a link leads to is there before what is shown through the link.
	slices.SortStableFunc(places, func(a, b place) int {
		if a.linked != b.linked {
			if b.linked {
				return -1
			}
			return 1
		}
		if a.path == b.path && (a.show == nil) != (b.show == nil) {
			if a.show == nil {
				return -1
			}
			return 1
		}
		return len(a.path) - len(b.path)
	})
	var covered []string
	for _, at := range places {
		if at.show != nil {
			if err := showAgain(at.path, at.show); err != nil {
				return &os.PathError{Op: "show", Path: at.path, Err: err}
			}
			continue
		}
		info, err := os.Lstat(at.path)
		if err != nil {
			continue // there is no such thing, or it is hidden with what is around it
		}
		if !info.IsDir() {
			err = unix.Mount(os.DevNull, at.path, "", unix.MS_BIND, "")
		} else if err = unix.Mount("hidden", at.path, "tmpfs", unix.MS_NOSUID|unix.MS_NODEV, "size=1m,mode=0755"); err == nil {
			covered = append(covered, at.path)
		}
		if err != nil {
			return &os.PathError{Op: "hide", Path: at.path, Err: err}
		}
	}
	for _, path := range covered {
		// What is shown in the place of a covered folder has its own mount, which stays as it is.
		if err := sealCover(path); err != nil {
			return err
		}
	}
	return nil
}

// sealCover makes an empty folder read-only, unless something is shown in its place.
func sealCover(path string) error {
	var stat unix.Statfs_t
	if err := unix.Statfs(path, &stat); err != nil || stat.Type != unix.TMPFS_MAGIC || stat.Blocks*uint64(stat.Bsize) > 1<<20 {
		return nil //nolint:nilerr // it is hidden with what is around it
	}
	return setReadOnly(path, true, false)
}

// showAgain shows an open file or folder at its path, in a folder that was hidden.
func showAgain(path string, f *os.File) error {
	info, err := f.Stat()
	if err != nil {
		return err
	}
	if info.IsDir() {
		err = os.MkdirAll(path, 0o755)
	} else if err = os.MkdirAll(filepath.Dir(path), 0o755); err == nil {
		if _, missing := os.Lstat(path); missing != nil {
			err = os.WriteFile(path, nil, 0o600)
		}
	}
	if err != nil {
		return err
	}
	return unix.Mount(fdPath(f), path, "", unix.MS_BIND|unix.MS_REC, "")
}

// The rights of Landlock that reading needs.
const readRights = unix.LANDLOCK_ACCESS_FS_READ_FILE | unix.LANDLOCK_ACCESS_FS_READ_DIR

// landlocked says whether the kernel has Landlock.
var landlocked = sync.OnceValue(func() bool {
	version, _, errno := unix.Syscall(unix.SYS_LANDLOCK_CREATE_RULESET, 0, 0, unix.LANDLOCK_CREATE_RULESET_VERSION)
	return errno == 0 && version > 0
})

// restrict has this thread and what it starts read nothing but the system's files and what is shown, with Landlock: where there are no
// namespaces. Temporary files of others can still be read. It also keeps other processes' variables and memory from being read.
func restrict(p *privacy) error {
	if len(p.Hidden) == 0 || !landlocked() {
		return nil
	}
	attr := unix.LandlockRulesetAttr{Handled_access_fs: readRights}
	fd, _, errno := unix.Syscall(unix.SYS_LANDLOCK_CREATE_RULESET, uintptr(unsafe.Pointer(&attr)), unsafe.Sizeof(attr.Handled_access_fs), 0) //nolint:gosec // the kernel's interface
	if errno != 0 {
		return errno
	}
	defer unix.Close(int(fd))
	allowed := slices.Clone(p.Shown)
	for _, name := range systemFolders {
		if name != "dev" {
			allowed = append(allowed, around("/"+name, p.Hidden)...)
		}
	}
	for _, name := range append([]string{"shm", "pts", "ptmx"}, devices...) {
		allowed = append(allowed, "/dev/"+name)
	}
	for _, path := range allowed {
		if err := allow(int(fd), path); err != nil && !errors.Is(err, fs.ErrNotExist) && !errors.Is(err, fs.ErrPermission) {
			return err
		}
	}
	if err := unix.Prctl(unix.PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0); err != nil {
		return err
	}
	if _, _, errno := unix.Syscall(unix.SYS_LANDLOCK_RESTRICT_SELF, fd, 0, 0); errno != 0 {
		return errno
	}
	return nil
}

// around lists a folder, or where something in it is hidden, what else it has.
func around(folder string, hidden []string) []string {
	if slices.Contains(hidden, folder) {
		return nil
	}
	if !slices.ContainsFunc(hidden, func(path string) bool { return within(folder, path) }) {
		return []string{folder}
	}
	entries, err := os.ReadDir(folder)
	if err != nil {
		return nil
	}
	var list []string
	for _, e := range entries {
		if e.Type()&fs.ModeSymlink == 0 {
			list = append(list, around(filepath.Join(folder, e.Name()), hidden)...)
		}
	}
	return list
}

// allow adds a path to a ruleset.
func allow(ruleset int, path string) error {
	f, err := unix.Open(path, unix.O_PATH|unix.O_CLOEXEC, 0)
	if err != nil {
		return err
	}
	defer unix.Close(f)
	var stat unix.Stat_t
	if err := unix.Fstat(f, &stat); err != nil {
		return err
	}
	rule := unix.LandlockPathBeneathAttr{Allowed_access: readRights, Parent_fd: int32(f)}
	if stat.Mode&syscall.S_IFMT != syscall.S_IFDIR {
		rule.Allowed_access = unix.LANDLOCK_ACCESS_FS_READ_FILE
	}
	_, _, errno := unix.Syscall6(unix.SYS_LANDLOCK_ADD_RULE, uintptr(ruleset), unix.LANDLOCK_RULE_PATH_BENEATH, uintptr(unsafe.Pointer(&rule)), 0, 0, 0) //nolint:gosec // the kernel's interface
	if errno != 0 {
		return errno
	}
	return nil
}

// hides says whether this system can hide files from a program.
func hides() bool { return strongest() == Namespaces || landlocked() }
