package discordtest_test

import (
	"fmt"
	"testing"
	"time"

	"github.com/bwmarrin/discordgo"

	"hark/internal/discordtest"
)

// commands registers a slash command with options, one with subcommands and a message command.
func commands(t *testing.T, discord *discordtest.Server) {
	t.Helper()
	newREST(t, discord).want(200, 0, "PUT", "/applications/"+discord.AppID.String()+"/commands", []map[string]any{
		{"name": "context", "description": "What I would recall", "options": []map[string]any{
			{"type": 3, "name": "question", "description": "About what", "required": true, "autocomplete": true},
			{"type": 6, "name": "who", "description": "Of whom"}}},
		{"name": "memory", "description": "Memory", "options": []map[string]any{
			{"type": 1, "name": "forget", "description": "Forget"},
			{"type": 1, "name": "keep", "description": "Keep", "options": []map[string]any{
				{"type": 3, "name": "what", "description": "What", "choices": []map[string]any{{"name": "all", "value": "all"}}},
				{"type": 7, "name": "where", "description": "Where", "channel_types": []int{2}}}}}},
		{"name": "Why?", "type": 3},
		{"name": "Who?", "type": 2},
	})
}

func TestInteractionDeferredThenEdited(t *testing.T) {
	t.Parallel()
	discord := discordtest.New(t)
	_, c, ana := place(discord)
	commands(t, discord)
	b := connect(t, discord)
	errs := make(chan error, 1)
	b.AddHandler(func(s *discordgo.Session, i *discordgo.InteractionCreate) {
		go func() { errs <- deferThenEdit(s, i) }()
	})
	i := discord.Slash(c.ID, ana.ID, "context", discordtest.Opt{Name: "question", Value: "when?"},
		discordtest.Opt{Name: "who", Value: ana.ID})
	if r := i.Wait(); !r.Deferred() || !r.Ephemeral {
		t.Errorf("response %+v, want it deferred and ephemeral", r)
	}
	if err := <-errs; err != nil {
		t.Fatal(err)
	}
	m := i.WaitMessage()
	if want := "when? ana"; m.Content != want || m.Flags&discordtest.Ephemeral == 0 {
		t.Errorf("message %q, flags %d, want %q, ephemeral", m.Content, m.Flags, want)
	}
	if f := i.FollowUps(); len(f) != 1 || f[0].Content != "more" {
		t.Errorf("follow-ups %v", f)
	}
	if there := discord.Messages(c.ID); len(there) != 0 {
		t.Errorf("an ephemeral answer is in the channel: %v", there)
	}
}

func deferThenEdit(s *discordgo.Session, i *discordgo.InteractionCreate) error {
	locked := &discordgo.MessageAllowedMentions{Parse: []discordgo.AllowedMentionType{}}
	err := s.InteractionRespond(i.Interaction, &discordgo.InteractionResponse{
		Type: discordgo.InteractionResponseDeferredChannelMessageWithSource,
		Data: &discordgo.InteractionResponseData{Flags: discordgo.MessageFlagsEphemeral},
	})
	if err != nil {
		return fmt.Errorf("defer: %w", err)
	}
	data := i.ApplicationCommandData()
	who := data.GetOption("who").UserValue(nil)
	text := data.GetOption("question").StringValue() + " " + data.Resolved.Users[who.ID].Username
	if _, err := s.InteractionResponseEdit(i.Interaction, &discordgo.WebhookEdit{Content: &text, AllowedMentions: locked}); err != nil {
		return fmt.Errorf("edit: %w", err)
	}
	_, err = s.FollowupMessageCreate(i.Interaction, true, &discordgo.WebhookParams{Content: "more", AllowedMentions: locked,
		Flags: discordgo.MessageFlagsEphemeral})
	return err
}

func callback(i *discordtest.Interaction) string {
	return "/interactions/" + i.ID.String() + "/" + i.Token + "/callback"
}

func followUp(discord *discordtest.Server, i *discordtest.Interaction) string {
	return "/webhooks/" + discord.AppID.String() + "/" + i.Token
}

func message(text string) map[string]any { return map[string]any{"type": 4, "data": plain(text)} }

