// The modules that the command and package host embed are a Go module of their own. Tagged versions of it hold them; see
// CONTRIBUTING.md, "Release".
module github.com/shadowcourt/shadowcourt/host/bundle

go 1.26.0

require github.com/klauspost/compress v1.20.4
