package memory

// Origin is how an answer came about: who wrote it, and what was found for it. Nothing else tells that, so that all
// who show it say the same. It is empty in traces from before there was one.
type Origin struct {
	Writer Writer `json:"writer,omitempty"`
	Found  Found  `json:"found,omitempty"`
	// Messages and Lore count what is quoted, if no model wrote it.
	Messages int `json:"messages,omitempty"`
	Lore     int `json:"lore,omitempty"`
}

// Writer is who wrote an answer, or why no model did.
type Writer string

// Writers of an answer.
const (
	WrittenByModel Writer = "model"
	NoModel        Writer = "no model" // none is configured
	ModelFailed    Writer = "model failed"
	ModelLoading   Writer = "model loading"
	ModelEmpty     Writer = "model wrote nothing"
	NoTokens       Writer = "no tokens" // were left for the model
	TakenBack      Writer = "taken back"
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