func TestInteractionAnsweredAloud(t *testing.T) {
	t.Parallel()
	discord := discordtest.New(t)
	_, c, ana := place(discord)
	commands(t, discord)
	r := newREST(t, discord)
	i := discord.Slash(c.ID, ana.ID, "memory forget")
	r.want(200, 0, "POST", callback(i)+"?with_response=true", message("done"))
	if m := i.WaitMessage(); m.Content != "done" || len(discord.Messages(c.ID)) != 1 {
		t.Errorf("answer %q, messages %v", m.Content, discord.Messages(c.ID))
	}
	r.want(200, 0, "GET", followUp(discord, i)+"/messages/@original", nil)
	r.want(200, 0, "POST", followUp(discord, i), plain("and"))
	r.want(200, 0, "PATCH", followUp(discord, i)+"/messages/"+i.FollowUps()[0].ID.String(), plain("and more"))
	r.want(204, 0, "DELETE", followUp(discord, i)+"/messages/@original", nil)
	r.want(404, 10008, "GET", followUp(discord, i)+"/messages/@original", nil)
	if f := i.FollowUps(); len(f) != 1 || len(f[0].Versions) != 2 || f[0].Content != "and more" {
		t.Errorf("follow-ups %+v", f)
	}
}

func TestFirstFollowUpTakesTheDeferredPlace(t *testing.T) {
	t.Parallel()
	discord := discordtest.New(t)
	_, c, ana := place(discord)
	commands(t, discord)
	r := newREST(t, discord)
	i := discord.MessageAction(discord.Say(c.ID, ana.ID, "hm"), ana.ID, "Why?")
	r.want(204, 0, "POST", callback(i), map[string]any{"type": 5})
	if m := discord.Messages(c.ID); len(m) != 2 || m[1].Flags&discordtest.Loading == 0 {
		t.Errorf("messages %+v, want a loading one", m)
	}
	r.want(200, 0, "POST", followUp(discord, i), plain("because"))
	if m := i.WaitMessage(); m.Content != "because" || len(i.FollowUps()) != 0 {
		t.Errorf("answer %q, follow-ups %v", m.Content, i.FollowUps())
	}
}

func TestComponents(t *testing.T) {
	t.Parallel()
	discord := discordtest.New(t)
	_, c, ana := place(discord)
	r := newREST(t, discord)
	body := plain("Forget it?")
	body["components"] = []map[string]any{{"type": 1, "components": []map[string]any{
		{"type": 2, "style": 4, "label": "Forget", "custom_id": "forget"}}}}
	r.want(200, 0, "POST", "/channels/"+c.ID.String()+"/messages", body)
	asked := discord.Sent(c.ID)[0].Message
	i := discord.Click(asked, ana.ID, "forget")
	r.want(204, 0, "POST", callback(i), map[string]any{"type": 9, "data": map[string]any{"custom_id": "sure", "title": "Sure?",
		"components": []map[string]any{{"type": 1, "components": []map[string]any{
			{"type": 4, "custom_id": "why", "label": "Why", "style": 1}}}}}})
	update := plain("Forgotten.")
	update["components"] = []any{}
	next := i.Submit(map[string]string{"why": "because"})
	r.want(204, 0, "POST", callback(next), map[string]any{"type": 7, "data": update})
	if m := discord.Messages(c.ID); len(m) != 1 || m[0].Content != "Forgotten." || len(m[0].Components) != 0 {
		t.Errorf("messages %+v", m)
	}
}

func TestAutocompleteAndUserAction(t *testing.T) {
	t.Parallel()
	discord := discordtest.New(t)
	_, c, ana := place(discord)
	commands(t, discord)
	b := connect(t, discord)
	seen := make(chan *discordgo.InteractionCreate, 2)
	b.AddHandler(func(_ *discordgo.Session, i *discordgo.InteractionCreate) { seen <- i })
	i := discord.Complete(c.ID, ana.ID, "context", discordtest.Opt{Name: "question", Value: "wh"})
	if got := <-seen; got.Type != discordgo.InteractionApplicationCommandAutocomplete || !got.ApplicationCommandData().Options[0].Focused {
		t.Errorf("got %+v", got.Interaction)
	}
	r := newREST(t, discord)
	r.want(204, 0, "POST", callback(i), map[string]any{"type": 8, "data": map[string]any{"choices": []map[string]any{{"name": "when", "value": "when"}}}})
	discord.UserAction(c.ID, ana.ID, ana.ID, "Who?")
	got := <-seen
	if data := got.ApplicationCommandData(); data.TargetID != ana.ID.String() || data.Resolved.Users[data.TargetID].Username != "ana" {
		t.Errorf("got %+v", data)
	}
	if got.Member.Permissions&discordgo.PermissionSendMessages == 0 {
		t.Errorf("permissions %d", got.Member.Permissions)
	}
}

