package knot

type base struct{}
