package memorytest

import (
	"context"
	"errors"
	"fmt"
	"math"
	"slices"
	"strings"
	"time"

	"hark/memory"
)

// later is when the forgettings here are begun: after all that was said.
var later = began.Add(1000 * time.Hour)

// village is a second guild.
const (
	village memory.GuildID   = 901
	square  memory.ChannelID = 941 // of village
)

// scattered is everything said in these promises, each in words of its own.
func scattered() []memory.Message {
	inVillage := said(square, id(6), ada, "zeppelins over the square")
	inVillage.Guild = village
	return []memory.Message{
		said(general, id(1), ada, "apricots in general"), said(general, id(2), ben, "barley in general"), said(staff, id(3), ada, "cinnamon at work"),
		said(staff, id(4), ben, "dill at work"), said(thread, id(5), ada, "elderberries in a thread"), inVillage,
		said(local, id(7), ada, "figs at the terminal"), said(general, id(8), ada, "ginger much later"),
	}
}

// settle has all that scattered says be said, in two guilds with people of whom something is known, and embedded.
func (t *trial) settle() []memory.Message {
	t.Helper()
	all := scattered()
	t.apply(memory.GuildSeen{Guild: town(), At: began}, memory.GuildSeen{Guild: memory.Guild{
		ID: village, Name: "Village", Roles: []memory.Role{{ID: memory.RoleID(village), Name: "@everyone"}},
		Channels: []memory.Channel{{ID: square, Guild: village, Name: "square"}},
	}, At: began})
	t.post(all...)
	for _, who := range []memory.UserID{ada, ben} {
		for _, where := range []memory.GuildID{guild, village} {
			t.apply(memory.PersonSeen{Person: memory.Person{ID: who, Guild: where, Username: fmt.Sprintf("user%d", who)}},
				memory.FactTold{Guild: where, User: who, Fact: memory.Fact{ID: int64(who), Text: "sails", By: who}})
		}
	}
	t.apply(memory.FactTold{Guild: guild, User: ben, Fact: memory.Fact{ID: 77, Text: "eats apricots", By: ada, Channel: general, Message: id(1)}},
		memory.Named{Channel: general, ID: id(1), Name: "m1"})
	t.embedAll()
	return all
}

// only fails the test unless exactly those of all that stay are known of, and nothing of the others is.
func (t *trial) only(all []memory.Message, stay ...int) {
	t.Helper()
	for i, m := range all {
		if slices.Contains(stay, i) {
			t.same("what stays", t.messages(m.Channel, m.ID), []memory.Message{m})
			t.same("what stays, found", sorted(t.find(in(m.Channel), m.Content)), found(all, stay, m))
			continue
		}
		t.unsaid(m)
	}
	for _, channel := range []memory.ChannelID{general, staff, thread, square, local} {
		count := 0
		present := map[memory.UserID]int{}
		for i, m := range all {
			if m.Channel == channel && slices.Contains(stay, i) {
				count++
				present[m.Author]++
			}
		}
		n, _ := t.frequencies(in(channel), "the")
		t.same("how many messages there are", n, count)
		t.same("the log's length", len(t.log(channel)), count)
		for _, who := range []memory.UserID{ada, ben} {
			t.same("presence", t.presence(in(channel), who)[who].Messages, present[who])
		}
	}
}

// found are those of all that stay and share a word with m.
func found(all []memory.Message, stay []int, m memory.Message) []memory.MessageID {
	var ids []memory.MessageID
	for _, i := range stay {
		if all[i].Channel == m.Channel && (all[i].ID == m.ID || len(common(all[i].Content, m.Content)) > 0) {
			ids = append(ids, all[i].ID)
		}
	}
	return ids
}

func common(a, b string) []string {
	return slices.DeleteFunc(strings.Fields(a), func(w string) bool {
		return len(w) < 3 || !slices.Contains(strings.Fields(b), w)
	})
}

