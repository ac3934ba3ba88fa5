package main

import (
	"io"
	"net/http"

	"hark/internal/console"
	"hark/internal/terminal"
)

// environment is what a command uses besides files and the network.
type environment struct {
	stdin   io.Reader
	stdout  io.Writer
	stderr  io.Writer
	lookup  func(string) (string, bool)
	environ func() []string
	// interrupts, if not nil, lets Ctrl-C end a part of a command.
	interrupts *terminal.Interrupts
	// discord, if not nil, makes the requests to Discord and for its files.
	discord *http.Client
	// space, if not nil, replaces doctor's measure of the disk.
	space func(dir string) (free, total uint64, err error)
	// progress, if not nil, is called when "hark run" has done something that neither Discord nor the log shows, for
	// tests to wait by. Several goroutines call it; it must not block.
	progress func()
	// unchecked leaves out the checks at the start, for tests that count requests.
	unchecked bool
}

// output keeps the first write error for run, and then writes nothing more, so that printing code needn't check.
type output struct {
	io.Writer
	failed error
}

func (o *output) Write(p []byte) (n int, err error) {
	if o.failed == nil {
		n, o.failed = o.Writer.Write(p)
	}
	return n, o.failed
}

// flags are those of every command.
type flags struct {
	env    *environment
	config string
	data   string
	talk   *console.Talk // that uses the command; nil at the command line
}

func (e *environment) transport() http.RoundTripper {
	if e.discord != nil {
		return e.discord.Transport
	}
	return http.DefaultTransport
}

const otherCommands = "Other"
