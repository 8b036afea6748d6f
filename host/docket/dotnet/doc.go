// Package dotnet reads the XML that .NET's test runners write into cases, one for each test that failed: TRX of vstest, MSTest and
// `dotnet test --logger trx` (TestRun), xUnit.net's version 2 and 3 (assemblies, assembly), and NUnit 3 (test-run). The root element
// tells which. Reporters of other languages write these formats, too. Several reports one after the other in one stream are read as one.
//
// The case of a test is called as its class and its method; its group is the class. Its document "failure" has the exception, the message
// and the stack trace, "output" and "error-output" what the test printed. Tests that were skipped, were inconclusive or only warned are no
// failures. What fails outside of tests, such as the set-up of a fixture, is a case of its class or of its assembly, and a run that breaks
// off without a failing test is the case "run".
//
// A report is data from elsewhere: it is read as package xmltext says, in bounded memory, see [Reader].
package dotnet
