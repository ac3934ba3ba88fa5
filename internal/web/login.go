package web

import "net/http"

// logIn shows how to log in, or logs in by a link.
func logIn(v *visit) error {
	token := v.r.URL.Query().Get("token")
	switch {
	case token == "" && v.access.isLoggedIn(v.r):
		return v.redirect("/")
	case token == "" || v.r.Method == http.MethodHead: // a preview doesn't spend a link
		return v.show(http.StatusOK, "login", "Log in", loginData{Password: v.Web.Password.IsSet()})
	case !v.access.redeem(token, v.access.now()):
		return v.show(http.StatusUnauthorized, "login", "Log in", loginData{Password: v.Web.Password.IsSet(),
			Wrong: "This link is too old, or was used before."})
	}
	v.access.begin(v.w, v.access.now())
	// A redirect from a link elsewhere would come without the cookie; a page of ours leads on with it.
	return v.show(http.StatusOK, "login", "Logged in", loginData{Done: true})
}

func logInByPassword(v *visit) error {
	if !v.access.tries.allow(v.r.RemoteAddr, v.access.now()) {
		return v.show(http.StatusTooManyRequests, "login", "Log in", loginData{Password: true,
			Wrong: "Too many tries: wait some seconds. On the machine itself, hark web --link lets you in at once."})
	}
	if !v.access.isPassword(v.r.PostFormValue("password")) {
		return v.show(http.StatusUnauthorized, "login", "Log in", loginData{Password: v.Web.Password.IsSet(),
			Wrong: "That isn't the password."})
	}
	v.access.begin(v.w, v.access.now())
	return v.redirect("/")
}

func logOut(v *visit) error {
	v.access.end(v.w, v.r)
	return v.redirect("/login")
}
