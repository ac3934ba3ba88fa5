package bot

// languagesOf are what Discord calls the languages that there are catalogs of, by the catalogs' names.
// https://discord.com/developers/docs/reference#locales
var languagesOf = map[string][]string{
	"de": {"de"}, "fr": {"fr"}, "es": {"es-ES", "es-419"}, "ja": {"ja"}, "zh-TW": {"zh-TW"},
}

// inLanguages are commands with their names and descriptions in all languages, as they are registered. Whatever language
// somebody uses a command in, Discord tells of it by its English name.
func inLanguages(commands []command) []command {
	all := make([]command, len(commands))
	for i, c := range commands {
		c.NameIn, c.DescriptionIn = inAll(c.Name, nameIn), inAll(c.Description, wordsIn)
		c.Options, c.handler = optionsInLanguages(c.Options), nil
		all[i] = c
	}
	return all
}

func optionsInLanguages(options []option) []option {
	var all []option
	for _, o := range options {
		o.NameIn, o.DescriptionIn = inAll(o.Name, nameIn), inAll(o.Description, wordsIn)
		o.Options = optionsInLanguages(o.Options)
		for _, c := range o.Choices {
			of := offered{optionChoice: c}
			if c.Name != c.Value { // else it is a word that stands for itself
				of.NameIn = inAll(c.Name, wordsIn)
			}
			o.Offered = append(o.Offered, of)
		}
		o.Choices, o.handler = nil, nil
		all = append(all, o)
	}
	return all
}

func nameIn(c *catalog, english string) string  { return c.commands[english] }
func wordsIn(c *catalog, english string) string { return c.texts[english] }

// inAll is a text in all languages that have it, by what Discord calls them; nil if none has.
func inAll(english string, in func(*catalog, string) string) map[string]string {
	var all map[string]string
	for of, names := range languagesOf {
		translated := ""
		if c := catalogs()[of]; c != nil && english != "" {
			translated = in(c, english)
		}
		for _, language := range names {
			if translated == "" {
				continue
			}
			if all == nil {
				all = map[string]string{}
			}
			all[language] = translated
		}
	}
	return all
}
