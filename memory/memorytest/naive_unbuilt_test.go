package memorytest

import (
	"context"
	"errors"
	"hark/memory"
)

func (s *naive) Log(context.Context, memory.ChannelID, memory.MessageID, memory.MessageID, int) ([]memory.Message, error) {
	return nil, errors.New("not built")
}
func (s *naive) HeardUntil(context.Context, memory.GuildID) (map[memory.ChannelID]memory.MessageID, error) {
	return nil, errors.New("not built")
}
func (s *naive) Gaps(context.Context) ([]memory.Gap, error) { return nil, errors.New("not built") }
func (s *naive) OptedOut(context.Context, memory.GuildID, memory.UserID) (bool, error) {
	return false, nil
}
func (s *naive) Forget(context.Context, memory.Forgetting, func(done, total int)) (memory.Receipt, error) {
	return memory.Receipt{}, errors.New("not built")
}
func (s *naive) Unfinished(context.Context) ([]memory.Forgetting, error) {
	return nil, errors.New("not built")
}
func (s *naive) CarryOut(context.Context, int64, func(done, total int)) (memory.Receipt, error) {
	return memory.Receipt{}, errors.New("not built")
}
func (s *naive) Withdrawn(context.Context, int) ([]memory.Withdrawn, error) {
	return nil, errors.New("not built")
}
func (s *naive) Space(context.Context) (memory.Space, error) { return Embedder{}.Space(), nil }
func (s *naive) Waiting(context.Context) (int, error)        { return 0, errors.New("not built") }
