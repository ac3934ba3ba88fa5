package bot

import (
	"slices"
	"strings"
	"testing"
	"time"

	"hark/internal/answer"
	"hark/internal/discordtest"
	"hark/memory"
	"hark/search"
)

// behindRoles is a scene with two channels, each for those with a role.
type behindRoles struct {
	*scene
	verified, staff discordtest.Role
	hall, office    discordtest.ID
}

func gatedScene(t *testing.T, options ...discordtest.Option) *behindRoles {
	t.Helper()
	s := &behindRoles{scene: set(t, options...)}
	s.bot.timing.gateway.Members = 100 * time.Millisecond
	s.verified = s.discord.AddRole(s.guild.ID, "Verified", 0)
	s.staff = s.discord.AddRole(s.guild.ID, "Moderator", 0)
	only := func(name string, role discordtest.Role) discordtest.ID {
		return s.secret(name, discordtest.ForRole(role.ID, discordtest.ViewChannel, 0)).ID
	}
	s.hall, s.office = only("hall", s.verified), only("office", s.staff)
	s.has(s.ana, s.verified, s.staff)
	return s
}

func (s *behindRoles) has(who discordtest.User, roles ...discordtest.Role) {
	s.discord.UpdateMember(s.guild.ID, who.ID, func(m *discordtest.Member) {
		m.Roles = []discordtest.ID{}
		for _, r := range roles {
			m.Roles = append(m.Roles, r.ID)
		}
	})
}

// opens waits until an answer in the office may, or may not, use what was said in the hall.
func (s *behindRoles) opens(t *testing.T, want bool, when string) {
	t.Helper()
	s.discord.WaitFor(when, func() bool {
		g, err := s.log.Guild(t.Context(), s.guildID)
		if err != nil {
			return false
		}
		place := search.Place{Channel: memory.ChannelID(s.office), Sets: s.bot.ingest.MemberRoles.Sets(g)}
		got := search.Readable(g, place, func(memory.UserID) (memory.Person, bool) { return memory.Person{}, false })
		return slices.Contains(got, place.Channel) && slices.Contains(got, memory.ChannelID(s.hall)) == want
	})
}

// With the Server Members intent an answer may use what all its readers can read. Changes count with their events.
// While anything may have been missed, members may have any roles.
func TestMembersAreKnown(t *testing.T) {
	t.Parallel()
	s := gatedScene(t, discordtest.WithIntents(discordtest.MessageContent|discordtest.Members))
	s.run(t).ready(t)
	s.opens(t, true, "the members are known")
	s.has(s.bo, s.staff)
	s.opens(t, false, "somebody reads the office and not the hall")
	s.has(s.bo, s.staff, s.verified)
	s.opens(t, true, "they read both")
	cy := s.discord.AddMember(s.guild.ID, discordtest.User{Username: "cy"}, s.staff.ID)
	s.opens(t, false, "somebody joined")
	s.discord.RemoveMember(s.guild.ID, cy.ID)
	s.opens(t, true, "they left")

	s.discord.LeaveOut("GUILD_MEMBER_UPDATE", "roles")
	s.has(s.bo, s.verified)
	s.opens(t, true, "what was told unreadably is asked for")
	s.discord.LeaveOut("GUILD_MEMBERS_CHUNK", "members")
	s.discord.Drop()
	s.discord.WaitFor("the connection to be there again", func() bool { return s.discord.Resumes() == 1 })
	s.out.wait(t, "GUILD_MEMBERS_CHUNK")
	s.opens(t, true, "they are known after a lost connection and an unreadable part")
	s.discord.RefuseResumes(1)
	s.discord.Drop()
	s.discord.WaitReady()
	s.opens(t, true, "they are known in a new session")
	s.discord.Outage(s.guild.ID, false)
	s.opens(t, false, "Discord can't tell of the server")
	s.discord.Outage(s.guild.ID, true)
	s.opens(t, true, "it can again")
	if n := len(eventsOf[memory.PersonSeen](s.log)); n > 1 {
		t.Errorf("%d people are logged, of whom nobody but Hark did anything", n)
	}

	s.discord.SetIntents(discordtest.MessageContent)
	s.discord.RefuseResumes(1)
	s.discord.Drop()
	s.out.wait(t, "without Server Members")
	s.discord.WaitReady()
	s.opens(t, false, "the intent was switched off")
	s.oracle.answer = says("Saturday")
	s.ask("when?")
	s.answered(t, s.channel, "Saturday")
	s.oracle.find = func(answer.Question) (answer.FindResult, error) { return answer.FindResult{}, nil }
	s.use(t, s.bo, "recall", opt("question", "when?"))
	if q := s.oracle.questions()[0]; q.RoleSets == nil {
		t.Error("a command doesn't know them")
	}
}

// Until the members are told, and while Hark is cut off, members may have any roles.
func TestMembersAreUnknownMeanwhile(t *testing.T) {
	t.Parallel()
	s := gatedScene(t, discordtest.WithIntents(discordtest.MessageContent|discordtest.Members))
	s.bot.timing.gateway.Members = time.Hour
	s.discord.LeaveOut("GUILD_MEMBERS_CHUNK", "members")
	s.run(t).ready(t)
	s.out.wait(t, "GUILD_MEMBERS_CHUNK")
	s.opens(t, false, "a part is missing")
	s.discord.Drop()
	s.opens(t, true, "they are told after a lost connection")
	s.bot.ingest.MemberRoles.Lose()
	s.opens(t, false, "the connection is lost")
}

