package memory

import "context"

// Space identifies a vector space. Vectors of different spaces can't be compared.
type Space struct {
	Name       string // of the model
	Version    int    // of the built-in model's features, or a static model's checksum; 0 for those of servers
	Dimensions int
}

// Purpose is what a text is embedded for; some models distinguish them.
type Purpose uint8

const (
	ForStorage Purpose = iota // a segment
	ForSearch                 // a question
)

// Embedder turns texts into vectors.
type Embedder interface {
	// Space returns the space of the vectors. It doesn't change.
	Space() Space
	// Embed returns one vector for each text, in order, of length 1 and with Space().Dimensions finite
	// numbers; nil for a text in which it finds nothing. It returns all of them or an error.
	Embed(ctx context.Context, purpose Purpose, texts []string) ([][]float32, error)
}
