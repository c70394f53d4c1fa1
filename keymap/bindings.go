package keymap

import "slices"

// The actions' ids. They are stable: config files name them.
const (
	Up       ID = "move.up"
	Down     ID = "move.down"
	PageUp   ID = "move.page-up"
	PageDown ID = "move.page-down"
	HalfUp   ID = "move.half-up"
	HalfDown ID = "move.half-down"
	Top      ID = "move.top"
	Bottom   ID = "move.bottom"

	OpenDetail   ID = "detail.open"
	Filter       ID = "filter.open"
	ClearFilter  ID = "filter.clear"
	SortMenu     ID = "sort.menu"
	SortReverse  ID = "sort.reverse"
	Wide         ID = "view.wide"
	Freeze       ID = "view.freeze"
	Refresh      ID = "view.refresh"
	ScanPause    ID = "scan.pause"
	ScanDeep     ID = "scan.deep"
	OpenEvents   ID = "events.open"
	Copy         ID = "copy.key"
	CopyCommands ID = "copy.commands"
	OpenRelease  ID = "release.open"
	Mark         ID = "mark.toggle"
	Unmark       ID = "mark.clear"

	ReviewWait  ID = "review.wait"
	ReviewTTL   ID = "review.ttl"
	ReviewLater ID = "review.later"
	ReviewHold  ID = "review.hold"
	ReviewOne   ID = "review.one"
	Unfold      ID = "review.unfold"

	FormNext  ID = "form.next"
	FormPrev  ID = "form.previous"
	FormDone  ID = "form.done"
	FormLeave ID = "form.leave"

	Next    ID = "focus.next"
	Prev    ID = "focus.previous"
	Confirm ID = "focus.confirm"
	Back    ID = "back"
	Close   ID = "close"

	Apply     ID = "input.apply"
	Abandon   ID = "input.abandon"
	EraseChar ID = "input.erase"
	EraseWord ID = "input.erase-word"
	EraseLine ID = "input.erase-line"
	CharLeft  ID = "input.left"
	CharRight ID = "input.right"
	LineStart ID = "input.start"
	LineEnd   ID = "input.end"

	OpenHelp ID = "help.open"
	Quit     ID = "quit"
	Abort    ID = "quit.now"
	Suspend  ID = "suspend"
)

func listBindings() []Binding {
	scrolls := []Scope{List, Detail, Help, Sort, Events, Release, Bulk, LabList, LabMenu, LabFree}
	rows := []Scope{List, Detail, Help, Events, LabList, Release, Bulk}
	pages := append(slices.Clone(rows), Form)
	return []Binding{
		{ID: OpenDetail, Keys: []string{"enter", "d"}, Hint: "details", In: []Scope{List},
			Help: "everything that is known about the lock under the cursor"},
		{ID: OpenRelease, Keys: []string{"u"}, Hint: "release", In: []Scope{List, Detail}, Dangerous: true,
			Help: "review and release: opens a panel, changes nothing yet; with marks, those that are marked"},
		{ID: Filter, Keys: []string{"/"}, Hint: "filter", In: []Scope{List},
			Help: "show only what contains a text; !text shows what does not"},
		{ID: ClearFilter, Keys: []string{"esc"}, In: []Scope{List}, Help: "clear the filter"},
		{ID: SortMenu, Keys: []string{"o"}, Hint: "sort", In: []Scope{List}, Help: "choose the order of the rows"},
		{ID: SortReverse, Keys: []string{"O"}, In: []Scope{List}, Help: "reverse the order"},
		{ID: Wide, Keys: []string{"w"}, In: []Scope{List},
			Help: "other columns: the family, the state, who waits"},
		{ID: Freeze, Keys: []string{"p"}, In: []Scope{List},
			Help: "hold the screen still, and let it go on"},
		{ID: Refresh, Keys: []string{"r", "ctrl+r"}, In: []Scope{List, Detail, Release, Bulk}, Help: "ask the server now, and look for new locks"},
		{ID: OpenEvents, Keys: []string{"e"}, Hint: "events", In: []Scope{List}, Help: "what happens to the locks, as it happens"},
		{ID: ScanPause, Keys: []string{"s"}, In: []Scope{List}, Help: "stop the search for new locks where it is; go on"},
		{ID: ScanDeep, Keys: []string{"S"}, In: []Scope{List}, Help: "look at the shape of every key once, whatever its name"},
		{ID: Copy, Keys: []string{"y"}, In: []Scope{List, Detail, Release},
			Help: "copy the key to the clipboard (by the terminal, OSC 52)"},
		{ID: CopyCommands, Keys: []string{"Y"}, In: []Scope{List, Detail, Release},
			Help: "copy the commands of a release, as one would paste them into a shell"},
		{ID: Up, Keys: []string{"up", "k"}, In: scrolls, Help: "up"},
		{ID: Down, Keys: []string{"down", "j"}, In: scrolls, Help: "down"},
		{ID: PageUp, Keys: []string{"pgup"}, In: pages, Help: "a page up"},
		{ID: PageDown, Keys: []string{"pgdown"}, In: pages, Help: "a page down"},
		{ID: HalfUp, Keys: []string{"ctrl+u"}, In: rows, Help: "half a page up"},
		{ID: HalfDown, Keys: []string{"ctrl+d"}, In: rows, Help: "half a page down"},
		{ID: Top, Keys: []string{"g", "home"}, In: rows, Help: "to the first"},
		{ID: Bottom, Keys: []string{"G", "end"}, In: rows, Help: "to the last"},
	}
}

