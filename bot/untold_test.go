package bot

import (
	"slices"
	"testing"

	"hark/internal/discordtest"
	"hark/memory"
	"hark/search"
)

// readableIn reports whether messages of a channel may be used in another.
func readableIn(t *testing.T, store *notebook, guild, at, of discordtest.ID) bool {
	g, err := store.Guild(t.Context(), memory.GuildID(guild))
	if err != nil {
		return false
	}
	people, err := store.People(t.Context(), memory.GuildID(guild))
	if err != nil {
		return false
	}
	person := func(id memory.UserID) (memory.Person, bool) {
		i := slices.IndexFunc(people, func(p memory.Person) bool { return p.ID == id })
		if i < 0 {
			return memory.Person{}, false
		}
		return people[i], true
	}
	return slices.Contains(search.Readable(g, search.Place{Channel: memory.ChannelID(at)}, person),
		memory.ChannelID(of))
}

// A field that an event lacks isn't empty: the channel is closed until Discord has told all of it.
func TestIncompleteEventsCloseUntilTheRestIsFetched(t *testing.T) {
	t.Parallel()
	for name, tt := range map[string]struct {
		fetch  string // what is requested then
		event  string
		fields []string
		act    func(s *scene, private, thread discordtest.ID)
		closed func(private, thread discordtest.ID) discordtest.ID // what is closed meanwhile
	}{
		"a channel without its overwrites": {"/channels/*", "CHANNEL_UPDATE",
			[]string{"permission_overwrites"}, renamed, theChannel},
		"a channel without its type": {"/channels/*", "CHANNEL_UPDATE", []string{"type"},
			renamed, theChannel},
		"a channel that may be limited": {"/channels/*", "CHANNEL_UPDATE", []string{"nsfw"},
			renamed, theChannel},
		"a channel of no guild": {"/channels/*", "CHANNEL_UPDATE", []string{"guild_id"}, renamed, theChannel},
		"a channel, and so its thread": {"/channels/*", "CHANNEL_UPDATE",
			[]string{"permission_overwrites"}, renamed, theThread},
		"a thread without its type": {"/channels/*", "THREAD_UPDATE", []string{"type"},
			renamedThread, theThread},
		"a thread without its channel": {"/channels/*", "THREAD_UPDATE",
			[]string{"parent_id"}, renamedThread, theThread},
		"a guild without its roles": {"/guilds/*", "GUILD_UPDATE", []string{"roles"}, handedOver, theChannel},
		"roles without their permissions": {"/guilds/*", "GUILD_UPDATE",
			[]string{"roles.permissions"}, handedOver, theChannel},
		"a role without its permissions": {"/guilds/*", "GUILD_ROLE_UPDATE", []string{"role"},
			roled, theChannel},
		"a guild that comes back, without its channels": {"/guilds/*", "GUILD_CREATE", []string{"channels"},
			back, theChannel},
		"a guild that comes back, with parts of them": {"/channels/*", "GUILD_CREATE",
			[]string{"channels.permission_overwrites"}, back, theChannel},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			s := set(t)
			channel := s.secret("private").ID
			thread := s.addThread("thread", channel).ID
			store := s.overStore(t)
			readable := func(at, of discordtest.ID) bool { return readableIn(t, store, s.guild.ID, at, of) }
			closed := tt.closed(channel, thread)
			s.discord.WaitFor("the channel to be known", func() bool { return readable(closed, closed) })
			fetching := s.discord.Inject("GET "+tt.fetch, 1000, discordtest.Hang())
			s.discord.LeaveOut(tt.event, tt.fields...)
			tt.act(s, channel, thread)
			s.discord.WaitFor("the channel to be closed", func() bool { return !readable(closed, closed) })
			if readable(s.channel, channel) {
				t.Error("what was said in private may be told to all")
			}
			fetching.Release()
			s.discord.WaitFor("the channel to be open again", func() bool { return readable(closed, closed) })
			if readable(s.channel, channel) {
				t.Error("what was said in private may be told to all once it is fetched")
			}
		})
	}
}

func TestARefusalDoesntLeaveAChannelUnknown(t *testing.T) {
	t.Parallel()
	s := set(t)
	s.bot.timing.ingest.Aside = 0
	store := s.overStore(t)
	s.discord.WaitFor("the channel to be known", func() bool {
		return readableIn(t, store, s.guild.ID, s.channel, s.channel)
	})
	refused := s.discord.Inject("GET /channels/*", 1, discordtest.Forbidden())
	s.discord.LeaveOut("CHANNEL_UPDATE", "permission_overwrites")
	renamed(s, s.channel, 0)
	refused.WaitHits(1)
	s.discord.WaitFor("the channel to be open again", func() bool {
		return readableIn(t, store, s.guild.ID, s.channel, s.channel)
	})
}

func theChannel(channel, _ discordtest.ID) discordtest.ID { return channel }
func theThread(_, thread discordtest.ID) discordtest.ID   { return thread }

func renamed(s *scene, channel, _ discordtest.ID) {
	s.discord.UpdateChannel(channel, func(c *discordtest.Channel) { c.Name = "renamed" })
}

func renamedThread(s *scene, _, thread discordtest.ID) {
	s.discord.UpdateChannel(thread, func(c *discordtest.Channel) { c.Name = "renamed" })
}

func handedOver(s *scene, _, _ discordtest.ID) { s.discord.SetOwner(s.guild.ID, s.ana.ID) }

func roled(s *scene, _, _ discordtest.ID) {
	s.discord.UpdateRole(s.guild.ID, s.guild.ID, func(r *discordtest.Role) { r.Name = "all" })
}

func back(s *scene, _, _ discordtest.ID) {
	s.discord.Outage(s.guild.ID, false)
	s.discord.Outage(s.guild.ID, true)
}
