package config

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
)

// Load reads the file at path and then the environment; env works like os.LookupEnv. An empty path means the
// file named by HARK_CONFIG, or else DefaultFile if that exists. The error lists every problem, a line each.
// Load ignores unknown variables; CheckEnv finds them.
func Load(path string, env func(string) (string, bool)) (Config, error) {
	path, named := Find(path, env)
	data, err := os.ReadFile(path)
	switch missing := errors.Is(err, fs.ErrNotExist); {
	case missing && named:
		return Config{}, fmt.Errorf("read configuration: %w; name a file that exists, or none to go by the defaults",
			err)
	case err != nil && !missing:
		return Config{}, fmt.Errorf("read configuration: %w", Unreadable(path, err))
	}
	return LoadText(path, string(data), env)
}

// LoadText is Load for a file with that name and text.
func LoadText(name, text string, env func(string) (string, bool)) (Config, error) {
	c := Default()
	s := newSettings(&c)
	s.parse(name, []byte(text))
	s.readEnv(env)
	s.readKeys(env)
	if len(s.problems) == 0 {
		c.LLM.inherit()
		s.check()
	}
	if err := errors.Join(s.problems...); err != nil {
		return Config{}, err
	}
	c.From = s.from
	c.SecretFiles = s.secretFiles
	return c, nil
}

// Find returns the file that Load reads, and whether it was named rather than the default. It may not exist.
func Find(path string, env func(string) (string, bool)) (file string, named bool) {
	if path != "" {
		return path, true
	}
	path, named = lookup(env, "HARK_CONFIG")
	if named {
		return path, true
	}
	return DefaultFile, false
}
