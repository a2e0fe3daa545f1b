/**
 * One instance of a function, as the platform runs it: a process of its own, with the bundle as its
 * only code, that is handed one event after the other.
 *
 * Started by instance.ts with the bundle's file; events come and answers leave over the channel to the
 * parent. It speaks the platform's response stream byte by byte (prelude, eight zeros, body) and
 * takes an empty event loop during an invocation for what it is there: an end without an answer.
 */
import { Writable } from "node:stream";
import { pathToFileURL } from "node:url";

const streaming = Symbol("streaming");
const [, , file] = process.argv;

globalThis.awslambda = {
  streamifyResponse: (handler) => Object.assign(handler, { [streaming]: true }),
  HttpResponseStream: {
    from: (stream, prelude) => {
      stream.contentType = "application/vnd.awslambda.http-integration-response";
      stream.beforeFirstWrite = () => {
        say({
          kind: "bytes",
          bytes: [...Buffer.from(JSON.stringify(prelude)), ...new Uint8Array(8)],
        });
      };
      return stream;
    },
  },
};

const startedMs = performance.now();
const used = process.cpuUsage();
const { handler, buffered } = await import(pathToFileURL(file).href);
const { user, system } = process.cpuUsage(used);
say({
  kind: "ready",
  tookMs: performance.now() - startedMs,
  processorMs: (user + system) / 1_000,
});

let busy = false;
process.on("message", (message) => void take(message));
process.on("disconnect", () => process.exit());
// Nothing is left that could answer: the platform ends the instance here.
process.on("beforeExit", () => {
  if (busy) process.exit(70);
});

async function take({ event, remainingMs, form }) {
  if (busy) throw new Error("an instance takes one event at a time");
  busy = true;
  // The channel is not part of the platform: only the handler's own work keeps the loop alive.
  process.channel.unref();
  const deadlineMs = performance.now() + remainingMs;
  const context = {
    awsRequestId: "request",
    functionName: "control",
    getRemainingTimeInMillis: () => deadlineMs - performance.now(),
  };
  try {
    if (form === "buffered") say({ kind: "result", result: await buffered(event, context) });
    else if (form === "plain") say({ kind: "result", result: await handler(event, context) });
    else await streamed(event, context);
  } catch (error) {
    say({ kind: "error", message: String(error) });
  } finally {
    busy = false;
    process.channel.ref();
  }
}

async function streamed(event, context) {
  if (handler[streaming] !== true) throw new Error("the handler does not stream");
  const out = responseStream();
  const ended = new Promise((resolve) => out.on("finish", resolve));
  await handler(event, out, context);
  await ended;
  say({ kind: "end", contentType: out.contentType });
}

function responseStream() {
  let first = true;
  const out = new Writable({
    write(chunk, _encoding, done) {
      say({ kind: "bytes", bytes: [...chunk] });
      done();
    },
  });
  const write = out.write.bind(out);
  out.write = (...args) => {
    if (first) out.beforeFirstWrite?.();
    first = false;
    return write(...args);
  };
  return out;
}

function say(message) {
  process.send?.(message);
}
