// redlock as it is installed today (4), its version 5, and the fork of that.
// Settings: library (a package of package.json), keys, ttl (ms), retryCount.
"use strict";
const { connect, obey, settings, tell } = require("./driver");

const { library, keys, ttl, retryCount } = settings;
const exported = require(library);
const Redlock = exported.Redlock ?? exported.default ?? exported;
// All but retryCount is as the library has it by default.
const redlock = new Redlock([connect()], retryCount === undefined ? {} : { retryCount });
redlock.on?.("error", () => {}); // every try of a waiter is one

// Version 5: using() extends the lock by itself and aborts when it cannot.
const hold = async () => {
  let finish;
  const finished = new Promise((resolve) => (finish = resolve));
  obey({ release: finish });
  try {
    await redlock.using(keys, ttl, async (signal) => {
      signal.addEventListener("abort", () => tell("lost", { error: String(signal.error) }));
      tell("held");
      await finished;
    });
    tell("released");
  } catch (err) {
    tell("release-failed", { error: String(err) });
  }
};

// Version 4: nothing extends the lock but the application.
const holdByHand = async () => {
  let lock = await redlock.lock(keys, ttl);
  tell("held");
  obey({
    extend: async () => {
      lock = await lock.extend(ttl);
      tell("extended");
    },
    release: async () => {
      await lock.unlock();
      tell("released");
    },
  });
};

(redlock.using ? hold : holdByHand)();
