package investigate

import (
	"context"
	"fmt"

	"github.com/shadowcourt/shadowcourt/repo"
)

// Change is what may have made tests fail.
type Change struct {
	Source     string // folder of the project in its git repository
	Repository *repo.Repository
	Head       string // commit of HEAD; the tree under test may have further changes
	Base       repo.Base
	Target     string // commit that the change will be merged into; empty for none
}

// AutoBase is the revision of a base that [repo.Repository.FindBase] finds.
const AutoBase = "auto"

// FindChange resolves the revisions of a change. A base that HEAD does not contain, such as a branch that went on, stands for the merge base with
// it. target may be empty; variable gives the value of an environment variable.
// Errors begin with what they are about: source, base or target.
func FindChange(ctx context.Context, dir, base, target string, variable func(string) string) (Change, error) {
	c := Change{Source: dir}
	var err error
	if c.Repository, err = repo.Open(ctx, dir); err != nil {
		return c, err
	}
	if c.Head, err = c.Repository.Commit(ctx, "HEAD"); err != nil {
		return c, fmt.Errorf("source: %w", err)
	}
	if base == AutoBase {
		c.Base, err = c.Repository.FindBase(ctx, variable)
		if err != nil {
			return c, fmt.Errorf("base %s: %w", AutoBase, err)
		}
	} else if c.Base, err = c.Repository.BaseOf(ctx, base); err != nil {
		return c, fmt.Errorf("base: %w", err)
	}
	if target != "" {
		if c.Target, err = c.Repository.Commit(ctx, target); err != nil {
			return c, fmt.Errorf("target: %w", err)
		}
	}
	return c, nil
}