// Without the intent, admins state which roles imply others, for all to see, and take it back.
func TestRolesAreStated(t *testing.T) {
	t.Parallel()
	s := gatedScene(t)
	s.run(t).ready(t)
	s.waitIDs()
	state := func(options ...discordtest.Opt) { s.says(t, s.use(t, s.guild.Owner, "hark audience", options...)) }
	also := opt("also", s.verified.ID)
	state()
	s.opens(t, false, "nothing is stated")
	state(opt("role", s.staff.ID), also)
	s.opens(t, true, "moderators are verified")
	state()
	s.says(t, s.use(t, s.bo, "privacy"))
	for _, no := range []discordtest.ID{s.verified.ID, s.guild.ID, s.guild.BotRole.ID} {
		state(opt("role", no), also)
	}
	state(also)
	state(opt("role", s.staff.ID), also, opt("reset", true))
	s.opens(t, false, "it was taken back")
	state(opt("role", s.staff.ID), also)
	s.opens(t, true, "moderators are verified again")
	s.discord.RemoveRole(s.guild.ID, s.verified.ID)
	s.opens(t, false, "the role is gone")
	state()
}

// Only the owner and administrators state which roles go together. Once a member is seen who contradicts it, it counts
// no more, not even for that member's own question, until it is true and stated again.
func TestStatementsThatArentTrueDontCount(t *testing.T) {
	t.Parallel()
	s := gatedScene(t)
	s.discord.SetCommandPermission(s.guild.ID, s.bo.ID, "hark", true)
	s.run(t).ready(t)
	s.waitIDs()
	owner := s.guild.Owner
	role, also := opt("role", s.staff.ID), opt("also", s.verified.ID)
	s.says(t, s.use(t, s.bo, "hark audience", role, also))
	s.opens(t, false, "whoever isn't an administrator states nothing")
	s.use(t, owner, "hark audience", role, also)
	s.opens(t, true, "the owner stated it")

	cy := s.discord.AddMember(s.guild.ID, discordtest.User{Username: "cy"}, s.staff.ID)
	s.oracle.answer = says("Saturday")
	s.discord.Say(s.office, cy.ID, s.discord.Bot.Mention()+" what was said in the hall?")
	s.answered(t, s.office, "Saturday")
	s.opens(t, false, "cy contradicts it")
	if q := s.oracle.questions()[0]; q.OnlyAsker || !slices.Equal(q.Roles, []memory.RoleID{memory.RoleID(s.staff.ID)}) {
		t.Errorf("the asker's roles aren't known: %+v", q)
	}
	direct := s.directWith(owner.ID)
	toldOwner := func(m discordtest.Sent) bool { return strings.Contains(m.Content, "Garden") }
	s.says(t, s.discord.WaitSent(direct, toldOwner))
	for _, name := range []string{"hark audience", "hark status", "privacy"} {
		s.says(t, s.use(t, owner, name))
	}
	s.stops(t)
	s.with(t, Config{Token: s.discord.Token}).begins(t)
	s.opens(t, false, "it doesn't count after a restart either")

	s.says(t, s.use(t, owner, "hark audience", role, also)) // cy, as Discord has them
	s.has(owner, s.staff)
	s.says(t, s.use(t, owner, "hark audience", role, also))
	s.has(owner)
	s.has(cy, s.staff, s.verified) // which Hark isn't told
	s.says(t, s.use(t, owner, "hark audience", role, also))
	s.opens(t, true, "it is true now, and stated again")
	s.says(t, s.use(t, s.bo, "hark audience", role, also, opt("reset", true)))
	s.opens(t, false, "whoever may use the command takes it back")
	told := slices.DeleteFunc(s.discord.Sent(direct), func(m discordtest.Sent) bool { return !toldOwner(m) })
	if len(told) != 1 {
		t.Errorf("the owner was told %d times", len(told))
	}
}

// What a delegate could state before only the owner and administrators could doesn't count, and the owner is told once.
func TestOldStatementsOfDelegatesLapse(t *testing.T) {
	t.Parallel()
	s := gatedScene(t)
	s.run(t).ready(t)
	i := memory.Implied{Role: memory.RoleID(s.staff.ID), Also: memory.RoleID(s.verified.ID)}
	s.apply(t, memory.SettingChosen{Guild: s.guildID, Key: i.Setting(), Value: "on", By: s.boID, At: noon})
	s.stops(t)
	s.with(t, Config{Token: s.discord.Token}).begins(t)
	s.opens(t, false, "a delegate stated it")
	owner := s.guild.Owner
	direct := s.directWith(owner.ID)
	toldOwner := func(m discordtest.Sent) bool { return strings.Contains(m.Content, "Garden") }
	s.says(t, s.discord.WaitSent(direct, toldOwner))
	for _, name := range []string{"hark audience", "hark status"} {
		s.says(t, s.use(t, owner, name))
	}
	s.use(t, owner, "hark audience", opt("role", s.staff.ID), opt("also", s.verified.ID))
	s.opens(t, true, "the owner stated it again")
}

// Whose program asks is looked up at Discord, and contradicts what is stated like everybody else.
func TestProgramsContradictStatements(t *testing.T) {
	t.Parallel()
	s := gatedScene(t)
	s.run(t).ready(t)
	s.waitIDs()
	s.apply(t, memory.SettingChosen{Guild: s.guildID, Key: memory.SettingPrograms, Value: "on", At: s.discord.Now()})
	s.use(t, s.guild.Owner, "hark audience", opt("role", s.staff.ID), opt("also", s.verified.ID))
	s.opens(t, true, "it is stated")
	s.has(s.bo, s.staff) // which Hark isn't told
	s.opens(t, true, "nobody was seen")
	if _, err := s.bot.Asker(t.Context(), s.guildID, s.boID); err != nil {
		t.Fatal(err)
	}
	s.opens(t, false, "bo contradicts it")
}
