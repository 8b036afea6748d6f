// Command corroboration is a judge that decides only what two sources say that
// have nothing to do with each other, built with Extism's Go PDK.
package main

func main() {}
