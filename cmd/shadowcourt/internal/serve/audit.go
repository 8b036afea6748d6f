package serve

import (
	"context"
	"errors"
	"fmt"
	"strconv"
	"time"

	"github.com/spf13/cobra"

	"github.com/shadowcourt/shadowcourt/cmd/shadowcourt/internal/cli"
	"github.com/shadowcourt/shadowcourt/internal/service/store"
)

// newAudit is the command `serve audit`.
func newAudit(s cli.Streams) *cobra.Command {
	cmd := &cobra.Command{
		Use:     "audit",
		Short:   "Verify and shorten the audit log of the service",
		Long:    "Verify and shorten the audit log of the service, in its database.",
		Example: `  shadowcourt serve audit verify --data court`,
		Args:    cli.NoSuchCommand,
		RunE:    func(cmd *cobra.Command, _ []string) error { return cmd.Help() },
	}
	cmd.AddCommand(newAuditVerify(s), newAuditCut(s))
	return cmd
}

func newAuditVerify(s cli.Streams) *cobra.Command {
	var digest string
	cmd := &cobra.Command{
		Use:   "verify",
		Short: "Verify that no line of the audit log was changed or removed",
		Long: `Verify the audit log. Each line has a digest of itself and of the line before: the first line
that is not as it was written is named, and so is one that is missing. Keep the digest that is
printed elsewhere, and give it with --has the next time: whoever can write the database can
also write a log of their own, but not one with this digest.

Exit codes: 0 the log is whole; 1 it is not.`,
		Example: `  shadowcourt serve audit verify --data court`,
		Args:    cli.ExactArgs(0, "no arguments"),
	}
	opened(cmd, func(ctx context.Context, db *store.Store, _ []string) error {
		v, err := db.VerifyAuditLog(ctx, digest)
		if err != nil {
			return err
		}
		if digest != "" && !v.Has {
			return errors.New("the audit log is whole, but no line has the digest of --has: it is not the log that the digest was noted of, or that line was cut off")
		}
		if v.Cut > 0 {
			fmt.Fprintf(s.Out, "cut off: lines up to %d, digest %s\n", v.Cut, v.CutDigest)
		}
		fmt.Fprintf(s.Out, "verified: %s\n", cli.Count(int(v.Lines), "line", "lines"))
		if v.Last > 0 {
			fmt.Fprintf(s.Out, "last: line %d, digest %s\n", v.Last, v.Digest)
		}
		return nil
	})
	cmd.Flags().StringVar(&digest, "has", "", "a `DIGEST` that an earlier run printed: fail unless the line with it is still there, or the last that was cut off")
	return cmd
}

func newAuditCut(s cli.Streams) *cobra.Command {
	var days int
	cmd := &cobra.Command{
		Use:   "cut",
		Short: "Remove old lines of the audit log",
		Long: `Remove the lines of the audit log that are older than --days. Number and digest of the last of
them are kept: verifying begins there from then on. The cut is a line of the log, too.`,
		Example: `  shadowcourt serve audit cut --days 365 --data court`,
		Args:    cli.ExactArgs(0, "no arguments"),
		PreRunE: func(_ *cobra.Command, _ []string) error {
			if days < 1 {
				return cli.InputError(errors.New("--days: use 1 or more"))
			}
			return nil
		},
	}
	opened(cmd, func(ctx context.Context, db *store.Store, _ []string) error {
		if _, err := db.VerifyAuditLog(ctx, ""); err != nil {
			return fmt.Errorf("nothing is cut off: %w", err)
		}
		n, err := db.CutAuditLog(ctx, time.Now().AddDate(0, 0, -days))
		if err != nil {
			return err
		}
		if n > 0 {
			err = db.Log(ctx, store.Action{Author: localAuthor, Action: "audit.cut", Target: "audit log", Details: strconv.FormatInt(n, 10) + " lines"})
		}
		fmt.Fprintf(s.Out, "cut off: %s\n", cli.Count(int(n), "line", "lines"))
		return err
	})
	cmd.Flags().IntVar(&days, "days", 0, "keep the lines of this many days")
	return cmd
}
