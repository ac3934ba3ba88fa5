package web

import (
	"bytes"
	"context"
	"crypto/hmac"
	"crypto/rand"
	"crypto/sha256"
	"crypto/subtle"
	"encoding/base64"
	"encoding/binary"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"net"
	"net/http"
	"net/url"
	"os"
	"path/filepath"
	"strings"
	"time"

	"hark/internal/atomicfile"
	"hark/internal/health"
)

const (
	sessionTime = 8 * time.Hour
	linkTime    = 10 * time.Minute
	maxSessions = 100
	maxBody     = 64 << 10 // bytes of a form
	cookieName  = "hark_session"
	// hostPrefix has a browser take the cookie only by https, and from this host alone.
	hostPrefix = "__Host-"
	keyFile    = "inspect.json"
	keyBytes   = 32
	nonceBytes = 16
)

func newAccess(c Config) *access {
	a := &access{
		Config:   c,
		key:      make([]byte, keyBytes),
		origin:   http.NewCrossOriginProtection(),
		tries:    newTries(),
		sessions: map[[sha256.Size]byte]time.Time{},
		used:     map[string]time.Time{},
		now:      time.Now,
	}
	_, _ = rand.Read(a.key) // never fails
	return a
}

// announce keeps the key of login links in the data directory, where "hark web --link" finds it. Whoever announces must
// be the only one who uses the data.
func (a *access) announce() error {
	text, err := json.Marshal(linkKey{a.url(), a.Address, a.key})
	if err == nil {
		err = os.MkdirAll(a.Dir, 0o700)
	}
	if err == nil {
		err = atomicfile.Write(filepath.Join(a.Dir, keyFile), func(w io.Writer) error {
			_, err := w.Write(text)
			return err
		})
	}
	if err != nil {
		return fmt.Errorf("keep the key of login links in the data directory: %w", err)
	}
	return nil
}

// close removes the key, unless another process has put its own there.
func (a *access) close() error {
	of, err := readKey(a.Dir)
	if err == nil && bytes.Equal(of.Key, a.key) {
		err = os.Remove(filepath.Join(a.Dir, keyFile))
	}
	if err != nil && !errors.Is(err, fs.ErrNotExist) {
		return fmt.Errorf("remove the key of login links: %w", err)
	}
	return nil
}

func readKey(dir string) (of linkKey, err error) {
	text, err := os.ReadFile(filepath.Join(dir, keyFile))
	if err == nil {
		err = json.Unmarshal(text, &of)
	}
	return of, err
}

// url is where people open the pages.
func (a *access) url() string { return a.Web.Address(a.Address) }

// Link returns a link that logs in once, within ten minutes, at the Hark that serves the pages of a data directory.
func Link(ctx context.Context, dir string, now time.Time) (string, error) {
	of, err := readKey(dir)
	if errors.Is(err, fs.ErrNotExist) {
		return "", errors.New("no Hark serves the inspection page of this data directory: " +
			"set web.inspect = true and restart \"hark run\", or stop it and use \"hark web\"")
	}
	if err != nil {
		return "", fmt.Errorf("read the key of login links: %w", err)
	}
	if err := health.Check(ctx, of.Address); err != nil {
		return "", fmt.Errorf("%w; \"hark run\" or \"hark web\" serves the page while it runs", err)
	}
	return of.link(now), nil
}

// link returns a link as Link does.
func (k linkKey) link(now time.Time) string {
	token := make([]byte, nonceBytes, nonceBytes+8+sha256.Size)
	_, _ = rand.Read(token) // never fails
	token = binary.BigEndian.AppendUint64(token, uint64(now.Add(linkTime).Unix()))
	token = append(token, sign(k.Key, token)...)
	return k.URL + "/login?" + url.Values{"token": {base64.RawURLEncoding.EncodeToString(token)}}.Encode()
}

func sign(key, text []byte) []byte {
	mac := hmac.New(sha256.New, key)
	mac.Write(text) // never fails
	return mac.Sum(nil)
}

// Link returns a link that logs in once, within ten minutes.
func (s *Site) Link() string {
	return linkKey{s.access.url(), s.Address, s.access.key}.link(s.access.now())
}

// redeem reports whether a link's token is good, and spends it.
func (a *access) redeem(text string, now time.Time) bool {
	token, err := base64.RawURLEncoding.DecodeString(text)
	if err != nil || len(token) != nonceBytes+8+sha256.Size {
		return false
	}
	signed := token[:nonceBytes+8]
	signature := token[nonceBytes+8:]
	ends := time.Unix(int64(binary.BigEndian.Uint64(signed[nonceBytes:])), 0)
	if !hmac.Equal(signature, sign(a.key, signed)) || now.After(ends) {
		return false
	}
	a.mu.Lock()
	defer a.mu.Unlock()
	for link, ended := range a.used {
		if now.After(ended) {
			delete(a.used, link)
		}
	}
	if _, spent := a.used[string(signed)]; spent {
		return false
	}
	a.used[string(signed)] = ends
	return true
}

