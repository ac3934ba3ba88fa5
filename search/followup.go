package search

import (
	"slices"
	"strings"

	"hark/internal/pattern"
	"hark/internal/text"
	"hark/memory"
)

const (
	earlierTurns = 3   // session turns that a question with a back reference is searched with
	earlierTerms = 16  // terms of those turns
	earlierShare = 0.5 // factor on a term's weight for each turn back
	earlierRunes = 300 // characters of each turn that a model reads
	// fewOwn is the most own words of a question that needs its turns. In longer ones the turns' terms weigh at
	// most ownShare of the question's own.
	fewOwn   = 1
	ownShare = 0.5
)

// RefersBack reports whether a question needs the preceding messages: "What about the second one?", "why?". It
// goes by words in a few languages, and by the lack of content words.
func RefersBack(question string) bool {
	words := text.Words(question)
	own := 0
	for _, w := range words {
		own += int(bit(!text.IsStopWord(w)))
	}
	if own == 0 || slices.ContainsFunc(pointersUnspaced, func(p string) bool { return strings.Contains(question, p) }) {
		return true
	}
	for i, w := range words {
		next := ""
		if i+1 < len(words) {
			next = words[i+1]
		}
		switch {
		case persons[w], i == 0 && follows[w+" "+next]:
			return true
		case things[w]: // "how long does it take to build the parser" speaks of no it
			if own <= 3 {
				return true
			}
		case owners[w], pointers[w] && !spanUnits[next]: // "where does Kate keep her bike", "what did we plan this week"
			if own <= 2 {
				return true
			}
		case w == "the" && ordinals[next]:
			if own <= 2 || i+2 < len(words) && ones[words[i+2]] {
				return true
			}
		}
	}
	return false
}

var (
	persons   = text.SetOf("he him she they them sie er elle ils elles ella ellos")
	things    = text.SetOf("it its these those else davon damit dafur dazu darauf cela eso esto ello")
	owners    = text.SetOf("his her hers their theirs")
	pointers  = text.SetOf("this that")
	spanUnits = text.SetOf("day week weekend month year morning afternoon evening time spring summer autumn fall winter")
	ordinals  = text.SetOf("first second third fourth fifth latter former other others one ones rest")
	ones      = text.SetOf("one ones")
	follows   = map[string]bool{"what about": true, "how about": true, "and what": true, "and who": true,
		"and when": true, "and why": true,
		"and how": true, "and where": true, "was ist": true, "et pour": true, "y que": true}
	pointersUnspaced = []string{"それ", "その", "あれ", "これ", "那個", "那个", "它", "這個", "这个", "他們", "他们", "她", "彼女", "彼は"}
	personal         = text.SetOf("he him his she her hers they them their")
)

// earlier returns the turns that q is searched with: what it replies to, and the newest turns, newest first, if it
// isn't complete. It leaves out turns that can be hits, because their own words find them. asked is the newest question
// with a topic.
func earlier(q Query) (turns []string, asked string) {
	var from []memory.Message
	if replied, is := repliedIn(q); is {
		from = append(from, replied)
	}
	if RefersBack(q.Text) {
		for _, m := range slices.Backward(q.Session) {
			if m.ID != q.ReplyTo || len(from) == 0 {
				from = append(from, m)
			}
		}
	}
	for _, m := range from {
		body := spokenOf(m)
		if !slices.Contains(q.Skip, m.ID) || normalised(body) == "" || len(turns) == earlierTurns {
			continue
		}
		turns = append(turns, body)
		if s := wordsSaying(body); asked == "" && m.Kind != memory.FromHark && s.asks && s.topic {
			asked = body
		}
	}
	return turns, asked
}

// fewReplied is the most own terms of a question that needs the member's message that it replies to, such as "how do I
// mend that winch?".
const fewReplied = 2

// repliedIn returns the message that q replies to, if q needs its words.
func repliedIn(q Query) (memory.Message, bool) {
	at := slices.IndexFunc(q.Session, func(m memory.Message) bool { return m.ID == q.ReplyTo })
	if q.ReplyTo == 0 || at < 0 {
		return memory.Message{}, false
	}
	isShort := q.Session[at].Kind != memory.FromHark && len(text.QueryTerms(withoutBid(q.Text))) <= fewReplied
	return q.Session[at], isShort || RefersBack(q.Text)
}

