package cli

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"time"

	"github.com/redis/go-redis/v9"

	"fencepost/lockcore/labrun"
	"fencepost/lockcore/sandbox"
	"fencepost/lockcore/scenario"
)

// lab plays worlds of stories in one place.
type lab struct {
	where   scenario.Where
	client  redis.UniversalClient // of a chosen Redis
	timeout time.Duration
}

// played is a run, and where in reality it took place.
type played struct {
	*scenario.Run
	prefix string
	lease  time.Duration // the real one; 0 in virtual time
}

// slowest is how often a run is tried with leases of twice the length, on a
// machine or a server that is too slow for them.
const slowest = 4

// play plays one world.
func (l lab) play(ctx context.Context, s *scenario.Scenario, w *scenario.World, ends *scenario.Ending, seed int64) (played, error) {
	if !s.RunsAt(l.where) {
		return played{}, refusalFor(s, l.where)
	}
	opt := scenario.Options{Seed: seed, Where: l.where, Ends: ends}
	if l.where == scenario.Sandbox {
		stage := sandbox.NewLab()
		defer stage.Close()
		run, err := scenario.Play(ctx, s, w, stage, opt)
		return played{Run: run}, err
	}
	var out played
	var err error
	for try := range slowest {
		if out, err = l.playOnce(ctx, s, w, opt, try); !errors.Is(err, labrun.ErrTooSlow) {
			break
		}
	}
	return out, err
}

func refusalFor(s *scenario.Scenario, where scenario.Where) error {
	if where == scenario.ChosenRedis {
		return fmt.Errorf("%s: %w; leave out the server, or add --own-servers", s.Name, scenario.ErrNeedsServers)
	}
	return fmt.Errorf("%s does not run there; its file says where it runs: %v", s.Name, s.Runs)
}

// playOnce plays on real servers, with real leases.
func (l lab) playOnce(ctx context.Context, s *scenario.Scenario, w *scenario.World, opt scenario.Options, try int) (played, error) {
	lengths := labrun.LengthsFor(s.Leases(w), try)
	if l.where == scenario.OwnServers {
		if w.Fills() {
			lengths.Real = max(lengths.Real, 15*time.Second) // memory fills in real seconds
		}
		own, err := labrun.NewOwn(lengths, l.timeout)
		if err != nil {
			return played{}, err
		}
		opt.Prefix = own.Prefix()
		run, err := scenario.Play(ctx, s, w, own, opt)
		return played{run, own.Prefix(), lengths.Real}, brokenOff(err, own.Close())
	}
	port := labrun.New(l.client, lengths, l.timeout)
	opt.Prefix = port.Prefix()
	run, err := scenario.Play(ctx, s, w, port, opt)
	// ctrl+c ends the story, not the tidying up.
	return played{run, port.Prefix(), lengths.Real}, brokenOff(err, port.Clean(context.WithoutCancel(ctx)))
}

// errInterrupted says that somebody broke a story off.
var errInterrupted = errors.New("interrupted; nothing of the lab is left")

// brokenOff is how a story ended, and the tidying up behind it.
func brokenOff(err, tidying error) error {
	if tidying == nil && errors.Is(err, context.Canceled) {
		return errInterrupted
	}
	return errors.Join(err, tidying)
}

// scenarioDir is where people keep stories of their own; "" nowhere.
func (inv *invocation) scenarioDir() string {
	if c := inv.paths().Config; c != "" {
		return filepath.Join(filepath.Dir(c), "scenarios")
	}
	return ""
}

// stories are those that are shipped, and one's own behind them.
func (inv *invocation) stories() ([]*scenario.Scenario, error) {
	all, err := scenario.All()
	if err != nil {
		return nil, err
	}
	own, err := inv.ownStories()
	return append(all, own...), err
}

func (inv *invocation) ownStories() ([]*scenario.Scenario, error) {
	dir := inv.scenarioDir()
	if dir == "" {
		return nil, nil
	}
	names, err := filepath.Glob(filepath.Join(dir, "*.toml"))
	if err != nil {
		return nil, err
	}
	var out []*scenario.Scenario
	for _, name := range names {
		s, err := readStory(name)
		if err != nil {
			return out, err
		}
		out = append(out, s)
	}
	return out, nil
}

// story finds one by its name, or reads the file that is named.
func (inv *invocation) story(name string) (*scenario.Scenario, error) {
	if filepath.Ext(name) == ".toml" {
		return readStory(name)
	}
	s, err := scenario.Find(name)
	if !errors.Is(err, scenario.ErrUnknown) {
		return s, err
	}
	own, ownErr := inv.ownStories()
	for _, s := range own {
		if s.Name == name {
			return s, nil
		}
	}
	return nil, errors.Join(err, ownErr)
}

// longestStory is how much of a file is read: a story is a few kilobytes.
const longestStory = 1 << 20

func readStory(name string) (*scenario.Scenario, error) {
	info, err := os.Stat(name)
	if err != nil {
		if errors.Is(err, fs.ErrNotExist) {
			return nil, errors.New("there is no such file")
		}
		return nil, err
	}
	if info.Size() > longestStory {
		return nil, errors.New("that file is far too long for a story")
	}
	text, err := os.ReadFile(name)
	if err != nil {
		return nil, err
	}
	return scenario.Parse(filepath.Base(name), string(text))
}
