package keymap

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
	scrolls := []Scope{List, Detail, Help, Sort, Events, Release, LabList, LabMenu, LabFree}
	rows := []Scope{List, Detail, Help, Events, LabList}
	return []Binding{
		{ID: OpenDetail, Keys: []string{"enter", "d"}, Hint: "details", In: []Scope{List},
			Help: "everything that is known about the lock under the cursor"},
		{ID: OpenRelease, Keys: []string{"u"}, Hint: "release", In: []Scope{List, Detail}, Dangerous: true,
			Help: "review and release: opens a panel, changes nothing yet"},
		{ID: Filter, Keys: []string{"/"}, Hint: "filter", In: []Scope{List},
			Help: "show only what contains a text; !text shows what does not"},
		{ID: ClearFilter, Keys: []string{"esc"}, In: []Scope{List}, Help: "clear the filter"},
		{ID: SortMenu, Keys: []string{"o"}, Hint: "sort", In: []Scope{List}, Help: "choose the order of the rows"},
		{ID: SortReverse, Keys: []string{"O"}, In: []Scope{List}, Help: "reverse the order"},
		{ID: Wide, Keys: []string{"w"}, In: []Scope{List},
			Help: "other columns: the family, the state, who waits"},
		{ID: Freeze, Keys: []string{"p"}, In: []Scope{List},
			Help: "hold the screen still, and let it go on"},
		{ID: Refresh, Keys: []string{"r", "ctrl+r"}, In: []Scope{List, Detail, Release}, Help: "ask the server now, and look for new locks"},
		{ID: OpenEvents, Keys: []string{"e"}, Hint: "events", In: []Scope{List}, Help: "what happens to the locks, as it happens"},
		{ID: ScanPause, Keys: []string{"s"}, In: []Scope{List}, Help: "stop the search for new locks where it is; go on"},
		{ID: ScanDeep, Keys: []string{"S"}, In: []Scope{List}, Help: "look at the shape of every key once, whatever its name"},
		{ID: Copy, Keys: []string{"y"}, In: []Scope{List, Detail, Release},
			Help: "copy the key to the clipboard (by the terminal, OSC 52)"},
		{ID: CopyCommands, Keys: []string{"Y"}, In: []Scope{List, Detail, Release},
			Help: "copy the commands of a release, as one would paste them into a shell"},
		{ID: Up, Keys: []string{"up", "k"}, In: scrolls, Help: "up"},
		{ID: Down, Keys: []string{"down", "j"}, In: scrolls, Help: "down"},
		{ID: PageUp, Keys: []string{"pgup"}, In: rows, Help: "a page up"},
		{ID: PageDown, Keys: []string{"pgdown"}, In: rows, Help: "a page down"},
		{ID: HalfUp, Keys: []string{"ctrl+u"}, In: rows, Help: "half a page up"},
		{ID: HalfDown, Keys: []string{"ctrl+d"}, In: rows, Help: "half a page down"},
		{ID: Top, Keys: []string{"g", "home"}, In: rows, Help: "to the first"},
		{ID: Bottom, Keys: []string{"G", "end"}, In: rows, Help: "to the last"},
	}
}

func overlayBindings() []Binding {
	typing := []Scope{Input}
	return []Binding{
		{ID: Next, Keys: []string{"tab", "right"}, Hint: "next choice", In: []Scope{Release}, Help: "to the next choice"},
		{ID: Prev, Keys: []string{"shift+tab", "left"}, In: []Scope{Release}, Help: "to the choice before"},
		{ID: Confirm, Keys: []string{"enter"}, Hint: "choose", In: []Scope{Release, Sort, LabList, LabMenu, LabFree}, Help: "do what is focused"},
		{ID: Back, Keys: []string{"esc", "q"}, Hint: "back", In: []Scope{Detail, Help, Sort, Events, Lab, LabList, LabMenu, LabTalk, LabFree},
			Help: "back to where you came from"},
		{ID: Close, Keys: []string{"esc"}, Hint: "cancel", In: []Scope{Release}, Help: "close the panel; nothing is changed"},
		{ID: Apply, Keys: []string{"enter"}, Hint: "done", In: typing, Help: "keep what was typed"},
		{ID: Abandon, Keys: []string{"esc"}, Hint: "cancel", In: typing, Help: "clear it and go back"},
		{ID: EraseChar, Keys: []string{"backspace", "ctrl+h"}, In: typing, Help: "erase a character"},
		{ID: EraseWord, Keys: []string{"ctrl+w"}, In: typing, Help: "erase a word"},
		{ID: EraseLine, Keys: []string{"ctrl+u"}, In: typing, Help: "erase all"},
		{ID: CharLeft, Keys: []string{"left"}, In: typing, Help: "left"},
		{ID: CharRight, Keys: []string{"right"}, In: typing, Help: "right"},
		{ID: LineStart, Keys: []string{"home", "ctrl+a"}, In: typing, Help: "to the start"},
		{ID: LineEnd, Keys: []string{"end", "ctrl+e"}, In: typing, Help: "to the end"},
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
