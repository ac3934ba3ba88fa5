package config

import (
	"errors"
	"fmt"
	"io/fs"
	"net"
	"os"
	"regexp"
	"slices"
	"strings"
)

// settings is a configuration being read.
type settings struct {
	config   *Config
	from     map[string]string // by place (see marks): the position or variable that set it
	secrets  map[string]bool   // the keys of those that a file holds
	problems []error

	secretFiles []string // that were read
}

func newSettings(c *Config) *settings {
	return &settings{
		config:  c,
		from:    map[string]string{},
		secrets: map[string]bool{},
	}
}

func (s *settings) problem(where, format string, args ...any) {
	if where != "" {
		where += ": "
	}
	s.problems = append(s.problems, fmt.Errorf(where+format, args...))
}

// position returns where a setting is written, or where its section is if it is missing.
func (s *settings) position(place string) string {
	where, said := s.from[place]
	if !said {
		where = s.from[place[:max(0, strings.LastIndexByte(place, '.'))]]
	}
	return where
}

// want notes what a setting should be. place is as in marks. The value isn't named: an address may hold a password.
func (s *settings) want(ok bool, place, what string) {
	if !ok {
		s.problem(s.position(place), "%s wants %s", itemNumber.ReplaceAllString(place, ""), what)
	}
}

// forbid notes a setting that can't be there, and why. place is as in marks.
func (s *settings) forbid(there bool, place, why string) {
	if there {
		setting := itemNumber.ReplaceAllString(place, "")
		s.problem(s.position(place), "Hark doesn't start with %s: delete it; %s", setting, why)
	}
}

func (s *settings) wantOneOf(value, key string, known []string) {
	s.want(slices.Contains(known, value), key, anyOf(known)+meant(value, known))
}

// isNear reports whether a host is in the local network, as other containers are.
func isNear(host string) bool {
	ip := net.ParseIP(host)
	return isLocal(host) || ip != nil && ip.IsPrivate() || ip == nil && !strings.Contains(host, ".")
}

// lookup returns a variable's value. Empty counts as not set: compose files pass unset variables so.
func lookup(env func(string) (string, bool), name string) (string, bool) {
	value, _ := env(name)
	return value, value != ""
}

// mcpList is the key of the list of MCP servers.
const mcpList = "tools.mcp"

var itemNumber = regexp.MustCompile(`\[\d+\]`)

// isLocal reports whether a host is this machine, for itself alone.
func isLocal(host string) bool {
	ip := net.ParseIP(host)
	return host == "localhost" || ip != nil && ip.IsLoopback()
}

// Unreadable adds to an error of reading a file what its owner can do about it.
func Unreadable(path string, err error) error { return unreadableBy(os.Getuid(), path, err) }

// unreadableBy is Unreadable for a process of a user; -1 where users have no numbers.
func unreadableBy(user int, path string, err error) error {
	info, unknown := os.Stat(path)
	switch {
	case unknown == nil && info.IsDir():
		return fmt.Errorf("%s is a directory: name a file; if Docker made it because the file that it should mount was "+
			"missing, put that file in its place", path)
	case errors.Is(err, fs.ErrPermission) && user > 0:
		return fmt.Errorf("%w; Hark runs as user %d: make that the file's owner, by chown %[2]d %s", err, user, path)
	}
	return err
}
