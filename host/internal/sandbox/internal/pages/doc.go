// Package pages keeps the linear memory of instances, and resets it to what it was after the module's start.
//
// An [Image] is what a memory held at one moment. A [Memory] that begins with an image is reset to it by Reset, in one of several ways that
// give the same bytes and differ in price. On Linux an image is a sealed file in memory and every Memory a private mapping of it: a
// thousand of them share the pages that none has written. Elsewhere, and where the kernel denies that, a Memory is a copy of its own.
//
// A [Pager] and an Image are safe for concurrent use. A Memory belongs to one goroutine at a time.
package pages