// spokenOf returns m's text; of Hark's answers only its own words.
func spokenOf(m memory.Message) string {
	body := m.Text()
	if m.Kind != memory.FromHark {
		return body
	}
	return text.OwnWords(body)
}

// withEarlier joins a question and its turns for a model. The question comes first, because long texts lose their
// end.
func withEarlier(question string, turns []string) string {
	lines := []string{question}
	for _, t := range turns {
		lines = append(lines, text.Cut(t, earlierRunes))
	}
	return strings.Join(lines, "\n")
}

// addEarlier adds the turns' terms; older turns weigh less.
func (q *question) addEarlier(turns []string) {
	share := 1.0
	added := 0
	known := map[string]bool{}
	for _, t := range q.terms {
		known[t.term] = true
	}
	for _, turn := range turns {
		share *= earlierShare
		for _, term := range text.QueryTerms(turn) {
			if !known[term] && added < earlierTerms {
				known[term] = true
				q.terms = append(q.terms, weighted{term: term, share: share})
				added++
			}
		}
	}
}

// namedEarlier returns the people in the newest turn that names any, if the question has a personal pronoun.
func (k people) namedEarlier(question string, turns []string) []memory.UserID {
	if !slices.ContainsFunc(text.Words(question), func(w string) bool { return personal[w] }) {
		return nil
	}
	for _, turn := range turns {
		if named := k.namedIn(turn); len(named) > 0 {
			return named
		}
	}
	return nil
}

// boundEarlier limits the weight of the turns' terms; see fewOwn.
func (q *question) boundEarlier() {
	own := 0.0
	earlier := 0.0
	words := 0
	for _, t := range q.terms {
		if t.share == 1 {
			own += t.idf
			words++
		} else {
			earlier += t.idf
		}
	}
	if words <= fewOwn || earlier <= ownShare*own {
		return
	}
	for i := range q.terms {
		if q.terms[i].share < 1 {
			q.terms[i].idf *= ownShare * own / earlier
		}
	}
}

// wordStats describes the words of a question.
type wordStats struct {
	chatter       float64 // share of small talk among the content words
	topic         bool    // has words beyond small talk and its companions
	words         int     // content words
	me, you, asks bool
	others        bool // asks about or for other people
}

// wordsSaying describes a question without its bid, if a topic remains: "tell me a joke" has none.
func wordsSaying(question string) wordStats {
	if rest := withoutBid(question); rest != text.WithoutHark(question) {
		if s := wordStatsOf(rest); s.topic {
			s.asks = true
			return s
		}
	}
	return wordStatsOf(text.WithoutHark(question))
}

// withoutBid returns a question without its bid.
func withoutBid(question string) string {
	return bid().ReplaceAllString(text.WithoutHark(question), "")
}

// bid matches how a request begins: "tell me about", "please summarize".
var bid = pattern.Of(`(?i)^[\s,:]*(?:please\s+|(?:can|could|would)\s+you\s+(?:please\s+)?)?` +
	`(?:(?:tell|show|give|remind|send|find|get)\s+(?:me|us)\b(?:\s+(?:about|of)\b)?|` +
	`(?:summari[sz]e|recap|describe|explain)\b(?:\s+(?:to|for)\s+(?:me|us)\b)?)`)

func wordStatsOf(question string) wordStats {
	s := wordStats{asks: text.Asks(question)}
	n := 0.0
	talk := 0.0
	for _, w := range text.Words(question) {
		s.me = s.me || speakers[w]
		s.you = s.you || hearers[w]
		s.others = s.others || persons[w] || askers[w]
		switch {
		case chatter[w]:
			n = n + 1
			talk = talk + 1
		case besides[w]:
			n = n + 1
			talk = talk + 0.5
		case !text.IsStopWord(w):
			n = n + 1
			s.topic = true
		}
	}
	s.words = int(n)
	s.chatter = talk / max(1, n)
	return s
}

