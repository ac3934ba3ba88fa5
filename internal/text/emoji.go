package text

import (
	"strings"
	"unicode/utf8"

	"golang.org/x/text/unicode/runenames"
)

// emojiIn calls f for the emoji in s, which has no words, and for the words of their names. It skips an emoji
// that repeats the one before, and skin tones. Each emoji of a sequence, such as a family, counts.
func emojiIn(s string, f func(word)) {
	if isASCII(s) {
		return
	}
	last := ""
	for i := 0; i < len(s); {
		r, size := utf8.DecodeRuneInString(s[i:])
		name := ""
		if isRegional(r) {
			second, more := utf8.DecodeRuneInString(s[i+size:])
			name = flags[regionOf(r, second)]
			if name != "" {
				size += more
				name = "flag " + name
			}
		} else if isEmoji(r) {
			name = strings.ToLower(runenames.Name(r))
		}
		emoji := s[i : i+size]
		i += size
		if name == "" || emoji == last {
			continue
		}
		last = emoji
		f(word{emoji, false})
		for _, w := range strings.FieldsFunc(name, func(r rune) bool { return r == ' ' || r == '-' }) {
			if !looks[w] {
				f(word{w, false})
			}
		}
	}
}

// looks are words in Unicode's names of emoji that nobody searches for.
var looks = SetOf("sign symbol face black white heavy medium")

// isEmoji reports whether r is a picture by itself, not a framed letter, a skin tone, a box line or an arrow.
func isEmoji(r rune) bool {
	switch {
	case r < 0x231A:
		return false
	case r < 0x1F000:
		return r <= 0x231B || 0x23E9 <= r && r <= 0x23FA || 0x2600 <= r && r <= 0x27BF || r == 0x2B50 || r == 0x2B55
	case r < 0x1F300:
		return r == 0x1F004 || r == 0x1F0CF
	}
	return r <= 0x1FAFF && !(0x1F3FB <= r && r <= 0x1F3FF) && !(0x1F700 <= r && r <= 0x1F7DF) &&
		!(0x1F800 <= r && r <= 0x1F8FF)
}

func isRegional(r rune) bool { return '🇦' <= r && r <= '🇿' }

// regionOf returns the region of two regional indicators, such as "de"; empty if there is none.
func regionOf(first, second rune) string {
	if !isRegional(second) {
		return ""
	}
	return string([]rune{'a' + first - '🇦', 'a' + second - '🇦'})
}

// flags are CLDR's English names of the regions with a flag, by code (ISO 3166).
var flags = namesOf(`
ac ascension island; ad andorra; ae united arab emirates; af afghanistan; ag antigua barbuda; ai anguilla;
al albania; am armenia; ao angola; aq antarctica; ar argentina; as american samoa; at austria; au australia;
aw aruba; ax aland islands; az azerbaijan; ba bosnia herzegovina; bb barbados; bd bangladesh; be belgium;
bf burkina faso; bg bulgaria; bh bahrain; bi burundi; bj benin; bl st barthelemy; bm bermuda; bn brunei; bo bolivia;
bq caribbean netherlands; br brazil; bs bahamas; bt bhutan; bv bouvet island; bw botswana; by belarus; bz belize;
ca canada; cc cocos keeling islands; cd congo kinshasa; cf central african republic; cg congo brazzaville;
ch switzerland; ci cote divoire; ck cook islands; cl chile; cm cameroon; cn china; co colombia; cp clipperton island;
cr costa rica; cu cuba; cv cape verde; cw curacao; cx christmas island; cy cyprus; cz czechia; de germany;
dg diego garcia; dj djibouti; dk denmark; dm dominica; do dominican republic; dz algeria; ea ceuta melilla;
ec ecuador; ee estonia; eg egypt; eh western sahara; er eritrea; es spain; et ethiopia; eu european union; fi finland;
fj fiji; fk falkland islands; fm micronesia; fo faroe islands; fr france; ga gabon; gb united kingdom; gd grenada;
ge georgia; gf french guiana; gg guernsey; gh ghana; gi gibraltar; gl greenland; gm gambia; gn guinea; gp guadeloupe;
gq equatorial guinea; gr greece; gs south georgia south sandwich islands; gt guatemala; gu guam; gw guinea bissau;
gy guyana; hk hong kong sar china; hm heard mcdonald islands; hn honduras; hr croatia; ht haiti; hu hungary;
ic canary islands; id indonesia; ie ireland; il israel; im isle of man; in india; io british indian ocean territory;
iq iraq; ir iran; is iceland; it italy; je jersey; jm jamaica; jo jordan; jp japan; ke kenya; kg kyrgyzstan;
kh cambodia; ki kiribati; km comoros; kn st kitts nevis; kp north korea; kr south korea; kw kuwait;
ky cayman islands; kz kazakhstan; la laos; lb lebanon; lc st lucia; li liechtenstein; lk sri lanka; lr liberia;
ls lesotho; lt lithuania; lu luxembourg; lv latvia; ly libya; ma morocco; mc monaco; md moldova; me montenegro;
mf st martin; mg madagascar; mh marshall islands; mk macedonia; ml mali; mm myanmar burma; mn mongolia;
mo macau sar china; mp northern mariana islands; mq martinique; mr mauritania; ms montserrat; mt malta; mu mauritius;
mv maldives; mw malawi; mx mexico; my malaysia; mz mozambique; na namibia; nc new caledonia; ne niger;
nf norfolk island; ng nigeria; ni nicaragua; nl netherlands; no norway; np nepal; nr nauru; nu niue; nz new zealand;
om oman; pa panama; pe peru; pf french polynesia; pg papua new guinea; ph philippines; pk pakistan; pl poland;
pm st pierre miquelon; pn pitcairn islands; pr puerto rico; ps palestinian territories; pt portugal; pw palau;
py paraguay; qa qatar; re reunion; ro romania; rs serbia; ru russia; rw rwanda; sa saudi arabia; sb solomon islands;
sc seychelles; sd sudan; se sweden; sg singapore; sh st helena; si slovenia; sj svalbard jan mayen; sk slovakia;
sl sierra leone; sm san marino; sn senegal; so somalia; sr suriname; ss south sudan; st sao tome principe;
sv el salvador; sx sint maarten; sy syria; sz swaziland; ta tristan da cunha; tc turks caicos islands; td chad;
tf french southern territories; tg togo; th thailand; tj tajikistan; tk tokelau; tl timor leste; tm turkmenistan;
tn tunisia; to tonga; tr turkey; tt trinidad tobago; tv tuvalu; tw taiwan; tz tanzania; ua ukraine; ug uganda;
um us outlying islands; un united nations; us united states; uy uruguay; uz uzbekistan; va vatican city;
vc st vincent grenadines; ve venezuela; vg british virgin islands; vi us virgin islands; vn vietnam; vu vanuatu;
wf wallis futuna; ws samoa; xk kosovo; ye yemen; yt mayotte; za south africa; zm zambia; zw zimbabwe
`)

// namesOf reads "code name; code name; …".
func namesOf(table string) map[string]string {
	names := map[string]string{}
	for _, row := range strings.Split(table, ";") {
		code, name, _ := strings.Cut(strings.TrimSpace(row), " ")
		names[code] = strings.Join(strings.Fields(name), " ")
	}
	return names
}
