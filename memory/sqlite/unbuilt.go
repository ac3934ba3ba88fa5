package sqlite

import (
	"context"
	"errors"
	"hark/memory"
)

func (s *Store) Log(context.Context, memory.ChannelID, memory.MessageID, memory.MessageID, int) ([]memory.Message, error) {
	return nil, errors.New("not built")
}
func (s *Store) HeardUntil(context.Context, memory.GuildID) (map[memory.ChannelID]memory.MessageID, error) {
	return nil, errors.New("not built")
}
func (s *Store) Gaps(context.Context) ([]memory.Gap, error) { return nil, errors.New("not built") }
func (s *Store) OptedOut(context.Context, memory.GuildID, memory.UserID) (bool, error) {
	return false, nil
}
func (s *Store) Forget(context.Context, memory.Forgetting, func(done, total int)) (memory.Receipt, error) {
	return memory.Receipt{}, errors.New("not built")
}
func (s *Store) Unfinished(context.Context) ([]memory.Forgetting, error) {
	return nil, errors.New("not built")
}
func (s *Store) CarryOut(context.Context, int64, func(done, total int)) (memory.Receipt, error) {
	return memory.Receipt{}, errors.New("not built")
}
func (s *Store) Withdrawn(context.Context, int) ([]memory.Withdrawn, error) {
	return nil, errors.New("not built")
}
