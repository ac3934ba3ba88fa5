package builder

import (
	"regexp"
	"strings"
	"sync"
)

// start matches the text before a request: nothing, an introduction, or the end of a sentence.
const start = `(?:^|[^\w\s'] ?|\band |\bund |\bet |\by |\bthen )(?:(?:hmm+|nah|nope|no|yes|yeah|yep|right|lol|` +
	`haha|btw|then|but|dann|aber|mal|alright|cool|nice|great|thanks|danke|merci|gracias|please|pls|plz|now|ok|` +
	`okay|so|hey|yo|well|bitte|kannst du|könntest du|kannst du bitte|peux-tu|tu peux|peux tu|puedes|podrías|` +
	`por favor|s'il te plaît|` +
	`can (?:you|u)|could (?:you|u)|would you|will you|would you mind|i need you to|i want you to|help (?:me|` +
	`us)|help (?:me|us) to|let's|lets|just|actually|maybe|also|quickly|try to|go|help) )*`

// begins compiles words that begin a request.
func begins(words string) *regexp.Regexp { return within(start + `(?:` + words + `)`) }

// within compiles words that may occur anywhere.
func within(words string) *regexp.Regexp { return regexp.MustCompile(unaccented.Replace(words)) }

// unaccented removes accents: people leave them out, and \b knows only ASCII.
var unaccented = strings.NewReplacer("ä", "a", "ö", "o", "ü", "u", "ß", "ss", "à", "a", "â", "a", "á", "a", "ç", "c",
	"é", "e", "è", "e", "ê", "e", "ë", "e", "í", "i", "î", "i", "ï", "i", "ñ", "n", "ó", "o", "ô", "o", "ú", "u",
	"û", "u", "ù", "u", "œ", "oe", "¿", " ", "¡", " ", "’", "'", "´", "'")

// thing is something that people ask for.
const thing = `(?:(?:` +
	`poem|haiku|limerick|sonnet|acrostic|song|lyric|shanty|rap|verse|story|tale|joke|pun|tweet|thread|post|msg|` +
	`message|text|announcement|email|e-mail|mail|letter|card|invite|invitation|reply|comeback|excuse|apology|` +
	`toast|speech|essay|` +
	`blurb|bio|caption|tagline|slogan|motto|description|intro|introduction|title|name|nickname|username|logo|` +
	`emoji|sticker|meme|pitch|ad|advert|flyer|poster|script|bot|function|class|regex|query|program|app|website|` +
	`snippet|one-liner|dockerfile|` +
	`config|test|unit test|macro|formula|spreadsheet|schedule|timetable|itinerary|menu|playlist|setlist|recipe|` +
	`meal plan|workout|routine|quiz|trivia|question|riddle|poll|survey|agenda|template|list|table|checklist|` +
	`plan|roadmap|outline|draft|rule|` +
	`ruleset|policy|guideline|faq|readme|changelog|character|backstory|campaign|one-shot|dungeon|quest|npc|` +
	`monster|boss|spell|plot|scene|dialogue|prompt|icebreaker|idea|suggestion|wordplay|obituary|review|` +
	`cover letter|resume|bracket|tournament|scavenger hunt|game|` +
	`gedicht|rede|einladung|ankündigung|teamname|namen|spruch|sprüche|nachricht|poème|annonce|invitation|texte|` +
	`discours|chanson|poema|carta|mensaje|canción|anuncio|descripción|discurso|historia)(?:s|es|n|en)?)`