// isPassword reports whether a text is the configured password.
func (a *access) isPassword(text string) bool {
	got := sha256.Sum256([]byte(text))
	want := sha256.Sum256([]byte(a.Web.Password.Reveal()))
	return a.Web.Password.IsSet() && subtle.ConstantTimeCompare(got[:], want[:]) == 1
}

// begin begins a session. The oldest goes if there are too many.
func (a *access) begin(w http.ResponseWriter, now time.Time) {
	value := rand.Text() + rand.Text()
	a.mu.Lock()
	var oldest [sha256.Size]byte
	for id, ends := range a.sessions {
		if now.After(ends) {
			delete(a.sessions, id)
		} else if first, any := a.sessions[oldest]; !any || ends.Before(first) {
			oldest = id
		}
	}
	if len(a.sessions) >= maxSessions {
		delete(a.sessions, oldest)
	}
	a.sessions[sha256.Sum256([]byte(value))] = now.Add(sessionTime)
	a.mu.Unlock()
	a.setCookie(w, value, int(sessionTime.Seconds()))
}

// isSecure reports whether people open the pages by https.
func (a *access) isSecure() bool { return strings.HasPrefix(a.url(), "https:") }

func (a *access) cookie() string {
	if a.isSecure() {
		return hostPrefix + cookieName
	}
	return cookieName
}

func (a *access) setCookie(w http.ResponseWriter, value string, age int) {
	http.SetCookie(w, &http.Cookie{
		Name:     a.cookie(),
		Value:    value,
		Path:     "/",
		MaxAge:   age,
		HttpOnly: true,
		Secure:   a.isSecure(),
		SameSite: http.SameSiteStrictMode,
	})
}

// end ends a session.
func (a *access) end(w http.ResponseWriter, r *http.Request) {
	if c, err := r.Cookie(a.cookie()); err == nil {
		a.mu.Lock()
		delete(a.sessions, sha256.Sum256([]byte(c.Value)))
		a.mu.Unlock()
	}
	a.setCookie(w, "", -1)
}

func (a *access) isLoggedIn(r *http.Request) bool {
	if name := a.Web.ProxyHeader; name != "" && r.Header.Get(name) != "" {
		return true
	}
	c, err := r.Cookie(a.cookie())
	if err != nil {
		return false
	}
	a.mu.Lock()
	defer a.mu.Unlock()
	ends, known := a.sessions[sha256.Sum256([]byte(c.Value))]
	return known && a.now().Before(ends)
}

// sameOrigin refuses what other sites send or frame, and requests under another name, by which a site could reach the
// pages through its visitors' browsers. It sets the headers of all answers.
func (a *access) sameOrigin(next http.Handler) http.Handler {
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		h := w.Header()
		h.Set("Cache-Control", "no-store")
		h.Set("Content-Security-Policy", "default-src 'none'; style-src 'self'; script-src 'self'; img-src 'self'; "+
			"form-action 'self'; frame-ancestors 'none'; base-uri 'none'")
		h.Set("Cross-Origin-Opener-Policy", "same-origin")
		h.Set("Cross-Origin-Resource-Policy", "same-origin")
		h.Set("Referrer-Policy", "no-referrer")
		h.Set("X-Content-Type-Options", "nosniff")
		h.Set("X-Frame-Options", "DENY")
		r.Body = http.MaxBytesReader(w, r.Body, maxBody)
		from := r.Header.Get("Sec-Fetch-Site") // "same-site" is another port or a sibling of this host
		other := (from == "cross-site" || from == "same-site") && r.URL.Path != "/login"
		if other || !a.isOurs(r.Host) || a.origin.Check(r) != nil {
			const why = "This page takes requests from itself alone, under the name in web.url."
			http.Error(w, why, http.StatusForbidden)
			return
		}
		next.ServeHTTP(w, r)
	})
}

// isOurs reports whether host, of a request, is a name of ours: the configured one, this machine's own, or an address,
// for which no other site's name can stand.
func (a *access) isOurs(host string) bool {
	name, _, err := net.SplitHostPort(host)
	if err != nil {
		name = host
	}
	name = strings.TrimSuffix(strings.Trim(name, "[]"), ".")
	own, _ := url.Parse(a.url())
	return net.ParseIP(name) != nil || strings.EqualFold(name, "localhost") || strings.EqualFold(name, own.Hostname())
}

type loginData struct {
	Password bool   // there is one
	Wrong    string // what was wrong with the last try
	Done     bool
}

func (d loginData) refresh() string {
	if d.Done {
		return "0; url=/"
	}
	return ""
}