// Words that tell small talk. Those in besides are topics alone, but small talk beside chatter.
var (
	speakers = text.SetOf(`i me my myself it that this ich je yo`)
	askers   = text.SetOf(`who whom whose when where which wer wen wem wann wo qui quand quien cuando donde`)
	hearers  = text.SetOf(`you your yours yourself u ur du dein tu te`)
	chatter  = text.SetOf(`
		hi hello hey heya hiya gm yo yooo sup howdy hallo hola salut bonjour bonsoir servus moin guten buenos buenas bonne
		thanks thank thx ty tysm cheers danke merci gracias appreciate obliged grateful welcome congrats congratulations
		bye goodbye cya gn brb afk gtg later lol lmao rofl haha hahaha hehe heh xd omg wow wtf aww ugh hmm hm mhm meh oh
		ah yay yikes damn dang ok okay cool nice great awesome perfect amazing brilliant lovely wonderful excellent fine
		neat sweet cute alright agreed understood roger gotcha sounds yes yeah yep yup nope nah sure maybe idk whatever
		really seriously serious kidding joking exactly indeed correct true false fair sorry oops nvm worries np
		bruh pog kek lul wassup wyd hru hbu noted absolutely definitely totally certainly honestly actually unbelievable
		incredible impressive adorable legend hero genius king queen clever fantastic superb terrific glad pleasure
		ciao adios tschuss bis wiedersehen revoir hasta luego nos vemos さようなら こんばんは 再见 再見 awake
		wave waves nod nods pat pats poke pokes cuddle shrug shrugs clap claps facepalm bow
		greetings ahoy evenin mornin nighty zzz sigh phew ouch huh eh oof sheesh duh psst uwu owo kk ikr tbh ngl smh gl hf
		ggwp ez nt woo woohoo hooray hurrah yippee kudos bravo props respect wait hurry continue bless luck amen deal
		good bad well done see funny hilarious smart bored tired hungry thirsty sleepy happy merry rip mood
		bot robot human alive sentient chatgpt hark love hate hugs hug gg wp shut stop beep boop knock ping test testing
		tell sing say make flip roll pick choose guess compliment roast erzahl raconte cuentame geht ca va que
		genau stimmt klasse toll mega oui non si claro vale genial bravo
		おはよう こんにちは ありがとう おやすみ 你好 谢谢 謝謝 早安 晚安 哈哈`)
	besides = text.SetOf(`
		der die das den dem ein eines und oder mit fur auf zu ist bist sind war wir ihr sie was wer wie schon noch mal
		gut gute guter schone schoner le la les des et ou est es suis sommes vous nous comment tres bon bien avec pour
		el los las un uno una y o como estas esta eres soy son muy buen bueno con para por de
		wishes care rock paper scissors truth dare fingers crossed vibe vibes easter halloween eve mess top shine said
		long far enough carry hold take way hand five high low peace heart hearts cheer stay safe soon
		secret trick riddle pun quote limerick haiku poem rhyme rap dance fun meaning life moment minute second
		thing things stuff people friend friends folks snack brain robots bots humans machine ai
		sad angry annoyed upset lonely sick ill excited proud exhausted busy free cold warm late early soon already
		helps helpful worked works question questions answers
		word words talk chat hang around little bit kind least talking chatting still
		joke jokes witz blague chiste fun fact story song coin dice number random heads tails world one another something
		anything day night morning afternoon evening weekend monday tuesday wednesday thursday friday saturday sunday
		christmas year today tomorrow hours minute yet time weather hot cold rain coffee tea old color colour
		favourite favorite everyone everybody anyone anybody someone home mate m8 buddy dude bro man boy girl zusammen
		dir mir einen eine un une tal beaucoup muchas nacht morgen nuit noches dias tag todos work played way right
		makes sense problem mind laugh please pls plz bitte got get know nothing much lot quick help helped answer best
		im ive dont cant thats whats lets so too up there between again new bed sleep dream dreams feeling feel go
		going doing like meet back`)
)
