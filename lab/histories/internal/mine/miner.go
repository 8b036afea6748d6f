// Package mine makes the trees of cases from the histories of repositories again, and runs their tests. It reads snapshots of the
// repositories, checks trees out in folders of its own, and runs tests in isolation alone. What found the cases is in the history before
// 29 November 2026.
package mine

import (
	"context"
	"path/filepath"

	"github.com/shadowcourt/shadowcourt/host/lab/internal/history"
)

// Config names the repository.
type Config struct {
	// Snapshot is the git directory of the repository, Name its owner/name, and Half what its cases may be used for.
	Snapshot, Name string
	Half           history.Half
	// Work is a folder for trees and for what was done already; Saved has the results.
	Work, Saved string
}

// Miner runs the cases of one repository.
type Miner struct {
	Config
	repository *history.Repository
	suite      suite
	found      *history.Repo
}

// Open opens the snapshot and reads the saved cases.
func Open(ctx context.Context, c Config) (*Miner, error) {
	folder := filepath.Join(c.Work, history.Slug(c.Name))
	m := &Miner{Config: c}
	var err error
	if m.repository, err = history.OpenRepository(ctx, c.Snapshot, filepath.Join(folder, "tree"), Planters()); err != nil {
		return nil, err
	}
	if m.found, err = history.ReadRepo(c.Saved, c.Half, c.Name); err != nil {
		return nil, err
	}
	head, err := m.repository.Tip(ctx)
	if err != nil {
		return nil, err
	}
	if m.suite, err = openSuite(ctx, m.repository, head, folder); err != nil {
		return nil, err
	}
	return m, nil
}

// folder is where trees are checked out.
func (m *Miner) folder() string { return m.repository.Folder() }

// checkout makes a tree and checks it out in a folder that all trees of the repository share, so that what is compiled is shared.
func (m *Miner) checkout(ctx context.Context, t *history.Tree) (string, error) {
	commit, err := m.repository.Make(ctx, t)
	if err != nil {
		return "", err
	}
	t.Commit = commit
	for _, args := range [][]string{{"checkout", "-q", "-f", "--detach", commit}, {"clean", "-q", "-f", "-f", "-d", "-x", "-e", "/.venv", "-e", "/node_modules"}} {
		if _, err := m.repository.Git(ctx, args...); err != nil {
			return "", err
		}
	}
	return m.folder(), m.suite.install(ctx, m.folder())
}