// unsaid fails the test if any answer of the store still knows of m.
func (t *trial) unsaid(m memory.Message) {
	t.Helper()
	t.same("Messages", t.messages(m.Channel, m.ID), []memory.Message(nil))
	if slices.Contains(idsOf(t.around(m.Channel, []memory.MessageID{m.ID}, 3, 3)), m.ID) || slices.Contains(idsOf(t.log(m.Channel)), m.ID) {
		t.Fatalf("%q is still in the log", m.Content)
	}
	word := strings.Fields(m.Content)[0]
	t.same("FullText of "+word, t.find(in(m.Channel), word), []memory.MessageID(nil))
	_, counts := t.frequencies(in(m.Channel), word)
	t.same("Frequencies of "+word, counts, []int{0})
	if name := t.names(m.Channel, m.ID); len(name) > 0 {
		t.Fatalf("it is still called %v", name)
	}
	for _, s := range t.pending() {
		for _, p := range s.Messages {
			if p.Channel == m.Channel && p.ID == m.ID {
				t.Fatalf("segment %d is to be embedded with %q", s.ID, p.Content)
			}
		}
	}
	for _, hit := range t.nearest(in(m.Channel), m.Content, 100) {
		if slices.Contains(hit.Messages, m.ID) || hit.Similarity > 0.8 {
			t.Fatalf("Nearest to %q still finds %v, at %.2f", m.Content, hit.Messages, hit.Similarity)
		}
	}
}

// people known in a guild, by id.
func (t *trial) known(guild memory.GuildID) []memory.UserID {
	t.Helper()
	var ids []memory.UserID
	for _, p := range t.people(guild) {
		ids = append(ids, p.ID)
	}
	return ids
}

// counts fails the test unless a receipt has these numbers, and of what stores cut as they like no impossible one.
func (t *trial) counts(r memory.Receipt, messages, facts, people int) {
	t.Helper()
	t.same("messages, facts and people forgotten", []int{r.Messages, r.Facts, r.People}, []int{messages, facts, people})
	if (r.Segments == 0) != (messages == 0) || r.Vectors < 0 || r.Vectors > r.Segments || r.Forgetting.ID == 0 {
		t.Fatalf("the receipt is %+v", r)
	}
}

