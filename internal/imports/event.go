package imports

import (
	"context"
	"encoding/json"
	"fmt"
	"reflect"

	"hark/memory"
)

// events are what "hark export --salvage" tells besides messages: what was decided and forgotten, so that it stays so, and what people
// told Hark to remember.
var events = func() map[string]reflect.Type {
	types := map[string]reflect.Type{}
	for _, e := range []memory.Event{
		memory.Forgetting{}, memory.Opted{}, memory.GuildNamed{}, memory.ChannelSeen{}, memory.Chose{}, memory.SettingChosen{}, memory.Deleted{}, memory.FactTold{}, memory.LoreTold{},
	} {
		types[EventName(e)] = reflect.TypeOf(e)
	}
	return types
}()

// EventName is what exports call a kind of event.
func EventName(e memory.Event) string { return reflect.TypeOf(e).Name() }

// event adds an event.
func (b *batch) event(ctx context.Context, number int, l setLine) error {
	kind, ok := events[string(l.Event)]
	if !ok {
		b.skip(fmt.Sprintf("line %d has an event of an unknown kind", number))
		return nil
	}
	e := reflect.New(kind)
	if err := json.Unmarshal(l.Body, e.Interface()); err != nil {
		b.skip(fmt.Sprintf("line %d has an event that can't be read: %v", number, err))
		return nil
	}
	b.sum.Events++
	if b.events = append(b.events, e.Elem().Interface().(memory.Event)); len(b.events) < batchEvents {
		return nil
	}
	return b.flush(ctx)
}
