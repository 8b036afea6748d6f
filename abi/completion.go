package abi

// What personas ask language models: see SPEC.md §2.12.

// ModelOffer is a language model that the persona of a call may ask.
type ModelOffer struct {
	// Model is the name that the pipeline gives it. Which model answers to it is the host's configuration.
	Model string `abi:"model,nonempty"`
	// ContextTokens is how many tokens messages and answer may have together, about four bytes of English each.
	ContextTokens int `abi:"context_tokens,min=1"`
	// AnswerTokens is how many tokens of them an answer may have.
	AnswerTokens int `abi:"answer_tokens,min=1"`
}

// ChatRole says who wrote a message to a language model.
type ChatRole string

// The roles.
const (
	ChatSystem    ChatRole = "system"
	ChatUser      ChatRole = "user"
	ChatAssistant ChatRole = "assistant"
)

// ChatMessage is one message of a conversation with a language model.
type ChatMessage struct {
	Role    ChatRole `abi:"role"`
	Content string   `abi:"content,nonempty"`
}

// Completion asks a language model to answer a conversation.
type Completion struct {
	// Model is the name of one of the models that the request offers.
	Model    string        `abi:"model,nonempty"`
	Messages []ChatMessage `abi:"messages,nonempty,max=256"`
	// Schema is a JSON Schema that the answer has to conform to; without it the answer is free text.
	Schema string `abi:"schema,opt"`
	// AnswerTokens limits the length of each answer.
	AnswerTokens int `abi:"answer_tokens,min=1"`
	// Samples is how many answers are wanted, each with a seed of its own.
	Samples     int     `abi:"samples,min=1,max=64"`
	Temperature float64 `abi:"temperature,min=0,max=2"`
	Seed        int     `abi:"seed,min=0"`
}

// CompletionOutcome says what came of a completion.
type CompletionOutcome string

// The outcomes.
const (
	// CompletionAnswered: every sample has an answer.
	CompletionAnswered CompletionOutcome = "answered"
	// CompletionPartial: some samples have none. Detail says why.
	CompletionPartial CompletionOutcome = "partial"
	// CompletionInvalid: no answer conforms to the schema, after a repair either.
	CompletionInvalid CompletionOutcome = "invalid"
	// CompletionTooLong: the messages do not fit into the context, or no answer into its limit.
	CompletionTooLong CompletionOutcome = "too_long"
	// CompletionFailed: the provider gave no answer.
	CompletionFailed CompletionOutcome = "failed"
	// CompletionNotAsked: a budget is used up, or the model is not there.
	CompletionNotAsked CompletionOutcome = "not_asked"
)

// CompletionResult is what a language model answered. Only the persona that asked sees it.
type CompletionResult struct {
	Model   string            `abi:"model,nonempty"`
	Outcome CompletionOutcome `abi:"outcome"`
	// Answers, each of one sample, in the order of the seeds. With a schema each is a JSON document that conforms to it.
	Answers []string `abi:"answers"`
	// Detail says why there is no answer, or not one of each sample.
	Detail string `abi:"detail,opt"`
	// InputTokens and OutputTokens are what the provider counted, repairs included.
	InputTokens  int `abi:"input_tokens,min=0"`
	OutputTokens int `abi:"output_tokens,min=0"`
	// Cost in the currency of the host's prices; 0 where none are configured.
	Cost float64 `abi:"cost,min=0"`
}

// CompletionQuery asks for a completion, or without one what models the host offers. Records have it; modules ask by the
// completion in their answer to a node call.
type CompletionQuery struct {
	// Models are the names that the persona is granted, where no completion is asked for.
	Models     []string    `abi:"models,opt"`
	Completion *Completion `abi:"completion"`
}

// CompletionAnswer answers a CompletionQuery: with the offers, or with the result.
type CompletionAnswer struct {
	Models []ModelOffer      `abi:"models,opt"`
	Result *CompletionResult `abi:"result"`
}