func TestMisuseOfInteractions(t *testing.T) {
	t.Parallel()
	for _, test := range []struct {
		name string
		kind discordtest.Misuse
		act  func(*discordtest.Server, *discordtest.Interaction, *rest)
	}{
		{"late", discordtest.Late, func(d *discordtest.Server, i *discordtest.Interaction, r *rest) {
			d.Advance(3*time.Second + time.Millisecond)
			r.want(404, 10062, "POST", callback(i), message("a"))
		}},
		{"twice", discordtest.AnsweredTwice, func(d *discordtest.Server, i *discordtest.Interaction, r *rest) {
			d.Advance(3 * time.Second)
			r.want(204, 0, "POST", callback(i), message("a"))
			r.want(400, 40060, "POST", callback(i), message("b"))
		}},
		{"expired", discordtest.ExpiredToken, func(d *discordtest.Server, i *discordtest.Interaction, r *rest) {
			r.want(204, 0, "POST", callback(i), message("a"))
			d.Advance(15*time.Minute + time.Millisecond)
			r.want(401, 50027, "PATCH", followUp(d, i)+"/messages/@original", plain("b"))
		}},
		{"not answered", discordtest.Unacknowledged, func(d *discordtest.Server, i *discordtest.Interaction, r *rest) {
			r.want(404, 10015, "POST", followUp(d, i), plain("b"))
		}},
		{"wrong type", discordtest.BadRequest, func(d *discordtest.Server, i *discordtest.Interaction, r *rest) {
			r.want(400, 50035, "POST", callback(i), map[string]any{"type": 7, "data": plain("a")})
		}},
		{"empty", discordtest.Empty, func(d *discordtest.Server, i *discordtest.Interaction, r *rest) {
			r.want(400, 50006, "POST", callback(i), message(""))
		}},
		{"unlocked", discordtest.Unlocked, func(d *discordtest.Server, i *discordtest.Interaction, r *rest) {
			r.want(204, 0, "POST", callback(i), map[string]any{"type": 4, "data": map[string]any{"content": "a"}})
		}},
	} {
		t.Run(test.name, func(t *testing.T) {
			t.Parallel()
			rec, discord := recorded(t)
			_, c, ana := place(discord)
			commands(t, discord)
			test.act(discord, discord.Slash(c.ID, ana.ID, "memory forget"), newREST(t, discord))
			rec.expect(t, test.kind)
			if n := len(discord.Misuses()); n != 1 {
				t.Errorf("reported %v, want one thing", discord.Misuses())
			}
		})
	}
}

func TestDeferredUpdateAndEphemeralFollowUp(t *testing.T) {
	t.Parallel()
	discord := discordtest.New(t)
	_, c, ana := place(discord)
	r := newREST(t, discord)
	body := plain("Pick")
	body["components"] = []map[string]any{{"type": 1, "components": []map[string]any{
		{"type": 3, "custom_id": "menu", "options": []map[string]any{{"label": "a", "value": "a"}}}}},
		{"type": 14}, {"type": 17, "components": []map[string]any{{"type": 10, "content": "boxed"}}},
		{"type": 9, "components": []map[string]any{{"type": 10, "content": "beside"}},
			"accessory": map[string]any{"type": 2, "style": 1, "label": "b", "custom_id": "b"}}}
	r.want(200, 0, "POST", "/channels/"+c.ID.String()+"/messages", body)
	i := discord.Click(discord.Sent(c.ID)[0].Message, ana.ID, "menu", "a")
	r.want(200, 0, "POST", callback(i)+"?with_response=true", map[string]any{"type": 6})
	if !i.Wait().Deferred() {
		t.Errorf("response %+v, want it deferred", i.Wait())
	}
	hidden := plain("only you")
	hidden["flags"] = discordtest.Ephemeral
	r.want(200, 0, "POST", followUp(discord, i), hidden)
	r.want(204, 0, "DELETE", followUp(discord, i)+"/messages/"+i.FollowUps()[0].ID.String(), nil)
	r.want(200, 0, "PATCH", followUp(discord, i)+"/messages/@original", plain("Picked"))
	if ms := discord.Messages(c.ID); len(ms) != 1 || ms[0].Content != "Picked" {
		t.Errorf("messages %+v", ms)
	}
	r.want(404, 10015, "POST", "/webhooks/"+discord.AppID.String()+"/unknown", plain("a"))
	r.want(404, 10062, "POST", "/interactions/5/unknown/callback", message("a"))
}

func TestInteractionInADirectMessage(t *testing.T) {
	t.Parallel()
	discord := discordtest.New(t)
	_, _, ana := place(discord)
	commands(t, discord)
	b := connect(t, discord)
	seen := make(chan *discordgo.InteractionCreate, 1)
	b.AddHandler(func(_ *discordgo.Session, i *discordgo.InteractionCreate) { seen <- i })
	discord.Slash(discord.DM(ana.ID, "hi").ChannelID, ana.ID, "memory forget")
	if i := <-seen; i.User == nil || i.User.ID != ana.ID.String() || i.Member != nil || i.GuildID != "" ||
		i.ApplicationCommandData().Options[0].Name != "forget" {
		t.Errorf("interaction %+v", i.Interaction)
	}
}
