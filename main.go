// Command benchd is a benchmark service: a client posts a run over HTTP, a worker on the
// target host measures it in processes of its own, and the result comes back as JSON.
//
// This package reads the command line and wires the parts together; it is the only one that
// reads the environment, prints, or ends the process.
package main

import (
	"context"
	"errors"
	"fmt"
	"io"
	"log/slog"
	"os"
	"os/signal"
	"path/filepath"
	"runtime/debug"
	"strings"
	"syscall"

	"github.com/alecthomas/kong"

	"benchd/api/export"
	"benchd/kernels/catalog"
	"benchd/worker/bench"
	"benchd/worker/child"
)

func main() {
	if len(os.Args) > 1 && os.Args[1] == child.Arg {
		os.Exit(child.Main(catalog.Families(), os.Stdin, os.Stdout))
	}
	os.Exit(command(os.Args[1:], terminal{os.Stdin, os.Stdout, os.Stderr}))
}

// Exit codes.
const (
	exitOK          = 0
	exitFailed      = 1   // a run that did not succeed, a host that is not as it should be, a comparison that is worse
	exitUsage       = 2   // a command, a request or a service that cannot be
	exitUndecided   = 3   // a comparison that cannot tell, where it was asked to
	exitInterrupted = 130 // a run that was interrupted at the keyboard
)

// commands is the command line.
type commands struct {
	Run     runCommand     `cmd:"" help:"Measure here and now: a suite, kernels, or a request file; print a table and write the result."`
	Serve   serveCommand   `cmd:"" help:"Start the whole service in one process: API, worker, and where none is given Redis and a SQLite file."`
	API     apiCommand     `cmd:"" name:"api" help:"Start the API alone, for workers on other hosts."`
	Worker  workerCommand  `cmd:"" help:"Start the worker of this host, for an API elsewhere."`
	Submit  submitCommand  `cmd:"" help:"Post a request to a service and print the run."`
	List    listCommand    `cmd:"" help:"List the runs of a service, newest first."`
	Get     getCommand     `cmd:"" help:"Show a run of a service."`
	Results resultsCommand `cmd:"" help:"Fetch the result of a run."`
	Cancel  cancelCommand  `cmd:"" help:"Cancel a run."`

	Compare     compareCommand     `cmd:"" help:"Compare two results, runs of a service or files, and say of each case whether it is better, worse or the same."`
	Calibrate   calibrateCommand   `cmd:"" help:"Measure the noise of this host, or of a service's: the same cases several times, and how they differ."`
	History     historyCommand     `cmd:"" help:"Show how scores of a service went over time, and where they changed."`
	Leaderboard leaderboardCommand `cmd:"" help:"Rank the best scores of a service."`
	References  referencesCommand  `cmd:"" help:"List the figures that the articles published."`
	Export      exportCommand      `cmd:"" help:"Write a result as another tool reads it."`

	Kernels    kernelsCommand    `cmd:"" help:"List the kernels and their parameters."`
	Suites     suitesCommand     `cmd:"" help:"List the suites, what they measure and how long they take."`
	Hosts      hostsCommand      `cmd:"" help:"List the hosts of a service."`
	SOAPServer soapServerCommand `cmd:"" name:"soap-server" help:"Run the services that the SOAP kernels call, for other stacks' clients and other hosts' workers."`

	Doctor  doctorCommand  `cmd:"" help:"Examine this host before measuring, or with --services the servers outside at which it may measure; exit code 1 if something is not as it should be."`
	Version versionCommand `cmd:"" help:"Print the version."`

	LogLevel  slog.Level `help:"Least level that is logged: debug, info, warn, error." default:"info" env:"BENCHD_LOG_LEVEL" placeholder:"LEVEL"`
	LogFormat string     `help:"How logs are written: text, json, or auto for text on a terminal." enum:"auto,text,json" default:"auto" env:"BENCHD_LOG_FORMAT"`
}

// exitError is an error with an exit code of its own.
type exitError struct {
	code int
	err  error
}

func (e exitError) Error() string { return e.err.Error() }
func (e exitError) Unwrap() error { return e.err }

// command runs one command and returns its exit code.
func command(args []string, t terminal) int {
	var c commands
	exit := -1
	parser, err := kong.New(&c, kong.Name("benchd"), kong.Description("A benchmark service: measures kernels on hosts, and says how sure it is."),
		kong.Writers(t.out, t.err), kong.Vars{"lock": filepath.Join(os.TempDir(), "benchd.lock"), "formats": strings.Join(export.Names(), ", "), "suites": suiteNames()}, kong.Exit(func(code int) { exit = code }), kong.UsageOnError(), kong.ConfigureHelp(kong.HelpOptions{Compact: true}))
	if err != nil {
		panic(err) // the command line above is wrong in itself
	}
	t.out = &plain{to: t.out}
	parsed, err := parser.Parse(args)
	if exit >= 0 { // help was asked for and is printed
		return exit
	}
	if err != nil {
		return complain(t, exitError{exitUsage, fmt.Errorf("%w; see benchd --help", err)})
	}
	signal.Ignore(syscall.SIGPIPE) // a reader that goes away is an error of writing, not the end
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt, syscall.SIGTERM)
	defer stop()
	context.AfterFunc(ctx, stop) // a second signal ends the process at once
	parsed.BindTo(ctx, (*context.Context)(nil))
	return complain(t, parsed.Run(t, logger(t.err, c.LogLevel, c.LogFormat)))
}

// complain prints an error as a sentence and gives its exit code.
func complain(t terminal, err error) int {
	if err == nil {
		return exitOK
	}
	var exit exitError
	code := exitFailed
	switch {
	case errors.As(err, &exit):
		code = exit.code
	case errors.Is(err, syscall.EPIPE): // the reader had enough
		return exitOK
	case bench.AsError(err) != nil:
		code = exitUsage
	}
	if text := err.Error(); text != "" {
		_, _ = fmt.Fprintln(t.err, "benchd:", text)
	}
	return code
}

// unlessGone is the error of writing, but for that of a reader who had enough.
func unlessGone(err error) error {
	if errors.Is(err, syscall.EPIPE) {
		return nil
	}
	return err
}

func logger(w io.Writer, level slog.Level, format string) *slog.Logger {
	opts := &slog.HandlerOptions{Level: level}
	if format == "json" || format == "auto" && !interactive(w) {
		return slog.New(slog.NewJSONHandler(w, opts))
	}
	return slog.New(slog.NewTextHandler(w, opts))
}

type versionCommand struct{}

// Run prints the version.
func (versionCommand) Run(t terminal) error {
	_, err := fmt.Fprintln(t.out, "benchd", version())
	return err
}

// version is the module's version with the revision it was built from.
func version() string {
	info, ok := debug.ReadBuildInfo()
	if !ok {
		return "unknown"
	}
	v := info.Main.Version
	if v == "" || v == "(devel)" {
		v = "devel"
	}
	for _, s := range info.Settings {
		if s.Key == "vcs.revision" && len(s.Value) >= 12 {
			v += " " + s.Value[:12]
		}
	}
	return v + " " + info.GoVersion
}
