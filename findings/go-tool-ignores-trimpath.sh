#!/bin/sh
# Go 1.26.8, which ships test2json as source: `go tool test2json` builds it without -trimpath, also where GOFLAGS has -trimpath. So whoever
# builds everything with -trimpath compiles some eighty packages of the standard library a second time, for one small tool, where
# `go build cmd/test2json` takes what is in the build cache. GOFLAGS reaches only the flags that the command itself knows; go tool builds
# programs, and knows no flags of builds.
set -eu
dir=$(mktemp -d)
trap 'chmod -R u+w "$dir"; rm -rf "$dir"' EXIT
export GOTOOLCHAIN=go1.26.8 CGO_ENABLED=0 GOWORK=off
cd "$dir"
entries() { find "$GOCACHE" -name '*-d' | wc -l; }
more() {
	before=$(entries)
	"$@" >/dev/null
	if [ $(($(entries) - before)) -gt 60 ]; then echo "compiles the standard library"; else echo "takes it from the cache"; fi
}
for flags in "" -trimpath; do
	export GOFLAGS="$flags" GOCACHE="$dir/cache$flags"
	mkdir "$GOCACHE"
	echo "GOFLAGS=$flags"
	echo "go build, first: $(more go build -o tool1 cmd/test2json)"
	echo "go build, second: $(more go build -o tool2 cmd/test2json)"
	echo "go tool: $(more go tool -n test2json)"
done > seen
cat seen
cat > expected <<'EOF'
GOFLAGS=
go build, first: compiles the standard library
go build, second: takes it from the cache
go tool: takes it from the cache
GOFLAGS=-trimpath
go build, first: compiles the standard library
go build, second: takes it from the cache
go tool: compiles the standard library
EOF
diff expected seen
