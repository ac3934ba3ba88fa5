package config

import "strings"

// Labels are the words and marks of prompts that aren't the language's own.
type Labels struct {
	Participants string `toml:"participants" help:"The title of the participants, in English \"📋 Conversation Participant Information\". A title holds a letter or a digit."`
	Person       string `toml:"person" help:"Before each participant and each piece of lore: \"• \"."`
	LastActive   string `toml:"last_active" help:"Before when somebody wrote last: \"Last Active: \"."`
	JustNow      string `toml:"just_now" help:"When that is less than a minute ago: \"just now\"."`
	Minute       string `toml:"minute" help:"One minute: \"1 minute ago\"."`
	Minutes      string `toml:"minutes" help:"More of them, for %d: \"%d minutes ago\"."`
	Hour         string `toml:"hour" help:"One hour: \"1 hour ago\"."`
	Hours        string `toml:"hours" help:"More of them: \"%d hours ago\"."`
	Day          string `toml:"day" help:"One day: \"1 day ago\"."`
	Days         string `toml:"days" help:"More of them: \"%d days ago\". After seven it is a date."`
	DataMark     string `toml:"data_mark" help:"Before what is known about a participant, under the name: two spaces and \"└─ \"."`
	Data         string `toml:"data" help:"After that: \"Data: \"."`
	History      string `toml:"history" help:"The title of the history: \"💬 Relevant History\"."`
	High         string `toml:"high" help:"The mark of what is most relevant, above 0.8: \"🔥\", or \"(high)\" without emoji."`
	Medium       string `toml:"medium" help:"Of what is relevant, above 0.6: \"📝\" or \"(medium)\"."`
	Low          string `toml:"low" help:"Of the rest: \"💡\" or \"(low)\"."`
	Involved     string `toml:"involved" help:"Where the asker, or somebody the question is about, wrote it: \"👤\" or \"(involved)\"."`
	Recent       string `toml:"recent" help:"Of the last 24 hours: \"🕐\" or \"(recent)\"."`
	Starred      string `toml:"starred" help:"Of what a member marked as important: \"⭐\" or \"(starred)\"."`
	Neighbour    string `toml:"neighbour" help:"Before the messages shown with one that was found: two spaces and \"┆ \"."`
	NoText       string `toml:"no_text" help:"Where a message has no text: \"(no text)\"."`
	More         string `toml:"more" help:"How many were left out, for %d: \"… and %d more related messages\"."`
	MoreOne      string `toml:"more_one" help:"If it is one: \"… and 1 more related message\"."`
	Earlier      string `toml:"earlier" help:"The title of the summaries of earlier sessions: \"📜 Earlier Sessions\"."`
	EarlierMark  string `toml:"earlier_mark" help:"Before each of them, in every language: \"[previous_context] \"."`
	Condensed    string `toml:"condensed" help:"The title of what the older part of the session that goes on was summed up to: \"🧵 Earlier in This Session\"."`
	Lore         string `toml:"lore" help:"The title of the lore: \"📖 Lore\"."`
	Nothing      string `toml:"nothing" help:"Where nothing was recalled: \"(nothing relevant was found)\"."`
}

// languages are those that labels are there in.
var languages = []string{"en", "de", "fr", "es", "ja", "zh-TW"}

// languageOf is the one of languages that name means, or else name.
func languageOf(name string) string {
	code := strings.ReplaceAll(name, "_", "-")
	if strings.EqualFold(code, "zh-Hant") {
		return "zh-TW"
	}
	for _, l := range languages {
		if strings.EqualFold(l, code) {
			return l
		}
	}
	return name
}
