package main

import (
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
)

// uv is the pinned version of the installer of Python packages.
const uv = "0.13.9"

// program returns the path of a server's program, or of the text that stands for a folder of the installation.
func (s server) program(tools string) string {
	if s.Registry == npm {
		return filepath.Join(tools, "npm", "node_modules", ".bin", s.Program)
	}
	return filepath.Join(tools, "pypi", s.Package+"-"+s.Version, "bin", s.Program)
}

// install installs the servers that are not there yet.
func install(tools string, chosen []server) error {
	missing := map[string][]server{}
	for _, s := range chosen {
		if _, err := os.Stat(s.marker(tools)); err != nil {
			missing[s.Registry] = append(missing[s.Registry], s)
		}
	}
	if list := missing[npm]; len(list) > 0 {
		if err := installNPM(filepath.Join(tools, "npm"), list); err != nil {
			return err
		}
	}
	for _, s := range missing[pypi] {
		if err := installPython(tools, s); err != nil {
			return err
		}
	}
	for _, list := range missing {
		for _, s := range list {
			if err := os.WriteFile(s.marker(tools), nil, 0o600); err != nil {
				return err
			}
		}
	}
	return nil
}

// marker is the file that says that the version of the server is installed.
func (s server) marker(tools string) string {
	return filepath.Join(tools, s.Registry, strings.ReplaceAll(s.Package, "/", "+")+"-"+s.Version+strings.Join(s.Besides, ",")+".installed")
}

// installNPM installs packages without their scripts, which would download browsers.
func installNPM(dir string, list []server) error {
	fmt.Fprintf(os.Stderr, "servers: installing %d packages from npm into %s\n", len(list), dir)
	if err := os.MkdirAll(dir, 0o750); err != nil {
		return err
	}
	if _, err := os.Stat(filepath.Join(dir, "package.json")); err != nil {
		if err := os.WriteFile(filepath.Join(dir, "package.json"), []byte(`{"private":true}`), 0o600); err != nil {
			return err
		}
	}
	args := []string{"install", "--prefix", dir, "--ignore-scripts", "--save-exact", "--no-audit", "--no-fund", "--loglevel=error"}
	for _, s := range list {
		args = append(args, s.Package+"@"+s.Version)
	}
	_, err := output("npm", args...)
	return err
}

// installPython installs a server into an environment of its own.
func installPython(tools string, s server) error {
	fmt.Fprintf(os.Stderr, "servers: installing %s from PyPI\n", s.Package)
	installer := filepath.Join(tools, "uv", "bin", "uv")
	if _, err := os.Stat(installer); err != nil {
		if _, err := output("python3", "-m", "venv", filepath.Join(tools, "uv")); err != nil {
			return err
		}
		if _, err := output(filepath.Join(tools, "uv", "bin", "pip"), "install", "-q", "--disable-pip-version-check", "uv=="+uv); err != nil {
			return err
		}
	}
	env := filepath.Join(tools, "pypi", s.Package+"-"+s.Version)
	if _, err := output(installer, "venv", "-q", "--clear", "--python", "python3", env); err != nil {
		return err
	}
	_, err := output(installer, append([]string{"pip", "install", "-q", "--python", filepath.Join(env, "bin", "python"), s.Package + "==" + s.Version}, s.Besides...)...)
	return err
}

// output runs a command and returns what it prints. The error has what it wrote to standard error.
func output(name string, args ...string) (string, error) {
	out, err := exec.Command(name, args...).Output() //nolint:gosec // the commands are those of this program
	if exit := (*exec.ExitError)(nil); errors.As(err, &exit) {
		return "", fmt.Errorf("%s %s: %w\n%s", name, strings.Join(args, " "), err, exit.Stderr)
	}
	return strings.TrimSpace(string(out)), err
}
