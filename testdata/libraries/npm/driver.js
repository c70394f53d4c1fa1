// What the drivers share. A driver is started as
//
//   node LIBRARY.js PORT '{"key": …}'
//
// It takes one lock on 127.0.0.1:PORT, waiting for it if need be, prints what
// happens to it as one JSON object a line, and obeys words on its standard
// input. It ends when that is closed.
"use strict";
const readline = require("node:readline");
const { Redis } = require("ioredis");

const port = Number(process.argv[2]);

exports.port = port;
exports.settings = JSON.parse(process.argv[3]);
exports.connect = () => new Redis({ host: "127.0.0.1", port });

exports.tell = (event, more = {}) => process.stdout.write(JSON.stringify({ event, ...more }) + "\n");

// obey runs what the words name: {release: async () => …}.
exports.obey = (words) => {
  const lines = readline.createInterface({ input: process.stdin });
  lines.on("line", async (word) => {
    try {
      await words[word]();
    } catch (err) {
      exports.tell(word + "-failed", { error: String(err) });
    }
  });
  lines.on("close", () => process.exit(0));
};
