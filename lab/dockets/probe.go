package main

import (
	"context"
	"encoding/json"
	"fmt"
	"io"
	"net"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"time"

	"github.com/shadowcourt/shadowcourt/host/lab/internal/launch"
)

// reading is what one probe of the environment saw. Sound is false where a monitor would raise an alarm.
type reading struct {
	Probe string `json:"probe"`
	Text  string `json:"text"`
	Sound bool   `json:"sound"`
}

// probe looks at the environment it runs in, as a monitor of a build machine does, and prints the readings. It runs under
// the launcher in the place of a test binary.
func probe(out io.Writer) int {
	readings := []reading{
		writable("temporary folder", os.Getenv(launch.TempEnv), 24<<10),
		writable("working folder", ".", 1<<10),
		listens("loopback", "127.0.0.1:0"),
		listens("loopback, version 6", "[::1]:0"),
		descriptors(),
		tools(),
		zone(),
		locale(),
		home(),
		memory(),
		pause(),
		load(),
	}
	if json.NewEncoder(out).Encode(readings) != nil {
		return 1
	}
	return 0
}

func writable(name, dir string, bytes int) reading {
	path := filepath.Join(dir, ".probe")
	err := os.WriteFile(path, make([]byte, bytes), 0o600)
	_ = os.Remove(path)
	return said(name, "a file can be written", "a file can't be written", err == nil)
}

func listens(name, address string) reading {
	l, err := (&net.ListenConfig{}).Listen(context.Background(), "tcp", address)
	if err == nil {
		_ = l.Close()
	}
	return said(name, "a port can be listened on", "no port can be listened on", err == nil)
}

// descriptors opens as many files as a small server needs.
func descriptors() reading {
	const want = 24
	var open []*os.File
	for len(open) < want {
		f, err := os.Open(".")
		if err != nil {
			break
		}
		open = append(open, f)
	}
	for _, f := range open {
		_ = f.Close()
	}
	return said("file descriptors", "two dozen files open at once", fmt.Sprintf("%d files open at once", len(open)), len(open) == want)
}

func tools() reading {
	_, err := exec.LookPath("sh")
	return said("tools", "there is a shell", "there is no shell", err == nil)
}

func zone() reading {
	_, err := time.LoadLocation("Europe/Berlin")
	_, offset := time.Now().Zone()
	switch {
	case err != nil:
		return reading{Probe: "time zone", Text: "a zone can't be loaded"}
	default:
		return said("time zone", "UTC", fmt.Sprintf("%d minutes off UTC", offset/60), offset == 0)
	}
}

func locale() reading {
	lang := os.Getenv("LC_ALL") + os.Getenv("LANG")
	return said("locale", "the usual one", "set to "+os.Getenv("LANG"), strings.HasPrefix(lang, "C.UTF-8"))
}

func home() reading {
	dir, err := os.UserHomeDir()
	if err == nil {
		_, err = os.Stat(dir)
	}
	return said("home", "there is one", "there is none", err == nil)
}

// memory tells what the machine has free, which says nothing of the limits of one process.
func memory() reading {
	text, err := os.ReadFile("/proc/meminfo")
	var free int
	for line := range strings.Lines(string(text)) {
		if n, _ := fmt.Sscanf(line, "MemAvailable: %d kB", &free); n == 1 {
			break
		}
	}
	return said("memory", fmt.Sprintf("%d GiB free", free>>20), "can't be read", err == nil)
}

// pause measures how late a process of this machine is.
func pause() reading {
	const nap = 5 * time.Millisecond
	var worst time.Duration
	for range 8 {
		from := time.Now()
		time.Sleep(nap)
		worst = max(worst, time.Since(from)-nap)
	}
	late := worst.Round(time.Millisecond)
	return said("scheduling", "a process wakes on time", fmt.Sprintf("a process wakes %v late", late), worst < 30*time.Millisecond)
}

func load() reading {
	text, err := os.ReadFile("/proc/loadavg")
	var now float64
	_, _ = fmt.Sscanf(string(text), "%f", &now)
	return said("load", fmt.Sprintf("%.1f", now), fmt.Sprintf("%.1f, more than the machine has processors", now), err == nil && now < 4)
}

func said(probe, good, bad string, sound bool) reading {
	if sound {
		return reading{Probe: probe, Text: good, Sound: true}
	}
	return reading{Probe: probe, Text: bad}
}

// probeIn runs the probes in a condition.
func (c *checkout) probeIn(ctx context.Context, in condition) ([]reading, error) {
	out, cannot, err := c.launch(ctx, in, c.host.launcher, probeArg)
	if err != nil || cannot != "" {
		return nil, err
	}
	var readings []reading
	_ = json.Unmarshal(out, &readings) // where not even the probes run there are no readings
	return readings, nil
}
