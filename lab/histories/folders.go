package main

import (
	"context"
	"errors"
	"flag"
	"fmt"
	"os"
	"path/filepath"
	"strings"

	"github.com/shadowcourt/shadowcourt/host/lab/histories/internal/mine"
	"github.com/shadowcourt/shadowcourt/host/lab/internal/history"
)

// folders are where the commands find what they need.
type folders struct{ snapshots, work, saved string }

func (f *folders) flags(flags *flag.FlagSet) {
	flags.StringVar(&f.snapshots, "snapshots", "", "folder with a git directory OWNER+NAME/repo for each repository")
	flags.StringVar(&f.work, "work", filepath.Join("out", "histories"), "folder for trees and for what was done already")
	f.savedFlag(flags)
}

func (f *folders) savedFlag(flags *flag.FlagSet) {
	flags.StringVar(&f.saved, "saved", filepath.Join("lab", "histories", "saved"), "folder of the cases")
}

// check says if there are no snapshots.
func (f *folders) check() error {
	if info, err := os.Stat(f.snapshots); f.snapshots == "" || err != nil || !info.IsDir() {
		return fmt.Errorf("there are no snapshots in %q: say SNAPSHOTS=DIR to make, or -snapshots DIR", f.snapshots)
	}
	return nil
}

// snapshot is the git directory of a repository.
func (f *folders) snapshot(name string) string {
	return filepath.Join(f.snapshots, strings.ReplaceAll(name, "/", "+"), "repo")
}

// open opens one repository of the reporting half, in a process of its own in which environments can be broken.
func (f *folders) open(ctx context.Context, name string) (*mine.Miner, error) {
	if err := mine.Private(); err != nil {
		fmt.Fprintln(os.Stderr, "histories: no environment can be broken for long:", err)
	}
	work, err := filepath.Abs(f.work)
	snapshots, err2 := filepath.Abs(f.snapshot(name))
	if err := errors.Join(err, err2); err != nil {
		return nil, err
	}
	return mine.Open(ctx, mine.Config{Snapshot: snapshots, Name: name, Half: history.Reporting, Work: work, Saved: f.saved})
}

func (f *folders) noCases() error { return fmt.Errorf("%s has no cases", f.saved) }
