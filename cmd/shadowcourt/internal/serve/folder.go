package serve

import (
	"os"
	"path/filepath"
	"runtime"
)

// dataFolder is the user's own folder for data of this program.
func dataFolder() (string, error) {
	if dir := os.Getenv("XDG_DATA_HOME"); filepath.IsAbs(dir) {
		return filepath.Join(dir, "shadowcourt"), nil
	}
	switch runtime.GOOS {
	case "windows", "darwin":
		dir, err := os.UserConfigDir() // AppData, Application Support: these systems keep data there
		return filepath.Join(dir, "shadowcourt"), err
	}
	home, err := os.UserHomeDir()
	return filepath.Join(home, ".local", "share", "shadowcourt"), err
}
