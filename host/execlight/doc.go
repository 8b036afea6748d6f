// Package execlight lets another program answer for Light: anybody's classifier, in any language. It gets a JSON request a line on its
// standard input and gives a JSON answer a line on its standard output:
//
//	{"case":{"id":...,"labels":[...],"evidence":[...],"documents":[...]},"feedback":null,"previous":null}
//	{"classification":"pb001","confidence":0.73,"reasoning":"..."}
//
// After a remand, feedback is the court's, previous is the answer before, and the case's evidence begins with the items of the indictment,
// into which the feedback's indexes point; the answer then has a "remand" that accounts for every question and every challenged item. An
// answer may bring "evidence".
//
// Answers are read as strictly as dockets. An answer may have an "id", which has to be that of the case then.
//
// A program is started when it is first needed, one for each trial that goes on at the same time, and kept until Close. One that crashes,
// is silent for too long or answers nonsense has its case fail, and is started again for the next. A case of which a program ends without
// an answer is asked of a new one if that program had answered before: it may have ended by then.
//
// One that wrote more than its answer by the time the next case is due is ended, and another one gets that case. What it writes later than
// that looks like the next answer, unless answers have an id.
//
// The program and whom it starts are a process group, which is killed as a whole. Who leaves the group keeps nobody waiting, and is not
// killed.
package execlight
