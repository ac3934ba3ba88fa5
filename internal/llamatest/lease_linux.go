package llamatest

import (
	"os"
	"syscall"
	"testing"
)

// Hold keeps others from opening a file until the function that it returns is called: a server that is to load the file
// waits. The system ends the hold by itself after some 45 seconds. The test is skipped where the file's disk can't do
// that.
func Hold(tb testing.TB, path string) (release func()) {
	tb.Helper()
	file, err := os.OpenFile(path, os.O_RDWR, 0)
	if err != nil {
		tb.Fatal(err)
	}
	tb.Cleanup(func() { _ = file.Close() })
	lease := func(kind int) error {
		_, _, failed := syscall.Syscall(syscall.SYS_FCNTL, file.Fd(), syscall.F_SETLEASE, uintptr(kind))
		if failed != 0 {
			return failed
		}
		return nil
	}
	err = lease(syscall.F_WRLCK)
	if err != nil {
		tb.Skipf("%s can't be held: %v", path, err)
	}
	return func() {
		err := lease(syscall.F_UNLCK)
		if err != nil {
			tb.Error(err)
		}
	}
}
