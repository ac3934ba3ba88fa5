package memory

// Origin is how an answer came about: who wrote it, and what was found for it. Nothing else tells that, so that all
// who show it say the same. It is empty in traces from before there was one.
type Origin struct {
	Writer AnswerWriter `json:"writer,omitempty"`
	Found  Found        `json:"found,omitempty"`
	// Messages and Lore count what is quoted, if no model wrote it.
	Messages int `json:"messages,omitempty"`
	Lore     int `json:"lore,omitempty"`
}

// AnswerWriter is who wrote an answer, or why no model did.
type AnswerWriter string

// Writers of an answer.
const (
	WrittenByModel AnswerWriter = "model"
	NoModel        AnswerWriter = "no model" // none is configured
	ModelFailed    AnswerWriter = "model failed"
	ModelLoading   AnswerWriter = "model loading"
	ModelEmpty     AnswerWriter = "model wrote nothing"
	NoTokens       AnswerWriter = "no tokens" // were left for the model
	TakenBack      AnswerWriter = "taken back"
)

// Found is what a search found for a question, of what the answer's readers may read.
type Found string

// What a search found.
const (
	FoundEnough  Found = "enough"
	FoundNothing Found = "nothing"
	// FoundLittle: something was found, but too little of the question for it to be quoted.
	FoundLittle Found = "little"
	// FoundSmallTalk: the question asks for nothing that could have been said.
	FoundSmallTalk Found = "small talk"
)

// Quotes reports whether the answer quotes something.
func (o Origin) Quotes() bool { return o.Messages+o.Lore > 0 }
