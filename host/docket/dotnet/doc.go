// Package dotnet reads TRX, the XML of vstest, MSTest and `dotnet test --logger trx`, into cases, one for each test that failed. Reporters of
// other languages write it, too. Several reports one after the other in one stream are read as one.
//
// The case of a test is called as its class and its method; its group is the class. Its document "failure" has the message and the stack trace,
// "output" and "error-output" what the test printed. Tests that were skipped, were inconclusive or only warned are no failures. A run that
// breaks off without a failing test is the case "run".
//
// A report is data from elsewhere: it is read in bounded memory, see [Reader].
package dotnet
