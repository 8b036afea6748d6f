// Command extism is the judge of package verdict over Extism's PDK.
package main

func main() {}
