package knot

func up() { down(base{}) }
