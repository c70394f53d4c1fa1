// A BullMQ worker that holds its job's lock until it is told to finish.
// Settings: queue, worker (its name), add (put a job into the queue first),
// stalledInterval (ms).
"use strict";
const { obey, port, settings, tell } = require("./driver");
const { Queue, Worker } = require("bullmq");

const { queue, worker, add, stalledInterval } = settings;
const connection = { host: "127.0.0.1", port };

const main = async () => {
  if (add) {
    await new Queue(queue, { connection }).add("resize", { image: 7 });
  }
  let finish;
  const finished = new Promise((resolve) => (finish = resolve));
  const job = async (job, token) => {
    tell("held", { id: token, job: job.id });
    await finished;
  };
  const w = new Worker(queue, job, { connection, name: worker, stalledInterval });
  w.on("completed", () => tell("completed"));
  w.on("failed", (_, err) => tell("failed", { error: String(err) }));
  w.on("stalled", (id) => tell("stalled", { job: id }));
  w.on("error", (err) => tell("error", { error: String(err) }));
  obey({ finish });
};

main();
