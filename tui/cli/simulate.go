package cli

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"slices"
	"strconv"
	"strings"

	"fencepost/lockcore/scenario"
)

// groupLab are the flags of simulate.
const groupLab group = "lab"

// labOptions is what the flags of simulate say.
type labOptions struct {
	world, fencing, speed, seed, transcript, lang, check string
	ownServers                                           bool
}

func labFlags() []flag {
	g := groupLab
	return []flag{
		{"world", "", "NAME|all", "which worlds (all)", "", g, func(o *options) any { return &o.lab.world }},
		{"fencing", "", "on|off|both", "turn the guard on or off on top of each world", "", g, func(o *options) any { return &o.lab.fencing }},
		{"speed", "", "N", "tell it N times as fast as it happens (as fast as it prints)", "", g, func(o *options) any { return &o.lab.speed }},
		{"seed", "", "N", "the same seed gives the same transcript (1)", "", g, func(o *options) any { return &o.lab.seed }},
		{"transcript", "", "FILE.md", "write a handout", "", g, func(o *options) any { return &o.lab.transcript }},
		{"lang", "", "en|ko", "language (of the locale)", "", g, func(o *options) any { return &o.lab.lang }},
		{"check", "", "FILE", "check a story of one's own, and play it", "", g, func(o *options) any { return &o.lab.check }},
		{"own-servers", "", "", "play on redis-servers that the lab starts for it", "", g, func(o *options) any { return &o.lab.ownServers }},
	}
}

// simulateVerb plays stories about locks that go wrong.
func simulateVerb() verb {
	return verb{
		name: "simulate", args: "[NAME]", short: "run a stale-owner scenario; without NAME list them", maxArgs: 1,
		long: "A story is played in worlds that differ in one switch, with real lock commands: in the embedded\n" +
			"sandbox, or on a server that is named, below fencepost:lab:<random>:, asked first.\n" +
			"The exit code is 0 when every world ended as the story's file says, 1 when not.\n" +
			"NAME may be a file of one's own, or a story in the folder scenarios beside the configuration file.",
		target: mayTarget,
		flags:  []string{string(groupLab), "json", "yes"},
		exits:  []int{exitRefused},
		run:    runSimulate,
	}
}

// plan is what simulate is to play, and how.
type plan struct {
	story  *scenario.Scenario
	worlds []plannedWorld
	words  *scenario.Words
	seed   int64
	speed  float64
}

type plannedWorld struct {
	scenario.World
	ends *scenario.Ending
}

func runSimulate(ctx context.Context, inv *invocation) int {
	words, err := inv.words()
	if err != nil {
		return inv.fail(err)
	}
	o := inv.opts.lab
	switch {
	case o.check != "":
		if len(inv.args) > 0 {
			return inv.fail(usagef("--check names the file, so there is no NAME"))
		}
		return inv.checkStory(ctx)
	case len(inv.args) == 0:
		return inv.listStories(words)
	}
	p, err := inv.plan(words)
	if err != nil {
		return inv.fail(err)
	}
	l, closing, code := inv.openLab(ctx, p)
	if code != exitOK {
		return code
	}
	defer closing()
	return inv.simulate(ctx, l, p)
}

// words are those of --lang, or of the locale.
func (inv *invocation) words() (*scenario.Words, error) {
	lang := inv.opts.lab.lang
	if lang == "" {
		lang = scenario.LanguageOf(inv.env)
	}
	w, err := scenario.Speak(lang)
	if errors.Is(err, scenario.ErrLanguage) {
		return nil, usagef("--lang is one of %s", strings.Join(scenario.Languages(), ", "))
	}
	return w, err
}

// plan reads the flags.
func (inv *invocation) plan(words *scenario.Words) (plan, error) {
	o := inv.opts.lab
	p := plan{words: words, seed: 1}
	s, err := inv.story(inv.args[0])
	if errors.Is(err, scenario.ErrUnknown) {
		return p, usagef("there is no such scenario; %sfencepost simulate lists them", inv.meant(inv.args[0]))
	}
	if err != nil {
		return p, err
	}
	p.story = s
	if o.seed != "" {
		if p.seed, err = strconv.ParseInt(o.seed, 10, 64); err != nil {
			return p, usagef("--seed is a whole number")
		}
	}
	if o.speed != "" {
		if p.speed, err = strconv.ParseFloat(strings.TrimSuffix(o.speed, "x"), 64); err != nil || p.speed <= 0 || p.speed > 1e6 {
			return p, usagef("--speed is a number above 0: 1 is as it happens, 10 ten times as fast")
		}
	}
	p.worlds, err = plannedWorlds(s, o.world, o.fencing)
	return p, err
}

// plannedWorlds are the worlds that --world and --fencing name.
func plannedWorlds(s *scenario.Scenario, world, fencing string) ([]plannedWorld, error) {
	var axis []scenario.Fencing
	switch fencing {
	case "":
		axis = []scenario.Fencing{scenario.AsFiled}
	case "on":
		axis = []scenario.Fencing{scenario.FencingOn}
	case "off":
		axis = []scenario.Fencing{scenario.FencingOff}
	case "both":
		axis = []scenario.Fencing{scenario.FencingOff, scenario.FencingOn}
	default:
		return nil, usagef("--fencing is on, off or both")
	}
	var out []plannedWorld
	for i := range s.Worlds {
		w := &s.Worlds[i]
		if world != "" && world != "all" && world != w.Name {
			continue
		}
		for _, f := range axis {
			turned, ends := s.With(w, f)
			known := slices.ContainsFunc(out, func(p plannedWorld) bool { return p.Name == turned.Name })
			if !known {
				out = append(out, plannedWorld{turned, ends})
			}
		}
	}
	if len(out) == 0 {
		var names []string
		for _, w := range s.Worlds {
			names = append(names, w.Name)
		}
		return nil, usagef("there is no such world; the worlds of %s are %s", s.Name, strings.Join(names, ", "))
	}
	return out, nil
}

// simulate plays all worlds, and prints them as they are played.
func (inv *invocation) simulate(ctx context.Context, l lab, p plan) int {
	t := teller{out: inv.out, words: p.words, story: p.story, speed: p.speed, ctx: ctx, worlds: len(p.worlds), where: l.where}
	enc := json.NewEncoder(inv.out)
	enc.SetEscapeHTML(false)
	var runs []played
	asFiled := true
	for i := range p.worlds {
		w := &p.worlds[i]
		run, err := l.play(ctx, p.story, &w.World, w.ends, p.seed)
		switch {
		case errors.Is(err, errInterrupted):
			return inv.fail(err)
		case err != nil:
			return inv.fail(fmt.Errorf("world %s: %w", w.Name, err))
		}
		runs = append(runs, run)
		asFiled = asFiled && run.AsFiled()
		if inv.opts.json {
			if err := enc.Encode(p.story.Document(run.Run)); err != nil {
				return inv.fail(err)
			}
			continue
		}
		t.world(i, run)
	}
	bare := make([]*scenario.Run, len(runs))
	for i := range runs {
		bare[i] = runs[i].Run
	}
	switch {
	case inv.opts.json && len(runs) > 1:
		if err := enc.Encode(p.story.Compare(bare)); err != nil {
			return inv.fail(err)
		}
	case !inv.opts.json:
		t.end(bare)
	}
	if t.err != nil {
		return inv.fail(t.err)
	}
	if file := inv.opts.lab.transcript; file != "" {
		if err := os.WriteFile(file, []byte(handout(p, runs)), 0o644); err != nil {
			return inv.fail(err)
		}
	}
	if !asFiled {
		return exitError
	}
	return exitOK
}
