// Command extism is a guest of Extism's Go PDK for tests: it does what the first byte of its input says.
package main

func main() {}
