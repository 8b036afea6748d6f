package disk

import (
	"os"
	"path/filepath"
)

// Exists says whether a name is that of a regular file, and not of a device or a pipe.
func Exists(name string) bool {
	info, err := os.Stat(name)
	return err == nil && info.Mode().IsRegular()
}

// Device says whether something is there that is no regular file.
func Device(name string) bool {
	info, err := os.Stat(name)
	return err == nil && !info.Mode().IsRegular()
}

// Same says whether two names mean one file, whether it exists or not.
func Same(a, b string) bool {
	infoA, errA := os.Stat(a)
	infoB, errB := os.Stat(b)
	if errA == nil && errB == nil {
		return os.SameFile(infoA, infoB)
	}
	return RealPath(a) == RealPath(b)
}

// maxLinks is how many dangling links are followed, one to the next.
const maxLinks = 32

// RealPath is where a name leads, whether a file exists there or not.
func RealPath(name string) string {
	path, err := filepath.Abs(name)
	if err != nil {
		return name
	}
	for range maxLinks {
		if target, err := filepath.EvalSymlinks(path); err == nil {
			return target
		}
		dir, base := filepath.Split(path)
		if folder, err := filepath.EvalSymlinks(dir); err == nil {
			path = filepath.Join(folder, base)
		}
		target, err := os.Readlink(path)
		if err != nil {
			return path
		}
		if !filepath.IsAbs(target) {
			target = filepath.Join(filepath.Dir(path), target)
		}
		path = target
	}
	return path
}
