// Package setup makes what a configuration names: the builder of prompts, the models, the embedder, the reranker.
package setup
