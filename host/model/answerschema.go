package model

// AnswerSchema is the JSON Schema of an answer, as modules write it: of nothing in it is the author trusted.
type AnswerSchema struct{ own *schema }

// CompileSchema compiles a schema that is small, refers only to itself and is of the dialect 2020-12; the error says what is wrong.
func CompileSchema(text string) (*AnswerSchema, error) {
	s, err := compileSchema(text)
	if err != nil {
		return nil, err
	}
	return &AnswerSchema{s}, nil
}

// Accept gives the JSON document of an answer that conforms to the schema, compact. The error has a line for each place that does not.
func (s *AnswerSchema) Accept(answer string) (document string, err error) {
	return s.own.accept(answer)
}
