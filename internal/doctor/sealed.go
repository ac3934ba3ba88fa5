package doctor

import (
	"context"
	"fmt"
	"os"
	"runtime"
	"strings"

	"hark/internal/store"
)

// sealed says whether what is remembered is encrypted, and whether the key is right and nobody else can read it.
func (d *Doctor) sealed(ctx context.Context) Finding {
	place := store.Of(d.Config)
	if err := place.KeyIsApart(); err != nil {
		return Failure(err, "")
	}
	found := d.sealedWith(ctx, place)
	if accessible(place.KeyFile, groupOrOthers) {
		found.Detail += "; others on this machine can read the key file"
		found.Advice = strings.TrimPrefix(found.Advice+"; chmod 600 "+place.KeyFile, "; ")
	}
	return found
}

// accessible reports whether a bit of who gives access to a file with a secret. systemd and Docker look after those below
// /run.
func accessible(path string, who os.FileMode) bool {
	info, err := os.Stat(path)
	return err == nil && info.Mode().Perm()&who != 0 && runtime.GOOS != "windows" && !strings.HasPrefix(path, "/run/")
}

// secretFiles warns of files with secrets that everybody can read. A group may be meant to.
func (d *Doctor) secretFiles(context.Context) (found []Finding) {
	for _, path := range d.Config.SecretFiles {
		if accessible(path, everybody) {
			open := advised("everybody on this machine can access "+path+", which holds a secret", "chmod 600 "+path)
			found = append(found, open.For("secrets"))
		}
	}
	return found
}

func (d *Doctor) sealedWith(ctx context.Context, place store.Place) Finding {
	if _, err := place.Secret(); err != nil {
		return failed(err, "name a file with a key in memory.key_file; \"hark key new\" prints one")
	}
	s, err := place.Sealed(ctx)
	switch {
	case err != nil: // the check of the database tells it
		return advised("unknown while the database can't be read", "see what is said of the database")
	case s.Key == "" && s.Given == "":
		return passed("no: whoever can read the disk can read what is remembered; " +
			"\"hark move\" with a key makes a sealed copy")
	case s.Key == "":
		return advised("not yet", "Hark seals a memory with the key of memory.key_file from its first message on; "+
			"\"hark move\" copies an older one to a sealed one")
	case s.Given == "":
		return Finding{Detail: fmt.Sprintf("the memory is sealed with the key %s, and no key is given", s.Key),
			Advice: "name its file in memory.key_file or HARK_MEMORY_KEY_FILE"}
	case s.Given != s.Key:
		return Finding{Detail: fmt.Sprintf("the memory is sealed with the key %s, and memory.key_file has the key %s", s.Key, s.Given),
			Advice: "name the right file"}
	}
	return passed("with the key %s", s.Key)
}

// Verify decrypts all that is remembered. It has no timeout.
func (d *Doctor) Verify(ctx context.Context) Finding {
	found := passed("all of them are as Hark stored them")
	if err := store.Of(d.Config).Verify(ctx); err != nil {
		found = Failure(err, "restore a backup with \"hark restore FILE\"")
	}
	return found.For("sealed values")
}