// markBindings come after what a newcomer needs first.
func markBindings() []Binding {
	return []Binding{
		{ID: Mark, Keys: []string{" "}, Hint: "mark", In: []Scope{List}, Help: "mark the lock under the cursor, to release several"},
		{ID: Unmark, Keys: []string{"c"}, In: []Scope{List}, Help: "take all marks away"},
	}
}

// reviewBindings are the keys of the panel that reviews a release, and of what is
// filled in there. None of them changes a server by itself.
func reviewBindings() []Binding {
	panel, form := []Scope{Release}, []Scope{Form}
	return []Binding{
		{ID: Next, Keys: []string{"tab", "right"}, Hint: "other button", In: panel, Help: "to the other button; Up and Down go through the gentler choices"},
		{ID: Prev, Keys: []string{"shift+tab", "left"}, In: panel, Help: "to the other button"},
		{ID: ReviewWait, Keys: []string{"1"}, In: panel, Help: "wait and tell me: a notice and a bell when it is free or handed over"},
		{ID: ReviewTTL, Keys: []string{"2", "t"}, In: panel, Dangerous: true, Help: "set or shorten its TTL: asks for how long"},
		{ID: ReviewLater, Keys: []string{"3"}, In: panel, Help: "ask again later: a reminder"},
		{ID: ReviewHold, Keys: []string{"4"}, In: panel, Dangerous: true, Help: "put it on hold for the operator, or lift a hold: asks first"},
		{ID: ReviewOne, Keys: []string{"5"}, In: panel, Dangerous: true, Help: "release one of several holders: asks which"},
		{ID: Unfold, Keys: []string{"@"}, In: panel, Help: "show the scripts in full, and fold them again"},
		{ID: FormDone, Keys: []string{"enter"}, Hint: "go on", In: form, Help: "take what was typed; in the last line, do it"},
		{ID: FormNext, Keys: []string{"tab", "down"}, Hint: "next line", In: form, Help: "to the next line"},
		{ID: FormPrev, Keys: []string{"shift+tab", "up"}, In: form, Help: "to the line before"},
		{ID: FormLeave, Keys: []string{"esc"}, Hint: "back", In: form, Help: "back; nothing is changed"},
	}
}

func overlayBindings() []Binding {
	typing, edits := []Scope{Input}, []Scope{Input, Form}
	return []Binding{
		{ID: Confirm, Keys: []string{"enter"}, Hint: "choose", In: []Scope{Release, Bulk, Sort, LabList, LabMenu, LabFree}, Help: "do what is focused"},
		{ID: Back, Keys: []string{"esc", "q"}, Hint: "back", In: []Scope{Detail, Help, Sort, Events, Lab, LabList, LabMenu, LabTalk, LabFree},
			Help: "back to where you came from"},
		{ID: Close, Keys: []string{"esc"}, Hint: "cancel", In: []Scope{Release, Bulk}, Help: "close the panel; nothing is changed"},
		{ID: Apply, Keys: []string{"enter"}, Hint: "done", In: typing, Help: "keep what was typed"},
		{ID: Abandon, Keys: []string{"esc"}, Hint: "cancel", In: typing, Help: "clear it and go back"},
		{ID: EraseChar, Keys: []string{"backspace", "ctrl+h"}, In: edits, Help: "erase a character"},
		{ID: EraseWord, Keys: []string{"ctrl+w"}, In: edits, Help: "erase a word"},
		{ID: EraseLine, Keys: []string{"ctrl+u"}, In: edits, Help: "erase all"},
		{ID: CharLeft, Keys: []string{"left"}, In: edits, Help: "left"},
		{ID: CharRight, Keys: []string{"right"}, In: edits, Help: "right"},
		{ID: LineStart, Keys: []string{"home", "ctrl+a"}, In: edits, Help: "to the start"},
		{ID: LineEnd, Keys: []string{"end", "ctrl+e"}, In: edits, Help: "to the end"},
	}
}

func everywhereBindings() []Binding {
	return []Binding{
		{ID: OpenHelp, Keys: []string{"?", "f1"}, Hint: "help", In: []Scope{Everywhere}, Help: "this help"},
		{ID: Quit, Keys: []string{"q"}, Hint: "quit", In: []Scope{List}, Help: "quit"},
		{ID: Abort, Keys: []string{"ctrl+c"}, In: []Scope{Everywhere}, Help: "quit at once, from anywhere"},
		{ID: Suspend, Keys: []string{"ctrl+z"}, In: []Scope{Everywhere}, Help: "back to the shell for a while (fg returns)"},
	}
}
