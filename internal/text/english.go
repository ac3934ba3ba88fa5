package text

import "strings"

// stopWords are left out of the index and of questions: they are in every text, or in every link. Those of
// other languages than English are found to be common by counting: many are words of content in another one
// ("die", "war", "fast").
var stopWords = SetOf(`
www com
a about above after again against all also am an and any are as at be because been before being below
between both but by can could did do does doing down during each few for from further had has have having
he her here hers herself him himself his how i if in into is it its itself just me more most my myself no nor
not now of off on once only or other our ours ourselves out over own same she should so some such than that
the their theirs them themselves then there these they this those through to too under until up very was we
were what when where which while who whom why will with would you your yours yourself yourselves
`)

// irregular forms of verbs and nouns, by the form that the others share their stem with.
var irregular = formsOf(`
arise arose arisen; awake awoke awoken; beat beaten; become became; begin began begun; bend bent; bet;
bind bound; bite bit bitten; bleed bled; blow blew blown; break broke broken; breed bred; bring brought;
build built; burn burnt; buy bought; catch caught; child children; choose chose chosen; come came;
creep crept; deal dealt; dig dug; draw drew drawn; dream dreamt; drink drank drunk; drive drove driven;
eat ate eaten; fall fell fallen; feed fed; feel felt; fight fought; find found; flee fled; fly flew flown;
foot feet; forbid forbade forbidden; forget forgot forgotten; forgive forgave forgiven; freeze froze frozen;
get got gotten; give gave given; go went gone goes; grow grew grown; hang hung; hear heard; hide hid hidden;
hold held; keep kept; kneel knelt; know knew known; lay laid; lead led; lean leant; leap leapt;
learn learnt; leave left; lend lent; life lives; light lit; lose lost; make made; man men; mean meant;
meet met; mouse mice; pay paid; person people; ride rode ridden; ring rang rung; rise rose risen;
run ran; say said; see saw seen; seek sought; sell sold; send sent; shake shook shaken; shine shone;
shoot shot; show shown; shrink shrank shrunk; sing sang sung; sink sank sunk; sit sat; sleep slept;
slide slid; smell smelt; speak spoke spoken; spend spent; spin spun; stand stood; steal stole stolen;
stick stuck; sting stung; strike struck; swear swore sworn; sweep swept; swim swam swum; swing swung;
take took taken; teach taught; tear tore torn; tell told; think thought; throw threw thrown; tooth teeth;
understand understood; wake woke woken; wear wore worn; weave wove woven; weep wept; wife wives;
win won; woman women; write wrote written
`)

// SetOf is the words of a list.
func SetOf(words string) map[string]bool {
	set := map[string]bool{}
	for _, w := range strings.Fields(words) {
		set[w] = true
	}
	return set
}

// formsOf reads "base form form; base form; …".
func formsOf(table string) map[string]string {
	forms := map[string]string{}
	for _, row := range strings.Split(table, ";") {
		words := strings.Fields(row)
		for _, form := range words[1:] {
			forms[form] = words[0]
		}
	}
	return forms
}
