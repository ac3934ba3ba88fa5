package main

import (
	"context"
	"fmt"

	"hark/bot/discord"
	"hark/internal/config"
	"hark/internal/doctor"
	"hark/internal/terminal"
)

// wizard asks for a configuration. Only finish writes it.
type wizard struct {
	*flags
	*terminal.Asker
	path    string
	text    string           // of the file so far
	file    config.Config    // of the text and the environment
	config  config.Config    // with the answers so far
	values  []config.Value   // to set in the text
	account *discord.Account // nil if unknown
	kind    string           // of the server that writes the answers, see server
	kept    []doctor.Finding // what is amiss and was kept anyway
}

// given returns the first of variables that is set; "" if none is.
func (s *wizard) given(variables ...string) string {
	for _, v := range variables {
		if value, _ := s.env.lookup(v); value != "" {
			return v
		}
	}
	return ""
}

// again shows the findings, and if one failed, asks whether to enter the value again.
func (s *wizard) again(ctx context.Context, found ...doctor.Finding) (bool, error) {
	if ctx.Err() != nil {
		return false, terminal.ErrUnwritten
	}
	failed := false
	for _, f := range found {
		fmt.Fprintln(s.Out, f)
		failed = failed || !f.OK
	}
	if !failed {
		return false, nil
	}
	again, err := s.Yes(ctx, "Enter it again? (no: keep it anyway)", true)
	if err == nil && !again {
		s.keep(found)
	}
	return again, err
}

// keep notes what is amiss, to be named at the end.
func (s *wizard) keep(found []doctor.Finding) {
	for _, f := range found {
		if !f.OK {
			s.kept = append(s.kept, f)
		}
	}
}

func (s *wizard) set(key string, value any) {
	s.values = append(s.values, config.Value{Key: key, To: value})
}

// askSecret asks for a secret. An empty answer keeps the known one, which the question calls kept.
func (s *wizard) askSecret(ctx context.Context, what, kept string, secret *config.Secret) error {
	if !secret.IsSet() {
		kept = "none"
	}
	text, err := s.Ask(ctx, what+", which isn't shown (Enter: "+kept+")", true)
	if text != "" {
		*secret = config.NewSecret(text)
	}
	return err
}
