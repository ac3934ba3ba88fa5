package answer

import (
	"context"
	"testing"
	"time"

	"hark/memory"
)

// Once a source is gone or closed, its words aren't shown to the asker, sent to a server, or given to the model again,
// whenever that happens.
func TestRemoteToolsGetNothingThatIsGone(t *testing.T) {
	t.Parallel()
	const arguments = `{"code":"zanzibar"}`
	for name, goes := range map[string]func(*world, memory.MessageID){
		"deleted": func(w *world, id memory.MessageID) { w.deletes(harbor, id) },
		"closed":  func(w *world, _ memory.MessageID) { w.structure(memory.ViewChannel) },
	} {
		for _, tool := range []string{"weather__change", "weather__look"} {
			t.Run(name+" before "+tool, func(t *testing.T) {
				t.Parallel()
				w := newWorld(t, nil)
				id := w.says(time.Hour, harbor, ben, "the secret weather code is zanzibar")
				s := &servers{says: says("done")}
				m := w.withServers(s, first(func() { goes(w, id) }, uses(tool, arguments)))
				q := w.asks(lobby, "Change the weather with the secret weather code")
				q.Agree = func(context.Context, ToolRequest) Consent {
					t.Error("asked")
					return Agreed
				}
				w.isWithdrawn(q, s, m)
			})
		}
		for _, consent := range []Consent{Agreed, Refused, Unanswered, NotAsked} {
			t.Run(name+" while asked", func(t *testing.T) {
				t.Parallel()
				w := newWorld(t, nil)
				id := w.says(time.Hour, harbor, ben, "the secret weather code is zanzibar")
				s := &servers{says: says("done")}
				m := w.withServers(s, uses("weather__change", arguments))
				q := w.asks(lobby, "Change the weather with the secret weather code")
				q.Agree = func(context.Context, ToolRequest) Consent {
					goes(w, id)
					return consent
				}
				w.isWithdrawn(q, s, m)
			})
		}
	}
}

// isWithdrawn checks that the answer is withdrawn, that nothing was sent to s, and that m was asked once.
func (w *world) isWithdrawn(q Question, s *servers, m *caller) {
	w.t.Helper()
	a := w.answer(q)
	if len(s.sent) > 0 || len(m.got) != 1 || a.Text != withdrawn || len(a.Ran) > 0 || len(a.Trace.Recalled) > 0 {
		w.t.Errorf("sent %q, asked the model %d times, answered %q, ran %q", s.sent, len(m.got), a.Text, a.Ran)
	}
	if c := a.Trace.Calls; len(c) != 1 || c[0].Outcome != "changed meanwhile" {
		w.t.Errorf("traced %+v", c)
	}
}

// What isn't logged goes likewise.
func TestRemoteToolsGetNothingOfASessionThatIsGone(t *testing.T) {
	t.Parallel()
	w := newWorld(t, nil)
	s, stands := &servers{says: says("done")}, true
	m := w.withServers(s, uses("weather__change", `{"code":"zanzibar"}`))
	q := w.asks(lobby, "Change the weather with the code")
	q.Session, q.SessionStands = []memory.Message{}, func() bool { return stands }
	q.Agree = func(context.Context, ToolRequest) Consent {
		stands = false
		return Agreed
	}
	w.isWithdrawn(q, s, m)
}

// A tool that is switched off while the asker is asked doesn't run.
func TestRemoteToolsThatAreSwitchedOff(t *testing.T) {
	t.Parallel()
	w := newWorld(t, nil)
	s := &servers{says: says("done")}
	m := w.withServers(s, uses("weather__change", `{}`))
	q := w.asks(lobby, "Change the weather")
	q.Agree = func(context.Context, ToolRequest) Consent {
		w.apply(memory.SettingChosen{Guild: guild, Channel: lobby, Key: memory.SettingTools, Value: SettingOff,
			At: noon.Add(time.Second)})
		return Agreed
	}
	a := w.answer(q)
	if len(s.sent) > 0 || len(a.Ran) > 0 || len(m.got) != 2 || a.Trace.Calls[0].Outcome != "switched off" {
		t.Errorf("sent %q, ran %q, traced %+v", s.sent, a.Ran, a.Trace.Calls)
	}
}
