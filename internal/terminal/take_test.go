package terminal

import "testing"

func TestInterruptEndsWhatStandsAside(t *testing.T) {
	t.Parallel()
	i := &Interrupts{}
	if i.take() {
		t.Error("it took an interrupt with nothing to end")
	}
	ctx, done := i.Aside(t.Context())
	if !i.take() || ctx.Err() == nil {
		t.Error("the interrupt ended nothing")
	}
	done()
	if i.take() {
		t.Error("it took an interrupt after it was done")
	}
}
