package search

import (
	"cmp"
	"math"
	"slices"
	"sync"

	"hark/internal/pattern"
	"hark/internal/text"
	"hark/memory"
)

// Floor is the relevance below which a single message isn't worth showing to a person.
const Floor = 0.05

// gateFeature is the index of a feature for whether a question's answer was found. internal/tune learns the weights.
type gateFeature int

const (
	gateConstant gateFeature = iota
	gateFound                // reasons of the best hits: words, meaning, and half of around
	gateHeld                 // share of the question's weight, without names, in five adjacent messages
	gateAuthor               // author reasons
	gateTime                 // time reasons
	gateUnheard              // share of the subjects' weight that nobody mentioned
	gateTerms                // logarithm of the number of terms
	gateChatter              // share of small talk words
	gateYou                  // addresses Hark
	gateStates               // states instead of asks
	gateCount
)

var gateNames = [gateCount]string{"constant", "found", "held", "author", "time", "unheard", "terms", "chatter", "you",
	"states"}

// GateNames returns the names of Result.Gate's values, in order.
func GateNames() []string { return gateNames[:] }

const (
	gateHits  = 5 // hits considered, the best
	bareTerms = 2 // most terms of a bare topic: "birthday?", "Anna's dog"
	rareTerms = 2 // terms in a message that are no coincidence, if each is in at most fewSay
	fewSay    = 5
)

// gate is the decision whether the hits answer a question.
type gate struct {
	closed bool
	values []float64 // feature values; nil if the decision needed none
}

// gateOf decides on hits, best first, by nothing outside the scope.
func (p *pool) gateOf(q Query, asked question, hits []Hit) gate {
	own := slices.ContainsFunc(asked.terms, func(t weighted) bool { return t.share == 1 })
	earlier := slices.ContainsFunc(asked.terms, func(t weighted) bool { return t.share < 1 })
	switch {
	case isSmallTalk(q, asked, earlier), !own && !earlier && len(asked.named)+len(asked.dates) == 0:
		return gate{closed: true}
	case earlier && asked.after != "": // decides a follow-up together with its question
		asked = asked.only(asked.after + "\n" + q.Text)
		q.Text = asked.after
	case earlier, !own, len(asked.named) > 0 && asked.whoOrWhen() && wordsSaying(q.Text).topic:
		// depends on an earlier statement, a name or a date
		return gate{}
	}
	v := make([]float64, gateCount)
	v[gateConstant] = 1
	most := map[string]float64{} // the maximum weight of each reason
	bare, n := false, 0
	for _, t := range asked.terms {
		n += int(bit(t.idf > 0))
	}
	for _, hit := range hits[:min(gateHits, len(hits))] {
		for _, why := range hit.Why {
			most[why.Kind] = max(most[why.Kind], why.Weight)
		}
		stream := p.streams[hit.Message.Channel]
		at, _ := slices.BinarySearchFunc(stream, hit.Message.ID, func(e entry, id memory.MessageID) int {
			return cmp.Compare(e.ID, id)
		})
		for ; at < len(stream) && stream[at].ID == hit.Message.ID; at++ { // each passage
			e := &stream[at]
			bare = bare || n <= bareTerms && asked.share(asked.heldBy(e)) > 0.99 ||
				asked.rareIn(e) >= rareTerms
		}
	}
	v[gateFound], v[gateAuthor], v[gateTime] = most["words"]+most["around"]/2+most["meaning"], most["author"], most["time"]
	heard, rare, about := p.heard(q, asked), true, subjects(withoutBid(q.Text))
	unheard, all := 0.0, 0.0
	for i, t := range asked.terms {
		if about[t.term] && t.names == 0 && !smallTerms()[t.term] && !askingTerms[t.term] {
			all += t.idf
			unheard += t.idf * bit(!heard[i])
		}
		rare = rare && (t.names != 0 || heard[i] && t.count <= rarely)
	}
	v[gateHeld], v[gateUnheard] = p.held(q, asked), unheard/max(all, math.SmallestNonzeroFloat64)
	v[gateTerms] = math.Log(1 + float64(n))
	say := wordsSaying(q.Text)
	v[gateChatter], v[gateYou] = say.chatter, bit(say.you && !q.IsSearch)
	v[gateStates] = bit((say.me || say.you) && !say.asks)
	if (bare || rare) && say.topic && say.chatter < 0.5 && v[gateYou]+v[gateStates] == 0 {
		return gate{}
	}
	z := 0.0
	for i, w := range gateWeights {
		z += w * v[i]
	}
	return gate{z < 0, v}
}

// only returns q with the terms of s, without small talk. The other terms become weightless names.
func (q question) only(s string) question {
	is := setOf(text.QueryTerms(s))
	q.terms, q.idf = slices.Clone(q.terms), 0
	for i := range q.terms {
		if t := &q.terms[i]; is[t.term] && !smallTerms()[t.term] {
			q.idf += t.idf
		} else {
			t.idf, t.names = 0, namedBit(math.MaxInt)
		}
	}
	return q
}

