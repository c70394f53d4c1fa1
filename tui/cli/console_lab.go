package cli

import (
	"context"
	"errors"
	"os"
	"path/filepath"
	"sync"
	"time"

	"github.com/redis/go-redis/v9"

	"fencepost/lockcore/scenario"
	"fencepost/tui"
)

// tidyTime is how long the end of the console waits for a story on a server to
// remove its keys. What is left then expires by itself.
const tidyTime = 3 * time.Second

// consoleLab gives the console its lab: the stories, the languages, and where
// they are played. client is that of the server that was named, nil in the
// sandbox. tidy waits for stories that are broken off by the console's end.
func (inv *invocation) consoleLab(o *tui.Options, client redis.UniversalClient) (tidy func(), err error) {
	stories, err := inv.stories()
	if err != nil {
		inv.warn("a story of your own cannot be read: " + clean(err.Error()))
	}
	first := scenario.LanguageOf(inv.env)
	words := []*scenario.Words{}
	for _, lang := range append([]string{first}, scenario.Languages()...) {
		if lang == first && len(words) > 0 {
			continue
		}
		w, err := scenario.Speak(lang)
		if err != nil {
			return nil, err
		}
		words = append(words, w)
	}
	var running sync.WaitGroup
	o.Lab = tui.LabOptions{
		Stories: stories, Words: words,
		Play: func(ctx context.Context, there scenario.Where, s *scenario.Scenario, w *scenario.World, ends *scenario.Ending) (tui.LabRun, error) {
			running.Add(1)
			defer running.Done()
			run, err := lab{where: there, client: client, timeout: inv.opts.timeout}.play(ctx, s, w, ends, 1)
			return tui.LabRun{Run: run.Run, Prefix: run.prefix, Lease: run.lease, At: time.Now()}, err
		},
		Handout: consoleHandout,
		Save:    inv.saveFromLab,
	}
	return func() {
		done := make(chan struct{})
		go func() { running.Wait(); close(done) }()
		select {
		case <-done:
		case <-time.After(tidyTime):
		}
	}, nil
}

// consoleHandout is a handout of runs that the console has.
func consoleHandout(words *scenario.Words, s *scenario.Scenario, runs []*scenario.Run) string {
	all := make([]played, len(runs))
	for i, r := range runs {
		all[i] = played{Run: r}
	}
	return handout(plan{story: s, words: words}, all)
}

// saveFromLab writes a file of the lab's: a story to the folder where simulate
// finds it, a handout to the directory that the console was started in. It
// overwrites nothing.
func (inv *invocation) saveFromLab(name, text string) (string, error) {
	path := name
	if filepath.Ext(name) == ".toml" {
		dir := inv.scenarioDir()
		if dir == "" {
			return "", errors.New("there is no configuration folder")
		}
		if err := os.MkdirAll(dir, 0o755); err != nil {
			return "", err
		}
		path = filepath.Join(dir, name)
	}
	f, err := os.OpenFile(path, os.O_WRONLY|os.O_CREATE|os.O_EXCL, 0o644)
	if errors.Is(err, os.ErrExist) {
		return "", errors.New(path + " is there already")
	}
	if err != nil {
		return "", err
	}
	if _, err := f.WriteString(text); err != nil {
		_ = f.Close() // the error of the write says more
		return "", err
	}
	if err := f.Close(); err != nil {
		return "", err
	}
	if abs, err := filepath.Abs(path); err == nil {
		path = abs
	}
	return path, nil
}
