package baseline

// Rule answers a case with one of its labels. It is safe for concurrent use.
type Rule func(*Case) string

// ID names a method in JSON. The names are stable.
type ID string

// The methods.
const (
	Light          ID = "light"
	PlainVote      ID = "plain_vote"
	ConfidenceVote ID = "confidence_vote"
	LogOddsVote    ID = "log_odds_vote"
	BestWitness    ID = "best_witness"
	NaiveBayes     ID = "naive_bayes"
	Logistic       ID = "logistic_regression"
)

// Method is a way to answer cases without a court.
type Method struct {
	ID ID
	// Name for people.
	Name string
	// Fitted says that the method learns from cases with truth. The others' Fit ignores its argument.
	Fitted bool
	// Fit gives the rule. Cases without truth teach nothing.
	Fit func(training []*Case) Rule
}

// Methods lists all methods, the simplest first: that is the order in which ties are decided.
func Methods() []Method {
	return []Method{
		{Light, "Light alone", false, fixed(func(c *Case) string { return c.Light.Label })},
		{PlainVote, "plain vote", false, fixed(vote(one))},
		{ConfidenceVote, "confidence-weighted vote", false, fixed(vote(stated))},
		{LogOddsVote, "log-odds-weighted vote", false, fixed(vote(logOdds))},
		{BestWitness, "most reliable witness, else Light", true, fitWitness},
		{NaiveBayes, "naive Bayes, sources and text", true, fitBayes},
		{Logistic, "logistic regression, TF-IDF", true, fitLogistic},
	}
}

func fixed(r Rule) func([]*Case) Rule { return func([]*Case) Rule { return r } }