// heard reports for each term whether it was said, or is too unspecific to be missed. Very rare terms are looked up
// in the messages, because counts include the question.
func (p *pool) heard(q Query, asked question) []bool {
	heard := make([]bool, len(asked.terms))
	for i, t := range asked.terms {
		heard[i] = t.names != 0 || t.count > rarely || smallTerms()[t.term]
		for _, title := range asked.titled {
			heard[i] = heard[i] || title.held[i] > 0
		}
	}
	for _, stream := range p.streams {
		for at := range stream {
			e := &stream[at]
			for i, n := range e.counts {
				if n > 0 && !heard[i] && (q.Behind == nil || !q.Behind(e.Message)) {
					heard[i] = true
				}
			}
		}
	}
	return heard
}

// held returns the largest share of the question, without names, in a message and two on each side in its session.
// Messages put behind don't count.
func (p *pool) held(q Query, asked question) (most float64) {
	const around = 2
	aside := behind(q)
	for _, t := range asked.terms {
		if t.names != 0 {
			asked.idf -= t.idf
		}
	}
	share := func(stream []entry, all bool) float64 {
		var room [maxTerms]float64
		near := room[:len(asked.terms)]
		if title := asked.titled[stream[0].Channel]; title != nil {
			copy(near, title.held)
		}
		for i := range stream {
			if all || !aside(&stream[i]) {
				larger(near, stream[i].like)
			}
		}
		for t := range near {
			if asked.terms[t].names != 0 {
				near[t] = 0
			}
		}
		return asked.share(near)
	}
	for _, stream := range p.streams {
		for at := range stream {
			first, last := neighbourhood(stream, at, around, around)
			if near := stream[first : last+1]; share(near, true) > most {
				most = max(most, share(near, false))
			}
		}
	}
	return most
}

// rareIn counts the terms in e and its thread's title that few messages have.
func (q question) rareIn(e *entry) (n int) {
	title := q.titled[e.Channel]
	for i, t := range q.terms {
		has := e.counts[i] > 0 || title != nil && title.held[i] > 0
		if has && t.names == 0 && t.count <= fewSay && !smallTerms()[t.term] {
			n++
		}
	}
	return n
}

// heldBy returns how much e and its thread's title contain of each term; an author contains their own name.
func (q question) heldBy(e *entry) []float64 {
	title := q.titled[e.Channel]
	named := slices.Contains(q.named, e.Author)
	if !named && title == nil {
		return e.like
	}
	held := slices.Clone(e.like)
	if title != nil {
		larger(held, title.held)
	}
	if !named {
		return held
	}
	for t := range held {
		held[t] = max(held[t], bit(q.terms[t].names != 0))
	}
	return held
}

// smallTerms are the terms of small talk words.
var smallTerms = sync.OnceValue(func() map[string]bool {
	terms := map[string]bool{}
	for _, words := range []map[string]bool{chatter, besides} {
		for w := range words {
			for _, t := range text.QueryTerms(w) {
				terms[t] = true
			}
		}
	}
	return terms
})

// wordStats describes the words of a question.
type wordStats struct {
	chatter       float64 // share of small talk among the content words
	topic         bool    // has words beyond small talk and its companions
	words         int     // content words
	me, you, asks bool
	others        bool // asks about or for other people
}

// bid matches how a request begins: "tell me about", "please summarize".
var bid = pattern.Of(`(?i)^[\s,:]*(?:please\s+|(?:can|could|would)\s+you\s+(?:please\s+)?)?` +
	`(?:(?:tell|show|give|remind|send|find|get)\s+(?:me|us)\b(?:\s+(?:about|of)\b)?|` +
	`(?:summari[sz]e|recap|describe|explain)\b(?:\s+(?:to|for)\s+(?:me|us)\b)?)`)

// withoutBid returns a question without its bid.
func withoutBid(question string) string {
	return bid().ReplaceAllString(text.WithoutHark(question), "")
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

func wordStatsOf(question string) wordStats {
	s := wordStats{asks: text.Asks(question)}
	n, talk := 0.0, 0.0
	for _, w := range text.Words(question) {
		s.me, s.you, s.others = s.me || speakers[w], s.you || hearers[w], s.others || persons[w] || askers[w]
		switch {
		case chatter[w]:
			n, talk = n+1, talk+1
		case besides[w]:
			n, talk = n+1, talk+0.5
		case !text.IsStopWord(w):
			n, s.topic = n+1, true
		}
	}
	s.words, s.chatter = int(n), talk/max(1, n)
	return s
}

// isSmallTalk reports whether a question asks for nothing that could have been said: it greets, thanks, wants
// entertainment, or has no words. earlier is set if it may refer to preceding messages.
func isSmallTalk(q Query, asked question, earlier bool) bool {
	s := wordsSaying(q.Text)
	wants := q.IsSearch || s.asks && s.others
	switch {
	case s.topic || len(asked.named) > 0:
		return false
	case s.words == 0:
		return s.you || !s.asks
	case s.chatter > 0.5:
		return s.you || !wants
	}
	over := slices.ContainsFunc(asked.dates, func(d dateRange) bool { return d.to.Before(q.Now) })
	return !earlier && !over && (s.you || len(asked.dates) == 0 && s.words > 1 && !wants)
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
