// Package testcmd runs a test command of the user's, such as `go test ./...`, so that it leaves a report.
//
// [Parse] recognizes the test runner, also behind `npx`, `poetry run`, `npm test` and the like, and says what has to be added to
// the command. [Command.Run] runs it, shows the runner's own output, and names the reports for their readers:
//
//	go test        -json; what a person would see is printed from the events
//	pytest         --junitxml=REPORT
//	jest           --json --outputFile=REPORT, which is converted to JUnit XML: no reporter has to be installed
//	vitest         --run --reporter=default --reporter=junit --outputFile.junit=REPORT
//	cargo nextest  --tool-config-file, with a path of a JUnit report for all profiles that have none
//	ctest          --output-junit REPORT
//	mvn, gradle    nothing: the reports that this run wrote are taken
//
// Flags of the user's own are kept, and the report that they name is read. The command is the user's: it is not isolated, and has
// the user's environment. What it writes is from elsewhere: reports are bounded, and so is the memory for its output.
package testcmd
