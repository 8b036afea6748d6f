package store_test

import (
	"errors"
	"fmt"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/shadowcourt/shadowcourt/internal/service/store"
)

// auditChain has many write at once, and then changes lines past the store: the first line that is not as it was written is named.
func auditChain(t *testing.T, s *store.Store) {
	t.Helper()
	ctx := t.Context()
	const writers, lines = 8, 5
	var group sync.WaitGroup
	for w := range writers {
		group.Go(func() {
			for i := range lines {
				if err := s.Log(ctx, store.Action{Author: fmt.Sprint("writer ", w), Action: "token.add", Target: fmt.Sprint("token ", i), Details: "\"<\x00\xff"}); err != nil {
					t.Error(err)
				}
			}
		})
	}
	group.Wait()
	v, err := s.VerifyAuditLog(ctx, "")
	if err != nil || v.Lines != writers*lines || v.First != 1 || v.Last != writers*lines || v.Has {
		t.Fatalf("%+v, %v", v, err)
	}
	list, err := s.AuditLog(ctx, 0, 100)
	must(t, err)
	noted := list[len(list)-3].Digest
	if v, err := s.VerifyAuditLog(ctx, noted); err != nil || !v.Has {
		t.Errorf("%+v, %v", v, err)
	}
	for _, tc := range []struct{ change, undo, want string }{
		{`UPDATE audit_log SET author = 'somebody else' || author WHERE number = 7`, `UPDATE audit_log SET author = substr(author, 14) WHERE number = 7`, "line 7 of the audit log (token.add"},
		{`UPDATE audit_log SET time = time + 1 WHERE number = 9`, `UPDATE audit_log SET time = time - 1 WHERE number = 9`, "line 9 of the audit log (token.add"},
		{`UPDATE audit_log SET number = 100 WHERE number = 40`, `UPDATE audit_log SET number = 40 WHERE number = 100`, "line 40 of the audit log is missing"},
		{`UPDATE audit_log SET number = 0 WHERE number = 1`, `UPDATE audit_log SET number = 1 WHERE number = 0`, "line 1 of the audit log is missing"},
		{`UPDATE audit_log SET number = 2 WHERE number = 3`, `UPDATE audit_log SET number = 3 WHERE number = 2 AND id = (SELECT max(id) FROM audit_log WHERE number = 2)`, "line 2 of the audit log"},
		{`INSERT INTO audit_log (time, author, action, target, details) VALUES (1, 'a', 'b', 'c', '')`, `DELETE FROM audit_log WHERE number = 0`, "line 1 of the audit log has 1 lines before it"},
		{`UPDATE audit_chain SET number = 41`, `UPDATE audit_chain SET number = 40`, "line 41 of the audit log is missing"},
		{`UPDATE audit_chain SET digest = 'x' || digest`, `UPDATE audit_chain SET digest = substr(digest, 2)`, "line 40 of the audit log is not the end"},
	} {
		must(t, s.Exec(ctx, tc.change))
		_, err := s.VerifyAuditLog(ctx, "")
		if broken, ok := errors.AsType[*store.AuditError](err); !ok || !strings.Contains(broken.Error(), tc.want) {
			t.Errorf("%s: %v, want %s", tc.change, err, tc.want)
		}
		must(t, s.Exec(ctx, tc.undo))
		if _, err := s.VerifyAuditLog(ctx, ""); err != nil {
			t.Fatalf("%s: %v", tc.undo, err)
		}
	}

	// Lines are cut off up to a moment. Verifying begins behind them, and what was noted of the last of them is found again.
	cut := list[len(list)-20]
	n, err := s.CutAuditLog(ctx, cut.Time)
	must(t, err)
	must(t, s.Log(ctx, store.Action{Author: "ann", Action: "audit.cut"}))
	v, err = s.VerifyAuditLog(ctx, list[len(list)-19].Digest)
	if err != nil || n == 0 || n != v.Cut || v.First != n+1 || v.Last != writers*lines+1 {
		t.Errorf("%d lines cut, %+v, %v", n, v, err)
	}
	if v, err := s.VerifyAuditLog(ctx, noted); err != nil || v.Has {
		t.Errorf("a line that was cut off is found: %+v, %v", v, err)
	}
	if v, err = s.VerifyAuditLog(ctx, v.CutDigest); err != nil || !v.Has {
		t.Errorf("the last one that was cut off is not: %+v, %v", v, err)
	}
	if n, err := s.CutAuditLog(ctx, cut.Time); err != nil || n != 0 {
		t.Errorf("cut again: %d, %v", n, err)
	}
	n, err = s.CutAuditLog(ctx, time.Date(2100, 1, 1, 0, 0, 0, 0, time.UTC))
	must(t, err)
	must(t, s.Log(ctx, store.Action{Author: "ann", Action: "audit.cut"}))
	if v, err := s.VerifyAuditLog(ctx, ""); err != nil || n == 0 || v.Lines != 1 || v.First != writers*lines+2 {
		t.Errorf("all but the last are cut: %+v, %v", v, err)
	}
}
