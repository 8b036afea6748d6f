//go:build !unix

package record

const openNow = 0
