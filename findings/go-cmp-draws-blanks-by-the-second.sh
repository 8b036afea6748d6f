#!/bin/sh
# github.com/google/go-cmp v0.7.0: what cmp.Diff returns for the same two values changes from process to process, as its documentation warns. Less
# expected: the form is drawn by the time in whole seconds. All processes that start within one second agree, and those of another second may
# have non-breaking spaces (U+00A0) in place of the blanks, which no terminal shows. Whoever compares the messages of failing tests over several
# runs that follow each other closely finds them equal, and later ones different.
set -eu
dir=$(mktemp -d)
trap 'chmod -R u+w "$dir"; rm -rf "$dir"' EXIT
cd "$dir"
cat > main.go <<'EOF'
package main

import (
	"fmt"
	"time"

	"github.com/google/go-cmp/cmp"
)

var second = time.Now().Unix() // before and after the package is ready

func main() {
	form := cmp.Diff(map[string]int{"V": 1}, map[string]int{"V": 2})
	if time.Now().Unix() == second {
		fmt.Printf("%d %+q\n", second, form)
	}
}
EOF
export GOFLAGS=-mod=mod GOWORK=off
go mod init example.com/blanks 2> /dev/null
go get github.com/google/go-cmp@v0.7.0 2> /dev/null
go build -o blanks .
for _ in $(seq 60); do
	./blanks >> all
	./blanks >> all
	./blanks >> all
	sleep 0.3
done
{
	echo "forms: $(cut -d' ' -f2- all | sort -u | wc -l), with non-breaking spaces: $(cut -d' ' -f2- all | sort -u | grep -c u00a0)"
	echo "seconds with more than one form: $(sort -u all | cut -d' ' -f1 | uniq -d | wc -l)"
} > seen
cat seen
cat > expected <<'EOF'
forms: 2, with non-breaking spaces: 1
seconds with more than one form: 0
EOF
diff expected seen
