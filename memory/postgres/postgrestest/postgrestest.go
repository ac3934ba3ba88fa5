// Package postgrestest makes empty databases for tests, on the server that HARK_TEST_POSTGRES names.
package postgrestest

import (
	"context"
	"crypto/rand"
	"errors"
	"fmt"
	"net/url"
	"os"
	"strings"
	"sync"
	"testing"

	"github.com/jackc/pgx/v5"

	"hark/memory/postgres"
)

// Variable names the server, as the URL of a database whose user may create others.
const Variable = "HARK_TEST_POSTGRES"

// template is the name of a database with the schema, from which others are copied; made once a process.
var template = sync.OnceValues(func() (string, error) {
	name := fmt.Sprintf("hark_template_%d", os.Getpid())
	if err := execute("CREATE DATABASE " + name); err != nil {
		return "", err
	}
	s, err := postgres.Open(context.Background(), in(name), postgres.Options{})
	if err != nil {
		return "", err
	}
	return name, s.Close()
})

// URL returns the URL of an empty database with the schema, which is dropped when the test ends. Without a server it
// skips the test.
func URL(t testing.TB) string {
	t.Helper()
	skip(t)
	from, err := template()
	if err != nil {
		t.Fatal(err)
	}
	return database(t, " TEMPLATE "+from+" STRATEGY FILE_COPY") // several times as quick as through the log
}

// Bare is URL for a database without the schema.
func Bare(t testing.TB) string {
	t.Helper()
	skip(t)
	return database(t, "")
}

func skip(t testing.TB) {
	t.Helper()
	if os.Getenv(Variable) == "" {
		t.Skipf("set %s to the URL of a PostgreSQL server to run this test", Variable)
	}
}

func database(t testing.TB, options string) string {
	t.Helper()
	name := "hark_" + strings.ToLower(rand.Text())
	run(t, "CREATE DATABASE "+name+options)
	t.Cleanup(func() { run(t, "DROP DATABASE "+name+" WITH (FORCE)") })
	return in(name)
}

// Role makes a user without any right, which is dropped when the test ends, before its database.
func Role(t testing.TB, address string) string {
	t.Helper()
	name := "hark_" + strings.ToLower(rand.Text())
	run(t, "CREATE ROLE "+name+" LOGIN")
	t.Cleanup(func() {
		ctx := context.Background()
		db, err := pgx.Connect(ctx, address)
		if err == nil {
			_, err = db.Exec(ctx, "DROP OWNED BY "+name+"; DROP ROLE "+name)
			err = errors.Join(err, db.Close(ctx))
		}
		if err != nil {
			t.Error(err)
		}
	})
	return name
}

func run(t testing.TB, statement string) {
	t.Helper()
	if err := execute(statement); err != nil {
		t.Fatal(err)
	}
}

// in returns the URL of a database on the server.
func in(name string) string {
	u, err := url.Parse(os.Getenv(Variable))
	if err != nil {
		panic(err)
	}
	u.Path = "/" + name
	return u.String()
}

func execute(statement string) error {
	ctx := context.Background()
	db, err := pgx.Connect(ctx, os.Getenv(Variable))
	if err != nil {
		return err
	}
	defer db.Close(ctx)
	_, err = db.Exec(ctx, statement)
	return err
}
