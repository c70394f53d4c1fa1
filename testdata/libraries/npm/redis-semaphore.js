// redis-semaphore. Settings: kind (Mutex, Semaphore, MultiSemaphore), key,
// limit, permits, lockTimeout and refreshInterval (ms); ownHandler gives it an
// onLockLost, without which the library throws in a timer.
"use strict";
const { connect, obey, settings, tell } = require("./driver");
const { Mutex, MultiSemaphore, Semaphore } = require("redis-semaphore");

const { kind, key, limit, permits, lockTimeout, refreshInterval, ownHandler } = settings;
const options = { lockTimeout, refreshInterval, acquireTimeout: 60000 };
if (ownHandler) {
  options.onLockLost = (err) => tell("lost", { error: err.constructor.name });
}
const client = connect();
const lock = {
  Mutex: () => new Mutex(client, key, options),
  Semaphore: () => new Semaphore(client, key, limit, options),
  MultiSemaphore: () => new MultiSemaphore(client, key, limit, permits, options),
}[kind]();

obey({
  release: async () => {
    await lock.release();
    tell("released");
  },
});
lock.acquire().then(() => tell("held", { id: lock.identifier }));