var forgetPromises = []promise{
	{"what somebody said in a guild is forgotten, with all that is known of them there", func(t *trial) {
		all := t.settle()
		r := t.forget(memory.Forgetting{Guild: guild, User: ada, Why: memory.WhyMember, At: later})
		t.only(all, 1, 3, 5, 6)
		t.counts(r, 4, 2, 1)
		t.same("who is known", t.known(guild), []memory.UserID{ben})
		t.same("what is known of somebody else", t.facts(ben), []memory.Fact{{ID: int64(ben), Text: "sails", By: ben}})
		t.same("who is known elsewhere", t.known(village), []memory.UserID{ada, ben})
		t.same("unfinished", t.unfinished(), []memory.Forgetting(nil))
		f := r.Forgetting
		t.same("of the receipt", []any{f.Guild, f.User, f.Channel, f.Why, f.At.UTC()}, []any{guild, ada, memory.ChannelID(0), memory.WhyMember, later})
	}},
	{"what somebody said is forgotten everywhere", func(t *trial) {
		all := t.settle()
		r := t.forget(memory.Forgetting{Guild: memory.Everywhere, User: ada, Why: memory.WhyMember, At: later})
		t.only(all, 1, 3)
		t.counts(r, 6, 3, 2)
		t.same("who is known", append(t.known(guild), t.known(village)...), []memory.UserID{ben, ben})
	}},
	{"a channel is forgotten with its threads", func(t *trial) {
		all := t.settle()
		t.counts(t.forget(memory.Forgetting{Guild: guild, Channel: general, Why: memory.WhyPurge, At: later}), 4, 1, 0)
		t.only(all, 2, 3, 5, 6)
		t.same("who is known", t.known(guild), []memory.UserID{ada, ben})
		t.same("what was told there", t.facts(ben), []memory.Fact{{ID: int64(ben), Text: "sails", By: ben}})
		t.same("the channel itself", t.channel(guild, general).Name, "general")
	}},
	{"a thread that is told of after its channel was forgotten belongs to it", func(t *trial) {
		t.forget(memory.Forgetting{Guild: guild, Channel: general, Why: memory.WhyPurge, At: later})
		t.apply(memory.ChannelSeen{Channel: memory.Channel{ID: thread, Guild: guild, Parent: general, Kind: memory.PublicThread, Name: "thread"}},
			memory.Posted{Message: said(thread, id(5), ada, "elderberries in a thread")})
		t.same("the log", t.log(thread), []memory.Message(nil))
		t.post(said(thread, memory.FirstMessageID(later)-1, ada, "at the last moment"))
		t.same("what was said just before", t.log(thread), []memory.Message(nil))
		after := said(thread, memory.FirstMessageID(later), ada, "said later")
		t.post(after)
		t.same("what was said later", t.log(thread), []memory.Message{after})
	}},
	{"the name of a channel that was deleted is gone, and those of its threads, and they don't come back", func(t *trial) {
		post := memory.Channel{ID: thread, Guild: guild, Parent: general, Kind: memory.PublicThread, Name: "post"}
		t.apply(memory.GuildSeen{Guild: town()}, memory.ChannelSeen{Channel: post})
		t.apply(memory.ChannelDeleted{Guild: guild, Channel: general, At: later})
		for range 2 {
			t.same("names", []string{t.channel(guild, general).Name, t.channel(guild, thread).Name, t.channel(guild, staff).Name}, []string{"", "", "staff"})
			post.Unplaced = true // in a file
			t.apply(memory.ChannelSeen{Channel: post}, memory.ChannelSeen{Channel: memory.Channel{ID: general, Guild: guild, Name: "general", Unplaced: true}})
			post.Unplaced = false
			t.apply(memory.ChannelSeen{Channel: post}, memory.ChannelSeen{Channel: town().Channels[0]})
		}
	}},
	{"a thread's name goes with whoever made it, and comes not back", func(t *trial) {
		of := func(id memory.MessageID, parent memory.ChannelID, by memory.UserID, name string) memory.Channel {
			return memory.Channel{ID: memory.ChannelID(id), Guild: guild, Parent: parent, Kind: memory.PublicThread, Name: name, Owner: by}
		}
		posts := []memory.Channel{of(id(1), general, ada, "ada's"), of(id(2), general, ben, "ben's"), of(id(3), staff, ada, "ada's, elsewhere"), of(id(900), general, ada, "ada's, later")}
		t.apply(memory.GuildSeen{Guild: town()})
		see := func() {
			for _, c := range posts {
				t.apply(memory.ChannelSeen{Channel: c})
			}
		}
		named := func(what string, want ...string) {
			t.Helper()
			var names []string
			for range 2 {
				names = nil
				for _, c := range posts {
					names = append(names, t.channel(guild, c.ID).Name)
				}
				t.same(what, names, want)
				see()
			}
			unknown := posts[0]
			unknown.Owner = 0 // as what tells it sometimes is
			t.apply(memory.ChannelSeen{Channel: unknown})
			t.same(what+", told of without who made it", t.channel(guild, unknown.ID).Name, want[0])
		}
		see()
		t.forget(memory.Forgetting{Guild: guild, Channel: general, Why: memory.WhyPurge, At: id(500).Time()})
		named("what was said there was forgotten", "ada's", "ben's", "ada's, elsewhere", "ada's, later")
		t.forget(memory.Forgetting{Guild: guild, Channel: general, User: ada, Why: memory.WhyMember, At: id(500).Time()})
		named("forgotten in a channel", "", "ben's", "ada's, elsewhere", "ada's, later")
		t.apply(memory.Opted{Guild: guild, User: ada, Out: true, At: id(600).Time()})
		see()
		named("out", "", "ben's", "", "")
		t.apply(memory.Opted{Guild: guild, User: ada, Out: false, At: id(700).Time()})
		see()
		named("in again", "", "ben's", "", "ada's, later")
	}},
	{"a prompt that shows a name that is forgotten goes", func(t *trial) {
		thread := memory.Channel{ID: thread, Guild: guild, Parent: staff, Kind: memory.PublicThread, Name: "[plans] for *spring*", Owner: ada}
		t.apply(memory.GuildSeen{Guild: town()}, memory.ChannelSeen{Channel: thread})
		for i, content := range []string{"what is said in [plans] for", "in (plans) for", "in staff"} {
			answer := said(general, id(10+i), hark, "it is so")
			answer.Kind = memory.FromHark
			question := said(general, id(20+i), ben, "is it so?")
			t.post(question, answer)
			p := sent()
			p.Messages[1].Content, p.Built = content, began
			t.keep(memory.Trace{Guild: guild, Channel: general, Answer: answer.ID, Question: question.ID, Asker: ben, Sources: []memory.Source{repeated(general, question.ID, 0)}, Prompt: p})
		}
		t.forget(memory.Forgetting{Guild: guild, Channel: staff, User: ada, Why: memory.WhyMember, At: later})
		for i, want := range []bool{false, false, true} {
			_, kept := t.prompt(general, id(10+i))
			t.same("whether a prompt is kept", kept, want)
		}
	}},
	{"direct messages are forgotten by themselves", func(t *trial) {
		direct := memory.Message{ID: id(1), Guild: memory.DirectGuild, Channel: 931, Author: ada, Content: "jasmine between us"}
		reply := memory.Message{ID: id(2), Guild: memory.DirectGuild, Channel: 931, Author: ben, Content: "lavender between us"}
		t.post(direct, reply, said(general, id(1), ada, "in a guild"), said(local, id(1), ada, "at the terminal"))
		t.same("how many", t.forget(memory.Forgetting{Guild: memory.DirectGuild, User: ada, Why: memory.WhyMember, At: later}).Messages, 1)
		t.unsaid(direct)
		t.same("what stays", append(t.log(931), append(t.log(general), t.log(local)...)...),
			[]memory.Message{reply, said(general, id(1), ada, "in a guild"), said(local, id(1), ada, "at the terminal")})
	}},
	{"a thread is forgotten without its channel", func(t *trial) {
		all := t.settle()
		t.counts(t.forget(memory.Forgetting{Guild: guild, Channel: thread, Why: memory.WhyPurge, At: later}), 1, 0, 0)
		t.only(all, 0, 1, 2, 3, 5, 6, 7)
	}},
	{"a guild is forgotten with its people, its structure and what was chosen in it, but not who opted out", func(t *trial) {
		all := t.settle()
		t.apply(memory.Chose{Guild: guild, Choice: memory.Remember, At: began}, memory.Opted{Guild: guild, User: hark, Out: true, At: began},
			memory.Learn{Guild: guild, On: true, At: began}, memory.Learn{Guild: guild, User: ada, On: true, At: began}, memory.Learn{Guild: village, On: true, At: began})
		r := t.forget(memory.Forgetting{Guild: guild, Why: memory.WhyLeft, At: later})
		t.only(all, 5, 6)
		t.counts(r, 6, 3, 2)
		t.same("who is known", append(t.known(guild), t.known(village)...), []memory.UserID{ada, ben})
		g, err := t.store.Guild(t.ctx, guild)
		if err == nil && (g.Name != "" || g.Owner != 0 || len(g.Roles) > 0 || len(g.Channels) > 0 || g.Choice != memory.Undecided) || err != nil && !notFound(err) {
			t.Fatalf("the guild is still %+v, %v", g, err)
		}
		t.same("another guild", t.guild(village).Name, "Village")
		t.same("opted out", t.optedOut(guild, hark), true)
		t.apply(memory.GuildSeen{Guild: town(), At: later.Add(time.Hour)})
		t.same("seen again", t.guild(guild).Name, "Town")
		t.same("chosen, when it is seen again", t.guild(guild).Choice, memory.Undecided)
		t.apply(memory.PersonSeen{Person: memory.Person{ID: ada, Guild: guild}})
		t.same("whether facts may be learned", []bool{t.guild(guild).Learn.IsZero(), t.people(guild)[0].Learn.IsZero(), t.guild(village).Learn.IsZero()}, []bool{true, true, false})
		t.listensFrom(later.Add(time.Hour), general)
		back := said(general, memory.FirstMessageID(later.Add(2*time.Hour)), ada, "back again")
		t.post(back, all[0])
		t.same("the log", t.log(general), []memory.Message{back})
	}},
	{"a guild is forgotten but for Hark's own roles, as long as Hark is in it", func(t *trial) {
		t.settle()
		seen := town()
		seen.Self = hark
		t.apply(memory.GuildSeen{Guild: seen, At: began}, memory.PersonSeen{Person: memory.Person{ID: hark, Guild: guild, Roles: []memory.RoleID{901}}})
		t.same("people who went", t.forget(memory.Forgetting{Guild: guild, Why: memory.WhyPurge, At: later}).People, 2)
		t.same("who is known", t.known(guild), []memory.UserID{hark})
		t.forget(memory.Forgetting{Guild: guild, Why: memory.WhyLeft, At: later.Add(time.Second)})
		t.same("who is known once Hark has left", len(t.known(guild)), 0)
	}},
	{"what was said before a time is forgotten, and not what was said at it", func(t *trial) {
		all := t.settle()
		t.counts(t.forget(memory.Forgetting{Guild: guild, Before: id(4).Time(), Why: memory.WhyAge, At: later}), 3, 1, 0)
		t.only(all, 3, 4, 5, 6, 7)
		t.same("who is known", t.known(guild), []memory.UserID{ada, ben})
		t.same("the guild", t.guild(guild).Name, "Town")
		t.counts(t.forget(memory.Forgetting{Guild: memory.Everywhere, Before: id(7).Time(), Why: memory.WhyAge, At: later}), 3, 0, 0)
		t.only(all, 6, 7)
	}},
	{"what isn't said yet can't be forgotten", func(t *trial) {
		all := t.settle()
		t.counts(t.forget(memory.Forgetting{Guild: guild, Channel: general, Before: later.Add(time.Hour), Why: memory.WhyPurge, At: id(4).Time()}), 2, 1, 0)
		t.only(all, 2, 3, 4, 5, 6, 7)
		said := said(general, memory.FirstMessageID(later.Add(time.Minute)), ada, "said since")
		t.post(said)
		t.same("what was said since", slices.ContainsFunc(t.log(general), func(m memory.Message) bool { return m.ID == said.ID }), true)
	}},
	{"only that is forgotten for which all holds that is set", func(t *trial) {
		all := t.settle()
		r := t.forget(memory.Forgetting{Guild: guild, Channel: general, User: ada, Before: id(8).Time(), Why: memory.WhyPurge, At: later})
		t.counts(r, 2, 1, 0)
		t.only(all, 1, 2, 3, 5, 6, 7)
		t.counts(t.forget(memory.Forgetting{Guild: village, Channel: general, Why: memory.WhyPurge, At: later}), 0, 0, 0)
		t.counts(t.forget(memory.Forgetting{Guild: guild, User: ben, Before: id(3).Time(), Why: memory.WhyPurge, At: later}), 1, 0, 0)
		t.only(all, 2, 3, 5, 6, 7)
		t.same("who is known", t.known(guild), []memory.UserID{ada, ben})
	}},
	{"what is forgotten doesn't come back, and what is said later stays", func(t *trial) {
		all := t.settle()
		t.forget(memory.Forgetting{Guild: guild, User: ada, Why: memory.WhyMember, At: later})
		for _, m := range all {
			t.post(m, edited(m, 60, m.Content+" more"))
		}
		never := said(staff, id(50), ada, "hawthorn, never told of before")
		after := said(staff, memory.FirstMessageID(later), ada, "ivy, said afterwards")
		t.post(never, after)
		t.apply(memory.Edited{Guild: guild, Channel: general, ID: id(1), Content: "apricots in general", At: began.Add(2 * time.Hour)},
			memory.Starred{Guild: guild, Channel: general, ID: id(1), On: true, At: later})
		for _, m := range []memory.Message{all[0], all[2], all[4], all[7], never} {
			t.unsaid(m)
		}
		t.same("what was said later", t.messages(staff, after.ID), []memory.Message{after})
		t.embedAll()
		t.unsaid(all[0])
		t.apply(memory.PersonSeen{Person: memory.Person{ID: ada, Guild: guild, Username: "ada"}, Said: id(1)})
		t.same("who told of themselves before", t.known(guild), []memory.UserID{ben})
		t.apply(memory.PersonSeen{Person: memory.Person{ID: ada, Guild: guild, Username: "ada"}, Said: after.ID})
		t.same("who is still there", t.known(guild), []memory.UserID{ada, ben})
		t.same("what is known of who is still there", t.facts(ada), []memory.Fact(nil))
		t.apply(memory.FactTold{Guild: guild, User: ada, Fact: memory.Fact{ID: int64(ada), Text: "sails", By: ada}},
			memory.FactTold{Guild: guild, User: ben, Fact: memory.Fact{ID: 77, Text: "eats apricots", By: ada, Channel: general, Message: id(1)}})
		t.same("a fact told again", t.facts(ada), []memory.Fact(nil))
		t.same("a fact told again of another", t.facts(ben), []memory.Fact{{ID: int64(ben), Text: "sails", By: ben}})
	}},
	{"a forgetting of less, later, lets nothing of an earlier one back", func(t *trial) {
		t.apply(memory.GuildSeen{Guild: town()})
		at := func(n int) time.Time { return id(n).Time() }
		for _, f := range []memory.Forgetting{
			{Before: at(60), At: at(90)}, {Before: at(10), At: at(91)}, {Before: at(11), At: at(92)},
		} {
			f.Guild, f.Channel, f.Why = guild, general, memory.WhyPurge
			t.forget(f)
		}
		gone, stays := said(general, id(50), ada, "gone"), said(general, id(70), ada, "stays")
		t.post(gone, stays)
		t.same("the log", t.log(general), []memory.Message{stays})
	}},
	{"nothing that was said before comes into a channel or guild that was forgotten", func(t *trial) {
		t.forget(memory.Forgetting{Guild: guild, Channel: general, Why: memory.WhyPurge, At: later})
		t.forget(memory.Forgetting{Guild: village, Before: later, Why: memory.WhyAge, At: later})
		all := scattered()
		t.apply(memory.Edited{Guild: guild, Channel: general, ID: id(2), Content: "an edit that overtook", At: began.Add(time.Hour)})
		t.post(all...)
		t.same("the channel", t.log(general), []memory.Message(nil))
		t.same("the guild", t.log(square), []memory.Message(nil))
		t.same("the rest", append(t.log(staff), t.log(local)...), []memory.Message{all[2], all[3], all[6]})
	}},
	{"the text of an edit that came before its message is forgotten with its channel", func(t *trial) {
		t.apply(memory.GuildSeen{Guild: town()}, memory.Edited{Guild: guild, Channel: general, ID: id(1), Content: "overtook", At: began.Add(time.Hour)})
		r := t.forget(memory.Forgetting{Guild: guild, Channel: general, Why: memory.WhyPurge, At: later})
		t.same("how many messages", r.Messages, 1)
		t.post(said(general, id(1), ada, "late"))
		t.same("the log", t.log(general), []memory.Message(nil))
	}},
	{"answers made from what is forgotten go, and are withdrawn until Discord shows it", func(t *trial) {
		t.apply(memory.GuildSeen{Guild: town()})
		trace := t.answered()
		r := t.forget(memory.Forgetting{Guild: guild, Channel: staff, Why: memory.WhyPurge, At: later})
		t.answerGone(trace)
		t.same("the question", idsOf(t.log(general)), []memory.MessageID{trace.Question})
		t.same("answers", r.Answers, 1)
		if r.Messages != 2 && r.Messages != 4 { // whether the answer's own count is the store's affair
			t.Fatalf("the receipt is %+v", r)
		}
		first := memory.Withdrawn{Guild: guild, Channel: general, Message: trace.Answer, First: true}
		part := memory.Withdrawn{Guild: guild, Channel: general, Message: trace.Parts[0]}
		t.same("withdrawn", t.withdrawn(), []memory.Withdrawn{first, part})
		one, err := t.store.Withdrawn(t.ctx, 1)
		if err != nil {
			t.Fatalf("Withdrawn: %v", err)
		}
		t.same("the oldest one", one, []memory.Withdrawn{first})
		t.apply(memory.Marked{Channel: general, Message: first.Message})
		t.same("after one was marked", t.withdrawn(), []memory.Withdrawn{part})
		t.apply(memory.Marked{Channel: general, Message: part.Message}, memory.Marked{Channel: staff, Message: part.Message})
		t.same("after both were", t.withdrawn(), []memory.Withdrawn(nil))
		t.forget(memory.Forgetting{Guild: guild, Channel: staff, Why: memory.WhyPurge, At: later})
		t.same("forgotten once more", t.withdrawn(), []memory.Withdrawn(nil))
	}},
	{"an answer whose source was edited is withdrawn, unless its text is the same", func(t *trial) {
		trace := t.answered()
		was := t.log(staff)[0]
		t.apply(memory.Edited{Guild: guild, Channel: staff, ID: id(1), Content: was.Content, At: began.Add(time.Hour)})
		t.post(edited(was, 120, was.Content))
		if _, ok := t.trace(general, trace.Answer); !ok {
			t.Fatalf("the answer is gone, although nothing was changed")
		}
		t.apply(memory.Edited{Guild: guild, Channel: staff, ID: id(1), Content: "the ferry leaves at two", At: began.Add(3 * time.Hour)})
		t.answerGone(trace)
		t.same("withdrawn", t.withdrawn(), []memory.Withdrawn{{Guild: guild, Channel: general, Message: trace.Answer, First: true},
			{Guild: guild, Channel: general, Message: trace.Parts[0]}})
	}},
	{"an answer whose source was forgotten while it was written is deleted when its trace comes", func(t *trial) {
		for i, f := range []memory.Forgetting{
			{Guild: guild, User: ben}, {Guild: guild, Channel: staff, User: ben, Before: later}, {Guild: guild, Channel: staff}, {Guild: guild, Before: later},
		} {
			source := said(staff, id(100+i), ben, "the ferry leaves at noon")
			t.post(source)
			f.Why, f.At = memory.WhyPurge, later.Add(time.Duration(i)*time.Minute)
			if f.Before.IsZero() {
				f.Before = source.Time().Add(time.Millisecond)
			}
			t.forget(f)
			answer := said(general, memory.FirstMessageID(later.Add(time.Hour))+memory.MessageID(i), hark, "At noon")
			answer.Kind = memory.FromHark
			trace := memory.Trace{Guild: guild, Channel: general, Answer: answer.ID, Asker: ada, Sources: []memory.Source{repeated(staff, source.ID, 0)}}
			if i%2 == 0 {
				t.apply(memory.Posted{Message: answer}, memory.Answered{Trace: trace})
			} else {
				t.post(answer)
				t.keep(trace)
			}
			t.answerGone(trace)
			if all := t.withdrawn(); len(all) != i+1 || all[i].Message != answer.ID {
				t.Fatalf("withdrawn: %+v", all)
			}
		}
	}},
	{"forgetting twice forgets nothing more", func(t *trial) {
		all := t.settle()
		f := memory.Forgetting{Guild: guild, User: ada, Why: memory.WhyMember, At: later}
		t.forget(f)
		r := t.forget(f)
		t.same("the second time", []int{r.Messages, r.Segments, r.Vectors, r.Answers, r.Facts, r.People}, []int{0, 0, 0, 0, 0, 0})
		t.only(all, 1, 3, 5, 6)
	}},
	{"what is carried out can be asked about again", func(t *trial) {
		t.settle()
		r := t.forget(memory.Forgetting{Guild: guild, User: ada, Why: memory.WhyMember, At: later})
		t.same("the receipt", settled(t.carryOut(r.Forgetting.ID)), settled(r))
		for _, id := range []int64{0, r.Forgetting.ID + 1000, -1} {
			if _, err := t.store.Resume(t.ctx, id, nil); !notFound(err) {
				t.Fatalf("Resume(%d): %v", id, err)
			}
		}
	}},
	{"a forgetting that was broken off hides everything, and can be carried on", brokenOff},
	{"a forgetting that hasn't begun forgets nothing", func(t *trial) {
		all := t.settle()
		ctx, cancel := context.WithCancel(t.ctx)
		cancel()
		_, err := t.store.Forget(ctx, memory.Forgetting{Guild: guild, User: ada, Why: memory.WhyMember, At: later}, nil)
		if err == nil || len(t.unfinished()) > 0 {
			t.only(all, 1, 3, 5, 6)
			return
		}
		t.only(all, 0, 1, 2, 3, 4, 5, 6, 7)
	}},
	{"what was said in a channel that is deleted is forgotten from then on", func(t *trial) {
		all := t.settle()
		gone := memory.ChannelDeleted{Guild: guild, Channel: general, At: later}
		t.apply(gone)
		t.same("unplaced", []bool{t.channel(guild, general).Unplaced, t.channel(guild, thread).Unplaced, t.channel(guild, staff).Unplaced}, []bool{true, true, false})
		t.only(all, 2, 3, 5, 6)
		t.same("a fact that was told there", t.facts(ben), []memory.Fact{{ID: int64(ben), Text: "sails", By: ben}})
		late := said(general, memory.FirstMessageID(later.Add(time.Hour)), ben, "late to be told of")
		t.post(late, all[0])
		t.only(all, 2, 3, 5, 6)
		t.unsaid(late)
		t.apply(gone)
		f := t.oneUnfinished()
		t.same("what is unfinished", []any{f.Guild, f.Channel, f.User, f.Why, f.At.UTC()}, []any{guild, general, memory.UserID(0), memory.WhyDeleted, later})
		t.counts(t.carryOut(f.ID), 4, 1, 0)
		t.same("unfinished", t.unfinished(), []memory.Forgetting(nil))
		t.post(all[1], late)
		t.embedAll()
		t.only(all, 2, 3, 5, 6)
		t.unsaid(late)
	}},
	{"what another store had on record is forgotten once, and stays so", func(t *trial) {
		all := t.settle()
		f := memory.Forgetting{Guild: guild, Channel: general, Before: later.Add(-time.Hour), Why: memory.WhyPurge, At: later}
		t.apply(f)
		t.only(all, 2, 3, 5, 6)
		less := f
		less.Before = f.Before.Add(-time.Hour)
		t.apply(f, less)
		t.carryOut(t.oneUnfinished().ID)
		t.post(all[0], all[1])
		t.apply(f)
		t.same("unfinished", t.unfinished(), []memory.Forgetting(nil))
		t.only(all, 2, 3, 5, 6)
		if err := t.store.Apply(t.ctx, memory.Forgetting{Guild: guild, Why: memory.WhyPurge}); !errors.Is(err, memory.ErrRefused) {
			t.Fatalf("one without a time: %v", err)
		}
	}},
	{"nothing that is being forgotten is to be embedded", func(t *trial) {
		t.apply(memory.GuildSeen{Guild: town()})
		t.post(said(general, id(1), ada, "apricots"), said(thread, id(2), ben, "barley"), said(staff, id(3), ben, "cinnamon"))
		before := t.pending()
		t.apply(memory.ChannelDeleted{Guild: guild, Channel: general, At: later})
		var left []memory.Message
		for _, s := range t.pending() {
			left = append(left, s.Messages...)
		}
		t.same("pending", idsOf(left), []memory.MessageID{id(3)})
		t.embedded(before) // as an indexer that had read them earlier does
		t.same("near", t.nearest(in(general, thread), "apricots barley", 5), []memory.VectorHit(nil))
		t.carryOut(t.oneUnfinished().ID)
		t.embedAll()
		t.same("near afterwards", t.nearest(in(general, thread), "apricots barley", 5), []memory.VectorHit(nil))
		t.same("near elsewhere", len(t.nearest(in(staff), "cinnamon", 5)), 1)
	}},
}

