#!/bin/sh
# build/arbiter.wasm, with its manifest in it. LDC, WASM_LD and SHADOWCOURT name other programs than those on the path.
set -eu
cd "$(dirname "$0")"
mkdir -p build
"${LDC:-ldc2}" -mtriple=wasm32-unknown-unknown-wasm -betterC -Oz -release -boundscheck=off -mattr=+bulk-memory -c \
	-of=build/judge.o judge.d
"${WASM_LD:-wasm-ld}" --no-entry --stack-first -z stack-size=65536 --strip-all \
	--export=shadowcourt_alloc --export=shadowcourt_node -o build/arbiter.wasm build/judge.o
"${SHADOWCOURT:-shadowcourt}" plugin annotate build/arbiter.wasm --manifest manifest.yaml
