// Package baseline has the methods that a court has to beat: Light alone, votes over Light and the witnesses, the most
// reliable witness, a naive Bayes and a logistic regression over what the sources say and the text.
//
// A method is fitted on cases whose truth is known ([Method.Fit]) and then answers cases without looking at their truth
// ([Rule]). [Choose] says which one is best by cross-validation on the fitting half alone, so that none is picked for
// what it happens to do on the tested half.
package baseline
