// Package setup makes what the configuration names: the prompt builder, the models, the embedder, the reranker.
package setup