// settled is r with its times in UTC.
func settled(r memory.Receipt) memory.Receipt {
	r.Forgetting.At, r.Forgetting.Before = r.Forgetting.At.UTC(), r.Forgetting.Before.UTC()
	return r
}

// brokenOff breaks off a forgetting as soon as it tells of its progress.
func brokenOff(t *trial) {
	const many = 1500
	t.apply(memory.GuildSeen{Guild: town()})
	var batch []memory.Event
	for i := range many {
		batch = append(batch, memory.Posted{Message: said(general, id(i*20), []memory.UserID{ada, ben, ben}[i%3], "tide")})
	}
	t.apply(batch...)
	ctx, cancel := context.WithCancel(t.ctx)
	defer cancel()
	hidden := func() {
		n, counts := t.frequencies(in(general), "tide")
		t.same("how many are known of", []int{n, counts[0], len(t.log(general))}, []int{many * 2 / 3, many * 2 / 3, many * 2 / 3})
		t.same("presence", t.presence(in(general), ada), map[memory.UserID]memory.Presence{})
		for _, s := range t.pending() {
			if slices.ContainsFunc(s.Messages, func(m memory.Message) bool { return m.Author == ada }) {
				t.Fatalf("segment %d is pending with a forgotten message", s.ID)
			}
		}
	}
	_, err := t.store.Forget(ctx, memory.Forgetting{Guild: guild, User: ada, Why: memory.WhyMember, At: later}, func(int, int) { cancel() })
	hidden()
	if err == nil {
		t.same("unfinished after it was carried out", t.unfinished(), []memory.Forgetting(nil))
		return
	}
	last := 0
	r, err := t.store.Resume(t.ctx, t.oneUnfinished().ID, func(done, total int) {
		if done < last || done > total || total > many/3 {
			last = math.MaxInt
		}
		last = max(last, done)
	})
	if err != nil || last == math.MaxInt || r.Messages != many/3 {
		t.Fatalf("Resume: %+v, %d done at last, %v", r, last, err)
	}
	hidden()
	t.same("unfinished", t.unfinished(), []memory.Forgetting(nil))
}
