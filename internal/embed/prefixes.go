package embed

import (
	"regexp"
	"strings"
)

// Prefixes are the texts that a model wants before what it embeds.
type Prefixes struct {
	Query    string // before a question
	Document string // before a stored text
}

// None reports whether there are no prefixes.
func (p Prefixes) None() bool { return p == Prefixes{} }

// represent is what several models want before a question. They want nothing before a stored text.
const represent = "Represent this sentence for searching relevant passages: "

// instruct is the task that models with instructions are given in their own documentation.
const instruct = "Instruct: Given a web search query, retrieve relevant passages that answer the query\nQuery:"

// knownPrefixes are those of models that are in wide use, as the models' own pages say. A pattern stands for whole
// words of a name, see PrefixesOf. The first that fits counts, so an exception stands before its rule.
var knownPrefixes = []struct {
	name *regexp.Regexp
	Prefixes
}{
	{words(`nomic-embed-text|modernbert-embed`), Prefixes{"search_query: ", "search_document: "}},
	{words(`qwen3-embedding`), Prefixes{Query: instruct}},
	{words(`embeddinggemma|embedding-gemma`), Prefixes{"task: search result | query: ", "title: none | text: "}},
	{words(`mxbai-embed-large`), Prefixes{Query: represent}},
	{words(`arctic-embed2|arctic-embed-[lm]-v2`), Prefixes{Query: "query: "}},
	{words(`arctic-embed`), Prefixes{Query: represent}},
	{words(`bge-m3`), Prefixes{}},
	{words(`bge-(small|base|large)-zh`), Prefixes{Query: "为这个句子生成表示以用于检索相关文章："}},
	{words(`bge-(small|base|large)`), Prefixes{Query: represent}},
	{words(`e5-mistral|e5(-[a-z]+)*-instruct`), Prefixes{Query: instruct + " "}},
	{words(`e5`), Prefixes{"query: ", "passage: "}},
	{words(`text-embedding-(3|ada)`), Prefixes{}},
	{words(`all-(minilm|mpnet)`), Prefixes{}},
}

func words(pattern string) *regexp.Regexp {
	return regexp.MustCompile(`(^|-)(` + pattern + `)(-|$)`)
}

// between are the characters between the words of a model's name.
var between = regexp.MustCompile(`[^\pL\pN]+`)

// PrefixesOf returns the prefixes of a model by the name that its server has for it, such as "nomic-embed-text",
// "hf.co/nomic-ai/nomic-embed-text-v1.5-GGUF:Q8_0" or "nomic_embed_text.gguf". known is false if Hark doesn't know
// the model; a model that is known may want none.
func PrefixesOf(model string) (p Prefixes, known bool) {
	name := strings.Trim(between.ReplaceAllString(strings.ToLower(model), "-"), "-")
	for _, k := range knownPrefixes {
		if k.name.MatchString(name) {
			return k.Prefixes, true
		}
	}
	return Prefixes{}, false
}
