// Package arch holds no code but the tests that keep Hark's shape: which package may import which, and that the
// container image is built the way docs/architecture.md says. To add a package, give it a line in rules.
package arch
