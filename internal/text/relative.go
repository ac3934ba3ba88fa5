package text

import "regexp"

// relative is a time that depends on when it is said. Names of weekdays without more are such times too.
var relative = regexp.MustCompile(`(?i)\b(?:today|tonight|tomorrow|yesterday|(?:mon|tues|wednes|thurs|fri|satur|sun)day|` +
	`(?:last|this|next|past|coming) (?:\w+ )?(?:morning|afternoon|evening|night|day|week|weekend|month|year|spring|summer|autumn|fall|winter|` +
	`january|february|march|april|may|june|july|august|september|october|november|december)|` +
	`(?:minute|hour|day|week|month|year)s? ago|` +
	`in (?:an?|one|two|three|four|five|six|a few|\d+) (?:minute|hour|day|week|month|year)s?|` +
	`heute|gestern|morgen|vorgestern|(?:letzte|vorige|diese|nächste|kommende)[nmrs]? (?:woche|monat|jahr|wochenende|nacht)|` +
	`(?:mon|diens|donners|frei|sams|sonn)tags?|mittwochs?|` +
	`hier|aujourd'hui|demain|(?:semaine|mois|année|an) (?:dernière?|prochaine?)|` +
	`hoy|ayer|mañana|(?:semana|mes|año) (?:pasad[oa]|próxim[oa]|que viene))\b` +
	`|今天|昨天|明天|前天|后天|後天|上周|上週|下周|下週|去年|明年|上个月|上個月|下个月|下個月|今日|昨日|明日|先週|来週|先月|来月|来年`)

// SpeaksOfNow reports whether s names a time that is to be understood from when it was said: "last year",
// "today at 5".
func SpeaksOfNow(s string) bool { return relative.MatchString(s) }
