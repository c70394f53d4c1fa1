-- Enter: from here on nothing older is accepted. Before the first read.
return 1
