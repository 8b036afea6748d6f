#!/bin/sh
# Puts shadowcourt and shadowcourt-keyless into a folder: a release whose checksum is verified, or what is built from the sources around this script.
#
#   tools/install.sh VERSION FOLDER
#
# VERSION is such as v0.1.0, or latest; anything else builds the sources, which needs Go, git and make. The checksums come from the same place
# as the release: they tell a broken download, not a stolen account.
set -eu
version=$1
mkdir -p "$2"
folder=$(cd "$2" && pwd)
case $version in
latest) from=releases/latest/download ;;
v[0-9]*.[0-9]*.[0-9]*) from=releases/download/$version ;;
*)
	make -C "$(dirname "$0")/.." install GOBIN="$folder"
	exit
	;;
esac
case $(uname -s) in
Linux) os=linux end=tar.gz ;;
Darwin) os=darwin end=tar.gz ;;
*) os=windows end=zip ;;
esac
case $(uname -m) in
arm64 | aarch64) arch=arm64 ;;
*) arch=amd64 ;;
esac
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
cd "$work"
at=https://github.com/shadowcourt/shadowcourt/$from
curl -fsSL --proto =https --retry 3 -o checksums.txt "$at/checksums.txt"
# Lines of checksums.txt are: digest, two blanks, shadowcourt_0.1.0_linux_amd64.tar.gz.
grep -E "^[0-9a-f]{64}  shadowcourt_[0-9A-Za-z.+-]+_${os}_$arch\.$end\$" checksums.txt > wanted || {
	echo "$at has no shadowcourt for $os $arch" >&2
	exit 1
}
read -r _ archive < wanted
curl -fsSL --proto =https --retry 3 -o "$archive" "$at/$archive"
if command -v sha256sum > /dev/null; then sha256sum -c wanted; else shasum -a 256 -c wanted; fi
set -- shadowcourt shadowcourt-keyless
if [ "$end" = zip ]; then set -- "$1.exe" "$2.exe"; unzip -q "$archive" "$@"; else tar -xzf "$archive" "$@"; fi
mv "$@" "$folder/"
