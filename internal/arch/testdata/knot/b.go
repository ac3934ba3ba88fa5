package knot

func down(base) { up() }
