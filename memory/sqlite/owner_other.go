//go:build !unix

package sqlite

// Denied is err: whose a file is isn't known here.
func Denied(_ string, err error) error { return err }
