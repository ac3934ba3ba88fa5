// Package arch has only tests, of Hark's layout: which package may import which, what the container image and the
// systemd units hold, and that the documents are right. To add a package, give it a line in rules.
package arch