// cues match a question as plainQuestion returns it. They are compiled on first use, because that takes longer
// than most commands at the terminal.
var cues = sync.OnceValue(func() []cue {
	return []cue{
		// Plain talk.
		{ModeGeneral, 1, within(`^(?:(?:lol|omg|ugh|hmm|haha|well|ok|so|oh|my) )*(?:i|i'm|im|i've|i'd rather|` +
			`we|he|she|they|it's|that's|my \w+|ich|je|yo) [^?]*[^?]$`)},
		{ModeGeneral, 3, within(`\bwho (?:wrote|invented|painted|discovered|composed|directed|won the (?:world|` +
			`super|oscar|nobel|champions|euro))\b|\bwhen (?:was|were|did) (?:the )?(?:berlin|world|roman|` +
			`french|american|second|first|cold|civil|titanic|moon)\b|\bwhat(?:'s| is|s) the (?:capital|` +
			`population|boiling|speed|height|distance|currency|square root)\b|\btell me a joke\b|` +
			`\bwhat time is it\b`)},
		{ModeGeneral, 3, within(`\bdo (?:you|u) (?:ever|like|even|dream|sleep|feel|have (?:a|any) )|` +
			`\bare (?:you|u) (?:a|an|ok|real|human|there|alive|busy|mad)\b|\bcan (?:you|u) (?:hear|see|feel|` +
			`read) (?:me|us|what)|\bshould i\b|\bno need to\b|\brather not\b|\bgood times\b|\bdon'?t (?:need|` +
			`want) you to\b|\bwhat do you call\b|\bnever ?mind\b|\byourself\b.*\bday\b|^(?:(?:ok|lol|oh|ah|` +
			`haha|cool|nice|great),? )*(?:thanks?|thx|ty|danke|merci|gracias)\b[^,]*$`)},
		// Something said, decided or shared earlier.
		{ModeSearch, 3, within(`\bwhen (?:did|was|were|is|are|do|does|will|exactly|again)\b.*\b(?:we|i|he|she|` +
			`they|you|our|us|the|my|\w+)\b`)},
		{ModeSearch, 3, within(`\b(?:who|what|where|which|when|how (?:much|many|long)) (?:did |does |was |has |` +
			`have |had |do |were |\w+ did |we |i |he |she |they |you |\w+ ){0,2}(?:said|say|says|mention\w*|` +
			`post\w*|shar\w+|suggest\w*|recommend\w*|propos\w+|agree\w*|decid\w+|promis\w+|volunteer\w*|` +
			`offer\w*|link\w*|sent|send|told|tell us|talk\w* about|discuss\w*|complain\w*|ask\w* (?:for|about)|` +
			`vot\w+|pick\w*|call\w*|order\w*|book\w*|paid|pay)\b`)},
		{ModeSearch, 3, within(`\bwho(?:'s| is| was| were| will|'ll)? (?:again |it )?(?:going to|gonna|` +
			`supposed to|bringing|brought|doing|hosting|in charge|responsible|organi[sz]\w+|driving|coming|` +
			`paying|that (?:said|posted|broke)|the one|has|had|have|owns?|knows?|broke|fixed|made|wrote|won|` +
			`lost|invited|joined|left|wanted|wants|owes|volunteered|recommended|works?)\b`)},
		{ModeSearch, 3, within(`\b(?:did|has|have|had|does|do) (?:we|anyone|anybody|someone|somebody|i|he|she|` +
			`they|you|\w+) (?:\w+ ){0,2}(?:ever|already|say|said|mention\w*|post\w*|share\w*|decide\w*|` +
			`agree\w*|settle\w*|talk\w*|discuss\w*|end up|finish\w*|reply|replied|answer\w*|tell|told|bring up|` +
			`find out|figure out|get around)\b`)},
		{ModeSearch, 3, begins(`find|search|look up|look for|dig up|dig out|locate|pull up|retrieve|` +
			`remind (?:me|us)|recall|show (?:me|us) (?:the|that|what|where|all|every|when)|who said|` +
			`get me the (?:link|message|file)`)},
		{ModeSearch, 3, within(`\bwhere(?:'s| is| was| were| did| can i find| do i find) (?:\w+ ){0,4}(?:link|` +
			`file|doc|document|screenshot|pic|picture|photo|message|recipe|list|thread|invite|clip|video|` +
			`spreadsheet|sheet|post|repo|meme|put|posted|save|saved|keep|leave)\b`)},
		{ModeSearch, 2, within(`\bwhat(?:'s| is| was| were|s) (?:the |that |our |his |her |their |my |` +
			`\w+'s )(?:\w+ ){0,3}(?:name|link|date|deadline|address|password|ip|time|number|score|result|` +
			`plan for|budget|price|cost|version|wifi|code|birthday|favou?rite|handle|username|account|title|` +
			`book|song|movie|film|game|restaurant|place|channel|decision|verdict|allergy|job|agenda)\b`)},
		{ModeSearch, 2, within(`\b(?:last (?:time|week|month|year|night|summer|winter|spring|autumn|fall|` +
			`session|meeting|monday|tuesday|wednesday|thursday|friday|saturday|sunday)|yesterday|the other day|` +
			`a while (?:ago|back)|(?:days|weeks|months|years) ago|back in|earlier (?:today|this)|back then|` +
			`remember when|remember (?:the|that|who|what|how|which)|do you (?:still )?(?:remember|know (?:what|` +
			`who|when|where)))\b`)},
		{ModeSearch, 3, within(`\bwhat(?:'s| is| are|s) (?:\w+'s|our|my|his|her|their) \w+|\bwhat(?:'s| is|` +
			`s) \w+ (?:allergic|working on|up to|called|afraid of|good at|into)\b|\bhow old (?:is|are|was)\b|` +
			`\bwhere (?:do|does|did) \w+(?: and \w+)? (?:live|work|stay|park|meet|come from)\b|\bwhat (?:time|` +
			`day|date) (?:is|are|was|were|does|do) (?:the|our|my|that|we)\b|\bwhat do (?:we|you) know about\b|` +
			`\bhow (?:much|many) did (?:the|our|we|it|that)\b|^link to\b|\bwhich \w+ (?:\w+ )?(?:are we|do we|` +
			`did we|is ours|has|have)\b|\btell me about the (?:time|day|night)\b|\bwie hie(?:ss|ssen)\b|` +
			`\bwie heisst\b|\bwhich \w+ \w+ (?:booked|picked|chose|ordered|recommended|suggested|bought|` +
			`wanted)\b|\boutcome of\b`)},
		{ModeSearch, 1, within(`\bin (?:january|february|march|april|may|june|july|august|september|october|` +
			`november|december)\b`)},
		{ModeSearch, 2, within(`\bwhat did .+ (?:say|think|want|write|post|decide|suggest|recommend|mean|eat|` +
			`buy|order|call|get|do|use|pick|choose|vote|name|play|bring|book|promise|answer)\b`)},
		{ModeSearch, 2, within(`\bwhat (?:did|were|was|have|had) (?:we|i|he|she|they|you|everyone|\w+) `)},
		{ModeSearch, 2, within(`\bwhich (?:\w+ ){1,3}(?:did|was|were|had) `)},
		{ModeSearch, 2, within(`\b(?:has|have) (?:any(?:one|body)|some(?:one|body)) `)},
		{ModeSearch, 2, within(`\b(?:everything|anything|something|all) (?:that )?(?:was |we |i |he |she |` +
			`they |\w+ )?(?:said|wrote|posted|shared|mentioned) `)},
		{ModeSearch, 3, within(`\bwann (?:war|ist|sind|haben|hat|wollte\w*|treffen|findet|fand)\b|\bwer (?:hat|` +
			`hatte|war|wollte|bringt|kommt|ist|kümmert)\b|\bwas (?:hat|hatte|haben|hatten) .*(?:gesagt|` +
			`geschrieben|gemeint|vorgeschlagen|beschlossen|entschieden|ausgemacht|empfohlen|bestellt)|` +
			`\bwo (?:ist|war|hat|hatte|steht|liegt) |\bsuch(?:e|st)?\b|\bfinde\b|\berinner\w*|` +
			`\bweißt du noch\b|\bhat (?:jemand|irgendwer|irgendjemand)\b|\bhatten wir\b|` +
			`\bhaben wir\b.*\b(?:beschlossen|gesagt|ausgemacht|entschieden|abgemacht)|` +
			`\bwelche[snr]? .*(?:hatten|haben|hat|war|waren) `)},
		{ModeSearch, 3, within(`\bqui (?:a|avait|est|était|doit|devait|va|s'occupe|apporte)\b|\bquand (?:est|` +
			`était|a|avait|on a|avons|avez|sont|est-ce)\b|\boù (?:est|était|a|sont)\b|\b(?:qu'est-ce que|que|` +
			`qu') ?\w* (?:a|avait|avons|ont) (?:dit|décidé|proposé|écrit|choisi)|\bretrouve|\bcherche|` +
			`\brappelle|\bon avait (?:dit|décidé|choisi)|\btu te souviens\b|\bquel(?:le)?s? (?:était|étaient|` +
			`est)\b`)},
		{ModeSearch, 3, within(`\bqui[eé]n (?:dijo|iba|va|trae|tra\w+|era|es|fue|propuso|puso|compart\w+|tiene|` +
			`ganó|se)\b|\bcu[aá]ndo (?:era|es|fue|quedamos|dij\w+|hab\w+|fu\w+|ser\w+|empieza)\b|` +
			`\bd[oó]nde (?:est[aá]|era|es|qued\w+|dej\w+|puso)\b|\bqu[eé] (?:dijo|dijimos|dijeron|decidimos|` +
			`decidi\w+|acordamos|propuso|recomend\w+)\b|\bbusca|\bencuentra|\brecu[eé]rda|\bte acuerdas\b|` +
			`\bcu[aá]l era\b`)},
		{ModeSearch, 3, within(`いつ|誰が|だれが|どこ(?:だ|で|に)|何て言|なんて言|と言って|言ってた|言っていた|話してた|決めた|決まっ|探して|見つけて|覚えて|って誰|` +
			`前に|この前|先週|昨日|谁说|誰說|什么时候|什麼時候|何时|哪天|在哪|说过|說過|提到|决定了|決定了|之前|上次|上周|上週|昨天|找一下|找到|帮我找|幫我找|记得|記得|谁(?:要|` +
			`会|負|负|带|帶)|誰(?:要|會|負責|帶)`)},

		// Something existing, to be changed.
		{ModeModification, 3, begins(`shorten|rewrite|re-write|rephrase|reword|paraphrase|translate|fix|` +
			`correct|proofread|edit|improve|polish|simplify|refactor|reformat|format|update|change|modify|` +
			`adjust|tweak|swap|replace|rename|remove|delete|drop|cut|trim|condense|expand|extend|convert|` +
			`turn (?:it|this|that|the|my|these|those)|tone (?:it|this|that) down|clean up|tidy up|sort|reorder|` +
			`move|insert|append|undo|revert|redo|capitali[sz]e|merge|split|port|optimi[sz]e|debug|add (?:a|an|` +
			`the|some|my|one|two|more|another|in|that|this|to|emoji\w*|\w+ to|\w+ (?:and|at|as))`)},
		{ModeModification, 3, within(`\b(?:make|keep|write|say|phrase|put) (?:it|this|that|them|these|those|` +
			`the (?:text|message|code|second|first|last|third|title|tone|intro|ending|whole thing)|my \w+|` +
			`yours?) (?:\w+ )?(?:\w+er\b|more|less|sound|in \w+|into|into|as a|shorter|longer|formal|casual|` +
			`funny|nicer|without|rhyme|again|bold|plural|past|present|fit|work|compile|readable|polite|` +
			`friendly|simple|pop)`)},
		{ModeModification, 3, within(`\b(?:shorter|longer|friendlier|funnier|simpler|nicer|clearer|softer|` +
			`less \w+|more \w+)(?: version)?(?: pls| please|,? thanks| tho|!|\?)*$|\bunder \d+ (?:words|` +
			`characters|chars)\b|\bwithout the \w+|\binstead of\b.*\bin (?:it|this|that|there)\b|` +
			`\bsame (?:thing|but|again)\b|\bbut (?:in|with|without|make|shorter|longer|for|as)\b`)},
		{ModeModification, 2, within(`\b(?:in|into|to) (?:english|german|french|spanish|japanese|chinese|` +
			`italian|dutch|portuguese|polish|russian|korean|swedish|turkish|past tense|present tense|` +
			`bullet points|a table|python|rust|go|typescript|javascript|markdown|json|yaml|iambic|passive|` +
			`title case|lowercase|uppercase)\b`)},
		{ModeModification, 4, within(`\b(?:the|your|that|this|my) (?:last|second|first|third|previous|final|` +
			`opening|closing|above) (?:\w+ )?(?:paragraph|sentence|line|point|bullet|verse|version|answer|` +
			`message|draft|part|item|step|one|section|stanza|word)s?\b`)},
		{ModeModification, 2, within(`\b(?:typos?|grammar|spelling|indentation|lint(?:er)?|wording)\b`)},
		{ModeModification, 3, within(`\bkürze?\b|\bkürzer\b|\bverkürz|\bschreib\w* (?:das|es|den text|` +
			`die nachricht|den satz) |\bformulier\w* |\bumformulier|\bübersetz|\bkorrigier|\bverbesser|` +
			`\bänder[en]?\b|\bersetz|\bstreich|\bentfern|\bmach(?:e|st)? (?:es|das|den|die|daraus|ihn|sie|` +
			`mal) .*(?:\w+er|auf|zu|mit|ohne|in)\b|\bmach(?:e)? (?:daraus|draus)\b|\bfüge? .* (?:hinzu|ein)|` +
			`\bergänz|\blass .* weg\b|\bumbenenn|\bbenenn\w* .* um\b`)},
		{ModeModification, 3, within(`\braccourci|\bréécri|\breformul|\btradui|\bcorrige|\baméliore|\bmodifie|` +
			`\bchange|\bremplace|\benlève|\bsupprime|\bajoute|\brends?(?:-le|-la| le| la| ça| ce) |` +
			`\bmets(?:-le|-la| le| la| ça| ce)? |\bplus (?:court|long|simple|formel|drôle)\b`)},
		{ModeModification, 3, within(`\bacort|\breescrib|\btraduc|\btradúce|\bcorrig|\bcorríge|\bmejora|` +
			`\bcambia|\breemplaza|\bsustituye|\bquita|\belimina|\bañade|\bagrega|\bhaz(?:lo|la)\b|\bponlo|` +
			`\bpon(?:er)? (?:lo|la|esto|el) |\bmás (?:cort|larg|formal|amable|simpl|divertid)`)},
		{ModeModification, 3, within(`短く|短めに|直して|修正|書き直|書き換え|翻訳|訳して|英語に|日本語に|丁寧に|変えて|変更して|追加して|削除して|消して|` +
			`もっと.*(?:して|に)|改成|改一下|改写|改寫|修改|翻译|翻譯|缩短|縮短|润色|潤色|删掉|刪掉|去掉|加上|换成|換成|改得|简化|簡化|更正`)},

		// Something to explain, compare, judge or sum up.
		{ModeAnalysis, 3, begins(`explain|compare|contrast|analy[sz]e|evaluate|assess|review|critique|` +
			`summari[sz]e|sum up|recap|break (?:it|this|that|down)|walk me through|interpret|diagnose|judge|` +
			`rate|rank|weigh|outline the (?:differences|arguments)|give me (?:a |the |an )?(?:summary|recap|` +
			`tl;?dr|overview|breakdown|pros|gist)|tl;?dr`)},
		{ModeAnalysis, 3, within(`\btl;?dr\b|\bpros (?:and|&|n|\+) cons\b|\bpros/cons\b|\b(?:difference|` +
			`differences|trade-?offs?) (?:between|of|in)\b|\bsummar(?:y|i[sz]e|ise)\b|\brecap\b|\bthe gist\b|` +
			`\bmain (?:points|takeaways|arguments?)\b|\btakeaways?\b|\bin a nutshell\b|` +
			`\bmake(?:s)? (?:any )?sense of\b|\broot cause\b|\bstack ?trace\b|\btraceback\b|` +
			`\bstrengths and weaknesses\b|\bcatch me up\b|\bwhat(?:'s|s| is) (?:wrong|the (?:difference|catch|` +
			`point|problem|issue|logic|pattern|trend|reason|meaning|deal|upside|downside|benefit|risk|` +
			`argument))\b`)},
		{ModeAnalysis, 3, within(`\bwhy (?:is|are|does|do|did|was|were|would|should|can't|cant|isn't|isnt|` +
			`doesn't|doesnt|don't|dont|won't|wont|didn't|didnt|wasn't|keeps?|am|has|have|the|my|it)\b`)},
		{ModeAnalysis, 3, within(`\bhow (?:does|do|did|come|is it|are) .*(?:work|works|happen|differ|compare|` +
			`relate|connect|possible|affect|related|different)\b|\bhow come\b|\bhow (?:good|bad|solid|sound|` +
			`risky|realistic|reliable|fair|likely|strong|convincing|well) (?:is|are|was|does|do|would)\b`)},
		{ModeAnalysis, 3, within(`\b(?:which|what)(?:'s| is| one is| of (?:these|those|the two) is|` +
			`\w* \w* is)? (?:the )?(?:better|best|worse|cheaper|faster|safer|more \w+|stronger|smarter)\b|` +
			`\bbetter (?:than|option|choice|or)\b|\bis (?:it|this|that|\w+ \w*) (?:\w+ )?(?:worth|better|` +
			`a good idea|a bad idea|smart|reasonable|legit|sound|valid|safe|realistic|fair|overkill|correct|` +
			`true that)\b|\bworth (?:it|the)\b|\bshould (?:we|i) (?:\w+ )+or \b| vs\.? | versus `)},
		{ModeAnalysis, 2, within(`\bwhat (?:does|do|did) .*\bmean\b|\bwhat(?:'s| is) .*\bmean(?:ing)?\b|` +
			`\bmeaning of\b|\bwhat (?:can|could|should) we (?:learn|conclude|infer|take)|\bwhat went wrong\b|` +
			`\bgo(?:es|ing)? wrong\b|\bhow (?:do|does|did) .*\bfeel(?:s)? about\b|\bgeneral (?:mood|opinion|` +
			`feeling|consensus)\b|\bconsensus\b|\b(?:is|are) (?:there )?(?:any )?(?:holes?|flaws?|weak(?:ness|` +
			`nesses)?|patterns?|contradictions?)\b|\bholes in\b|\bmakes? sense\b|\bdoes (?:this|that|the|my|` +
			`his|her) .*(?:hold up|add up|check out|hold)\b|\b(?:thoughts|feedback|opinion) on\b|` +
			`\bwhat do you think (?:of|about) (?:this|that|the|my|our|his|her|\w+'s)\b|\bunderstand (?:why|how|` +
			`what)\b|\b(?:error|exception|warning)[: ]`)},
		{ModeAnalysis, 3, within(`\berklär|\bvergleich|\bfass\w* .*zusammen|\bzusammenfass|\banalysier|` +
			`\bbewert|\bbeurteil|\bwarum\b|\bwieso\b|\bweshalb\b|\bunterschied|\bvor- und nachteile|` +
			`\bwas bedeutet\b|\bwie funktioniert\b|\bwas ist besser\b|\blohnt (?:sich|es)\b|\bworum (?:ging|` +
			`geht)\b|\bwas spricht (?:für|gegen)\b`)},
		{ModeAnalysis, 3, within(`\bexplique|\bcompare|\brésum|\banalyse|\bpourquoi\b|\bdifférence|` +
			`\bavantages\b|\binconvénients\b|\bque (?:veut dire|signifie)\b|\bcomment (?:ça|ca) (?:marche|` +
			`fonctionne)|\bévalue|\blequel est\b|\blaquelle est\b|\bça vaut\b`)},
		{ModeAnalysis, 3, within(`\bexplica|\bexplíca|\bcompara|\bresum|\banaliza|\bpor qué\b|\bpor que (?:no|` +
			`es|se|me)\b|\bdiferencia|\bventajas\b|\bdesventajas\b|\bqué significa\b|\bcómo funciona\b|` +
			`\bevalúa|\bvale la pena\b|\bcuál es mejor\b`)},
		{ModeAnalysis, 3, within(`説明して|解説|比較|比べて|まとめて|要約|分析|なぜ|なんで|どうして|違い|どっちが|メリット|とはどういう|解释|解釋|比较|比較|总结|總結|` +
			`分析|为什么|為什麼|为啥|為啥|区别|區別|差別|优缺点|優缺點|什么意思|什麼意思|哪个更|哪個更|哪个好|哪個好|评价|評價|怎么看|怎麼看`)},

		// Something new.
		{ModeCreation, 3, begins(`write|draft|compose|create|generate|design|brainstorm|invent|come up with|` +
			`think of|suggest|propose|make (?:me |us |up )?(?:a|an|some|up|one|two|three|four|five|\d+)\b|` +
			`build|plan|sketch|prepare|produce|put together|set up a|code|implement|script|whip up|cook up|` +
			`outline|name (?:my|our|this|the)|roast|give (?:me|us) (?:a|an|some|\d+|two|three|four|five|six|` +
			`ten|a few|names|ideas)|pitch|rhyme|story about|song about|poem about`)},
		{ModeCreation, 3, within(`\b(?:write|draft|create|make|generate|design|compose|build|invent|need|want|` +
			`gimme|give me|come up with|cook up|drop) (?:me |us |up )?(?:a|an|some|any|\d+|two|three|four|five|` +
			`ten|another|quick|short|good|new|funny)? ?(?:\w+[ -]){0,4}` + thing + `\b`)},
		{ModeCreation, 2, within(`\b(?:name|names|ideas?|title|titles|nickname|slogan|suggestions?) for\b|` +
			`\bany (?:ideas|suggestions)\b|\bhelp me (?:write|make|plan|come up)\b|\bfrom scratch\b|` +
			`\bfor our (?:next|new)\b|\b(?:poem|haiku|limerick|song|story|rap) (?:about|on|for)\b`)},
		{ModeCreation, 3, within(`\bschreib\w* (?:mir |uns |mal |bitte |doch |schnell )*(?:ein|eine|einen|was|` +
			`nen|n|ne|drei|zwei|fünf)\b|\bentwirf|\bentwerf|\berstell|\berfind|\bdenk dir|\bplan(?:e|st)? |` +
			`\bgenerier|\bbastel|\bmach(?:e|st)? (?:mir |uns |mal |bitte )*(?:ein|eine|einen|nen|n|ne|` +
			`vorschläge)\b|\bschlag\w* .*vor\b|\bideen? für\b|\bnamen? für\b|\bdichte\b|\bbau(?:e|st)? (?:mir |` +
			`uns )*(?:ein|eine|einen|nen)\b`)},
		{ModeCreation, 3, within(`\bécris|\brédige|\bcrée|\bgénère|\binvente|\bimagine|\bpropose|\bconçois|` +
			`\bprépare|\btrouve(?:-| )(?:moi|nous) (?:un|une|des)|\bfais(?:-| )(?:moi|nous) (?:un|une|des)|` +
			`\bdes idées\b|\bune idée\b|\bun plan\b`)},
		{ModeCreation, 3, within(`\bescribe|\bescríbe|\bredacta|\bcrea\b|\bcréa|\bgenera\b|\binventa|\bimagina|` +
			`\bpropón|\bdiseña|\bprepara|\bhaz(?:me|nos)? (?:un|una|unos|unas)\b|\bdame (?:ideas|un|una|` +
			`nombres|\d+)|\bideas para\b|\bsugiere|\bplanea|\bnombres? para\b`)},
		{ModeCreation, 3, within(`書いて|作って|考えて|案を|アイデア|提案して|作成|企画|つくって|写一|寫一|写个|寫個|写首|寫首|帮我写|幫我寫|起草|设计|設計|想几个|` +
			`想幾個|想一个|想一個|起个名|起個名|取个名|取個名|编一个|編一個|生成|做一个|做一個|制定|擬一`)},

		// The same in looser forms.
		{ModeSearch, 3, within(`\b(?:didn'?t|wasn'?t|weren'?t|hadn'?t|haven'?t|hasn'?t) (?:we|there|i|he|she|` +
			`they|you|it|\w+) (?:\w+ )*?(?:already|agree|say|said|a|an|supposed|some|something|decide|talk|` +
			`going|mention|post|have)\b`)},
		{ModeSearch, 3, within(`\bany (?:mention|word|news|sign|record|trace|messages?|updates?) (?:of|on|` +
			`about|from|by)\b|\b(?:anything|something|a quote|a message|a link|a post|news|word) (?:from|` +
			`by) \w+|\b(?:somebody|someone|anyone|anybody|one of (?:us|you)|\w+) (?:already |once |` +
			`just )?(?:shared|posted|sent|linked|uploaded|mentioned|dropped|recommended|claimed|promised|` +
			`swore)\b`)},
		{ModeSearch, 3, within(`\b(?:i'?m|we'?re) (?:still )?(?:looking for|searching for|trying to find)\b|` +
			`\bwhere'?d\b|\bwho'?d\b|\bwho (?:got|else|all)\b|\bwhich (?:one )?of (?:us|you|them)\b|` +
			`\bhow long (?:has|have|ago|did)\b|\bhow (?:many|often) (?:times )?(?:has|have|did|do)\b|` +
			`\bthere was (?:a|an|this|that|some)\b|\bgot (?:moved|cancelled|canceled|pushed|postponed)\b|` +
			`\bstill on (?:for|track)?\b|\bstory behind\b|\b(?:first|last|latest|oldest) (?:ever )?(?:message|` +
			`post|link|time|thing)\b|\blink\?|\bin the pins\b|\bpinned\b.*\?|\b(?:have|did) i (?:ever |` +
			`already )?(?:ask|tell|say|mention|post|miss)\w*|\bwhat'?s? happened (?:to|with)\b|\bwho (?:is|was|` +
			`are) \w+ again\b|\bagain\?`)},
		{ModeSearch, 1, within(`\bwe (?:said|agreed|decided|settled|talked|picked|chose|planned|wanted)\b|` +
			`\b(?:chat|channel|server|thread|log|logs|history|scroll\w*)\b|#\w+`)},

		{ModeModification, 3, begins(`(?:make|put|take out|get rid of|leave out|cross out|throw out|switch|` +
			`flip|bump|loosen|lighten|spice|jazz|dumb|water|strip|break up|split up|shuffle|bold|highlight|` +
			`indent|scrap|use \w+ instead|give it|lose the|keep the|turn) (?:(?:it|this|that|the|my|his|her|` +
			`our|verse|line|question|point|step|part|paragraph|number|every|all|\w+s) |up|down)`)},
		{ModeModification, 2, within(`(?:^|[.!?,;] ?|\bbit |\blittle |\bbe |\bway |\bmuch )(?:more|less|fewer|` +
			`not so|not as) \w+(?: pls| please)?(?: (?:in|at|and|on|then|for) |[.!,]|$)|\btoo (?:long|short|` +
			`formal|easy|hard|difficult|wordy|stiff|much|many|cheesy|dry|boring|generic|harsh|soft|nice|loud|` +
			`vague|complicated|technical|casual|cringe|corporate)\b|\bsounds? (?:like|too|so|robotic|weird|off|` +
			`stiff|wrong|cringe|mean|rude|angry|dull|passive)\b`)},
		{ModeModification, 3, within(`\b(?:it|that|this|the \w+) (?:should|needs to|has to|must|` +
			`ought to) (?:say|be|read|have|start|end|mention|include)\b|\bone more (?:stanza|line|verse|point|` +
			`item|question|paragraph|example|sentence|round)\b|\banother (?:stanza|line|verse|point|paragraph|` +
			`example|sentence)\b|\bcorrect (?:it|this|that|my)\b|\bwith (?:a |an |more |less |` +
			`fewer )?\w+ instead\b|\btone (?:it|this|that) (?:down|up)\b|\band no \w+$|\bcan (?:it|this|` +
			`that) be\b|\bcould (?:it|this|that) be\b|\b(?:the|your) (?:ending|opening|beginning|tone|title|` +
			`rhymes?|wording)\b.*(?:\?|\bmore|\bless|\bmaybe)|\byou (?:just )?(?:wrote|made|sent|posted|` +
			`gave)\b|\brest (?:stays|is|can stay|as it is)\b|\bstatt\b|\b(?:zu|etwas|noch|bitte|das|es|` +
			`ihn) kürzen\b|\bduzen\b|\bsiezen\b|\bau lieu de\b|\ben vez de\b`)},

		{ModeAnalysis, 3, within(`\btheor(?:y|ies)\?|\b(?:don'?t|do not|cant|can'?t|didn'?t) (?:get|follow|` +
			`understand|see why|figure)\b|\bwhat (?:am|are|did|do) (?:i|we|they) (?:\w+ )?(?:missing|` +
			`misunderstand\w*|doing wrong|wrong|overlooking)\b|\b(?:\w+error|\w*exception|segfault|stacktrace|` +
			`core dump|exit code|error code|undefined|null pointer|nullpointer|deadlock|oom|timeout)\b|` +
			`\bwhat (?:does|do) (?:line|this|that|these|it|the) .*\b(?:do|mean|say|imply|tell)\b|` +
			`\bboil\w* .*down\b|\bgo over (?:my|this|the|our)\b|\btell me (?:where|why|what'?s wrong|if)\b|` +
			`\bbig o\b|\bstack(?:s)? up\b|\bhow(?:'?s| does| do| is| would)? .* (?:against|compared to|` +
			`compare)\b`)},
		{ModeAnalysis, 3, within(`\b(?:does|do|would|will|is) (?:\w+ ){1,6}(?:follow|hold|hold up|add up|` +
			`check out|make sense|realistic|feasible|plausible|consistent|biased|convincing)\b|\bpatterns?\b|` +
			`\bhow do (?:you|u) (?:read|interpret|see|understand)\b|\bwhat'?s (?:better|worse|safer|cheaper|` +
			`faster|behind|causing|going on with|up with|happening (?:in|with)|the (?:theory|story with|logic|` +
			`reasoning|vibe|mood|sentiment|cause))\b|\b(?:actual|real|theory|main|underlying) reason\b|` +
			`\b(?:where|what|why) (?:do|did) .*\bdisagree\b|\bmostly (?:\w+ )or\b|\bthe vibe (?:in|of|on)\b|` +
			`\bfallac\w+\b|\bwhat would happen if\b|\bimplications?\b|\bwhat makes\b|\bréaliste\b|` +
			`\bworan liegt|\bwas hältst du von\b|\bergibt das sinn\b|どういう意味|どう思う|原因|怎么回事|怎麼回事|合理`)},

		{ModeAnalysis, 3, within(`\b(?:check|test|poke holes in|look over|look at|sanity check) (?:my|this|our|` +
			`his|her|the) \w+|\b(?:does|do|is|are|would) (?:this|that|it|my|our|the|these) (?:\w+ )*(?:look|` +
			`seem|sound|read|feel)s? (?:ok|okay|right|good|fine|fair|off|legit|wrong|reasonable)\b|` +
			`\bwhat (?:do|did|does) (?:people|everyone|members|folks|they|most|we|the \w+|` +
			`\w+) (?:here )?(?:really |actually )?(?:think|feel) (?:of|about)\b|\b(?:is|` +
			`are) .+ or .+ (?:better|best|worse|cheaper|safer|faster|wiser|smarter)\b|\bhow (?:would|will|` +
			`could) .*\b(?:affect|impact|change)\b|\bwhat (?:are|were) the (?:chances|odds|risks|arguments|` +
			`implications|consequences|reasons)\b`)},
		{ModeModification, 3, begins(`add (?:[\w-]+ ){1,4}(?:to|in|into|at|after|before) (?:it|this|that|the|` +
			`my|your)\b`)},
		{ModeCreation, 3, within(`\bsomething (?:to (?:say|write|post|send|read|sing)|(?:nice|funny|short|` +
			`clever|cute|sweet) (?:to|for))\b`)},
		{ModeCreation, 2, within(`^(?:\W*[\w'-]+ ){0,5}?` + thing +
			`\b(?: [\w'-]+){0,3} (?:for|about|that|from|with|to|on|of|where|w|für|über|pour|sur|para|sobre|` +
			`launching|announcing)\b`)},
		{ModeCreation, 2, within(`^(?:\W*(?:a|an|some|one|two|three|five|\d+|short|quick|funny|un|une|una|ein|` +
			`eine|petit|need|we need|i need|fake|little|ok|right|so|hark) ?){1,5}(?:[\w'-]+ ){0,4}?` + thing + `\` +
			`b`)},
		{ModeCreation, 2, within(`\b(?:need|needs|want|wants|wanna have|could use|looking for|brauche?n?|` +
			`bräuchte|necesito|necesitamos|quiero|il (?:me|nous) faut|j'ai besoin d'|hit (?:me|us) with|` +
			`out of) (?:a |an |some |\d+ |ein(?:e|en)? |un(?:e|a)? |fresh |new |good )*(?:[\w'-]+ ){0,4}?` + thing + `` +
			`\b`)},
		{ModeSearch, 3, within(`\bwho was it\b|\bi swear\b|\b(?:come|came|comes|been|brought) up before\b|` +
			`\bin the first place\b|\bany (?:decision|result|outcome|answer|reply|verdict) (?:yet|on|about|` +
			`from)\b|\b(?:have|has) (?:we|anyone|\w+) (?:done|had|tried|played|seen|been|used|met|made|ever)\b|` +
			`\bis there (?:anybody|anyone|somebody|someone) (?:in )?here\b|\bwhat (?:song|movie|film|game|book|` +
			`show|track|video|map|server|tool|site|app|brand|place|day|time) (?:did|was|were|had|do)\b|` +
			`\bwhat (?:has|have|had) .* been (?:say|do|talk|writ)\w*|\bwhile i was (?:away|asleep|gone|offline|` +
			`out|at)\b|\bi (?:missed|lost track|forgot|forget|can'?t (?:find|remember|recall))\b.*\b(?:what|` +
			`when|where|who|which|how|link|talk|name)\b|\bwho (?:banned|kicked|muted|invited|added|deleted|` +
			`changed|renamed|pinned|started|created|came|went|gave|took|found|sold|bought|asked|voted|scored|` +
			`finished|signed|picked|chose|named|lent|borrowed|beat)\b|— name\?|\bon the \d{4} \w+`)},
		{ModeModification, 3, within(`\binstead of (?:that|this|the|those|all)\b|\buse (?:something|another|` +
			`a different|\w+) (?:else|instead|word|title|name)\b|\bsame \w+ but\b|\b(?:patch|fix|reword|` +
			`rephrase|shorten|scale|round|redo|say|put|word) (?:it|this|that|them) (?:pls|please|up|down|` +
			`nicely|politely|better|differently|for|in|another|to|into)\b|\bspelled\b|\bmisspelled\b|` +
			`\bfit (?:in|into|on) \b|\b(?:take|leave|keep|cut|edit) (?:\w+ ){1,4}out\b|` +
			`\bfirst,? (?:and )?then\b|\b(?:it'?s|its|that'?s|that was|it was) supposed to\b|\b(?:uppercase|` +
			`lowercase|all caps|alphabetical|alphabetically|bold|italic|italics)\b|\bthe (?:\w+ )?(?:ending|` +
			`title|intro|opening|second|first|third|last|tone|verse|chorus|heading|headings|punchline|` +
			`rhyme) (?:\w+ )?(?:is|was|sucks|should|could|needs|feels|sounds|doesn'?t)\b|\b(?:day|point|step|` +
			`line|item|question|verse|slide|section|rule) \d+ (?:should|needs|is|can|first|has)\b|\brausnehm|` +
			`\bweglass|\bumschreib|\banpass|\baustausch|\bvouvoiement\b|\btutoiement\b|もうちょっと|もう少し|` +
			`再.{0,6}(?:一点|一點|一些)|这句|這句|这段|這段`)},
		{ModeAnalysis, 3, within(`\bhold up\b|\bwho (?:was|is|'?s) (?:right|wrong|correct)\b|\bupsides?\b|` +
			`\bdownsides?\b|\bfunny about\b|\bis (?:this|that|it) (?:a |an )?(?:scam|legit|phishing|fake|` +
			`normal|real|true|rude|sarcasm|bug|virus|malware)\b|\b(?:she|he|they|\w+) (?:means?|meant) (?:by|` +
			`with|when)\b|\bstrong enough\b|\bwould (?:this|that|my|our) .*\bwork\b|\bbetter case\b|` +
			`\b(?:works?|fits?|suits?|reads?|looks?) better\b|\bwhere'?s (?:the|my) (?:problem|mistake|error|` +
			`flaw|catch|bug)\b|\bfeedback\b|\bin short\b|\b(?:right|correct|true)\?$|\bwhat happened there\b|` +
			`\bcontradict\w*|\bover time\b|\breally about\b|\bthe reason\b|\bwas spricht\b|\bklingt (?:das|die|` +
			`der|mein|meine|es|sie|er)\b|\btient la route\b|\btiene sentido\b|\bwhat (?:were|are|is|` +
			`was) (?:people|everyone|everybody|they|we)'?s? .*\b(?:complain\w*|problem|argument|worr\w+|` +
			`opinion)s?\b|どっちのほう|現実的|观点|觀點|各自|現實|靠谱|靠譜`)},
		{ModeCreation, 3, within(`\bhit (?:me|us) with\b|\bdraw up\b|\b(?:patch|release|meeting|show) notes\b|` +
			`\bpack(?:ing )?list|\bpackliste\b|\bpondre\b|\b(?:pick ?up|opening|punch) lines\b|\broast (?:for|` +
			`of|my|me|him|her)\b|\b(?:i|we)(?:'ll| will|'d like|'d love)? need (?:like )?(?:a|an|some|\d+|` +
			`patch|new) |\b(?:il me|il nous) faudrait\b|\bin der art von\b|ほしい|欲しい|お願い|考え(?:て|よう)|求一|给我来|給我來`)},
		{ModeCreation, 4, within(`\bwhat (?:could|should|can|shall|would|do) (?:i|we) (?:call|name|write|cook|` +
			`make|bake|draw|title|send|reply|answer)\b`)},
		{ModeCreation, 1, within(`\b(?:funny|wholesome|hyped|catchy|creative|silly|short and|keep it|` +
			`no more than|in the style of|from scratch)\b`)},
	}
})
