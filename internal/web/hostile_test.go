package web

import (
	"fmt"
	"net/url"
	"strings"
	"testing"
	"time"

	"hark/internal/browsertest"
	"hark/memory"
)

// hostile returns 300 strings that act where a page doesn't escape them.
func hostile() (all []string) {
	attack := []string{`<script>pwned=1</script>`, `<img src=x onerror="pwned=1">`, `<svg onload="pwned=1">`,
		`<iframe srcdoc="<script>parent.pwned=1</script>"></iframe>`, `javascript:pwned=1`, `[click](javascript:pwned=1)`,
		`<a href="javascript:pwned=1">x</a>`, `<img src="https://evil.example/x.png">`, `<link rel=stylesheet href=//evil.example/x.css>`,
		`<style>@import "https://evil.example/x.css"</style>`, `<meta http-equiv="refresh" content="0; url=https://evil.example">`,
		`<base href="https://evil.example/">`, `<form action="https://evil.example"><button>Log out</button></form>`,
		`{{.App.Config}}`, `{{template "menu" .}}`, `${pwned=1}`, `#{pwned=1}`, `<%= pwned %>`, `"><script>pwned=1</script>`,
		`' onmouseover='pwned=1`, `" autofocus onfocus="pwned=1`, `</title><script>pwned=1</script>`,
		`</textarea></select></option><script>pwned=1</script>`, `<!--`, `]]>`, `&lt;script&gt;pwned=1&lt;/script&gt;`,
		"\u202Egnp.x\u202C evil", "\u2066a\u2069", "\u200F\u200E\u200B\uFEFF", "a\u0000b\u0007c\u001b[31m", "\u0301\u0301\u0301\u0301",
		strings.Repeat("W", 10_000), strings.Repeat("🧨", 500), "'; DROP TABLE message; --", "../../../../etc/passwd",
		"%00%0d%0aSet-Cookie: a=b", "\r\nLocation: https://evil.example", "//evil.example/", "data:text/html,<script>pwned=1</script>",
		`<math><mtext><script>pwned=1</script></mtext></math>`, `<details open ontoggle="pwned=1">`, `<x style="background:url(//evil.example)">`,
		`<noscript><p title="</noscript><img src=x onerror=pwned=1>">`}
	wraps := []string{"%s", "hello %s there", "**%s**", "`%s`", "<@1> %s", "%s\n%[1]s", "Zoe%s"}
	for _, wrap := range wraps {
		for _, a := range attack {
			all = append(all, fmt.Sprintf(wrap, a))
		}
	}
	return all[:300]
}

// tame reports what a page has that only members' text can have brought, after using all that can be used.
const tame = `(() => {
	for (const e of document.querySelectorAll("main *")) {
		for (const type of ["mouseover", "mouseenter", "focus", "toggle"]) e.dispatchEvent(new Event(type, {bubbles: true}));
	}
	const bad = [];
	if (typeof pwned !== "undefined") bad.push("a script ran");
	for (const e of document.querySelectorAll("script, iframe, img, style, base, object, embed, math, foreignObject"))
		if (e.getAttribute("src") !== "/static/page.js") bad.push(e.outerHTML.slice(0, 200));
	for (const e of document.querySelectorAll("[href], [action]")) {
		const at = e.getAttribute("href") ?? e.getAttribute("action");
		if (!/^(\/($|[^\/])|#|\?)/.test(at)) bad.push(e.outerHTML.slice(0, 200));
	}
	for (const e of document.querySelectorAll("*"))
		for (const a of e.attributes) if (/^on|^style$|^srcdoc$/.test(a.name)) bad.push(e.outerHTML.slice(0, 200));
	if (/[\u202A-\u202E\u2066-\u2069]/.test(document.documentElement.outerHTML)) bad.push("a character that turns text around");
	return bad;
})()`

// What members write, and how they are called, is text on every page: none of it becomes markup, a link, a request or a
// script.
func TestHostileTexts(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	w.talk()
	texts := hostile()
	var events []memory.Event
	for i, text := range texts {
		user := memory.UserID(9_100_000 + i)
		w.last = w.last.Add(time.Second)
		w.ids++
		events = append(events, memory.PersonSeen{Person: memory.Person{ID: user, Guild: garden, Username: memory.Clean(text),
			Name: memory.Clean(text), Nick: memory.Clean(text)}},
			memory.Posted{Message: memory.Message{ID: memory.FirstMessageID(w.last) + w.ids, Guild: garden, Channel: general,
				Author: user, Content: memory.Clean(text), Files: []memory.File{{Name: memory.Clean(text)}}}})
		if i < 20 {
			events = append(events, memory.ChannelSeen{Channel: memory.Channel{ID: memory.ChannelID(9_200_000 + i), Guild: garden,
				Name: memory.Clean(text)}}, memory.RoleSeen{Guild: garden, Role: memory.Role{ID: memory.RoleID(9_300_000 + i),
				Name: memory.Clean(text)}})
		}
		if len(text) < memory.MaxLoreName {
			events = append(events, memory.LoreTold{Lore: memory.Lore{ID: int64(9_400_000 + i), Guild: garden, Name: "x " + text,
				Text: text, By: user, At: w.last, Channel: general}},
				memory.FactTold{Guild: garden, User: zoe, Fact: memory.Fact{ID: int64(9_500_000 + i), Text: memory.Clean(text), By: user}})
		}
	}
	events = append(events, memory.SettingChosen{Guild: garden, Key: memory.SettingPersona, Value: texts[0] + texts[1], At: w.last})
	for len(events) > 0 {
		n := min(200, len(events))
		w.apply(events[:n]...)
		events = events[n:]
	}
	answer := w.ask(planning, 9_100_000, time.Minute, texts[0]+" server migration "+texts[18])
	p := browsertest.Open(t, browsertest.Options{Width: 390, Height: 800})
	p.Visit(w.site.Link())
	check := func(at string) {
		t.Helper()
		p.Visit(w.path("%s", at))
		var bad []string
		if p.Eval(tame, &bad); len(bad) > 0 {
			t.Errorf("%s: %q", at, bad)
		}
		var next string
		for p.Eval(`document.querySelector("main a[rel=next], main a[rel=prev]")?.href ?? ""`, &next); next != ""; {
			p.Visit(next)
			if p.Eval(tame, &bad); len(bad) > 0 {
				t.Fatalf("%s: %q", next, bad)
			}
			var further string
			if p.Eval(`document.querySelector("main a[rel="+(location.search.includes("before") ? "prev" : "next")+"]")?.href ?? ""`,
				&further); further == next {
				break
			}
			next = further
		}
	}
	patterns, at := w.visits(answer)
	for _, pattern := range patterns {
		check(at[pattern])
	}
	check(fmt.Sprintf("/memory/%d/people", garden))
	check(fmt.Sprintf("/memory/%d/people/%d", garden, 9_100_003))
	for i := range texts {
		if i%60 == 0 { // in every field that a form has
			q := url.QueryEscape(texts[i])
			check(fmt.Sprintf("/ask?q=%s&as=%[1]s&in=%d", q, general))
			check(fmt.Sprintf("/answers?person=%s", q))
			check(fmt.Sprintf("/memory/%d/%d?q=%s", garden, general, q))
			p.Problems()
		}
	}
}
