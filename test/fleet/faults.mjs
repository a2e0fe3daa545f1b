/**
 * Faults of the matrix over a swarm, by their numbers there. Each is begun and answers how it ends; `needs` says what the
 * fleet has to have for it. What can only end once the other fault has is put into `swarm.returning`.
 */
import { setTimeout as pause } from "node:timers/promises";
import { until } from "./wait.mjs";

const stormEveryMs = 300;

/** By number: `begin(swarm, chance)` answers a function that ends it. */
export const faults = {
  F1: {
    what: "the control plane is killed",
    begin: async (swarm) => {
      await swarm.control.kill();
      return () => {
        const served = supervised(swarm.control);
        // Judged by whoever waits for it, once both faults are over.
        served.catch(() => {});
        swarm.returning.push(served);
      };
    },
  },
  F2: {
    what: "the control plane is frozen",
    begin: async ({ control }) => {
      control.freeze();
      return () => control.thaw();
    },
  },
  F3: {
    what: "the database stops",
    needs: "database",
    begin: async ({ database }) => {
      await database.link.cut();
      await database.server.restart();
      return () => database.link.heal();
    },
  },
  F4: {
    what: "the database is silent",
    needs: "database",
    begin: async ({ database }) => {
      database.link.stall({ toClient: true });
      return () => database.link.heal();
    },
  },
  F5: {
    what: "a link is cut, one way or both",
    begin: async ({ links }, chance) => {
      const link = links[chance.below(links.length)];
      link.stall({ toClient: true, toServer: chance.below(2) === 1 });
      return () => link.heal();
    },
  },
  F6: {
    what: "links are reset again and again",
    begin: async ({ links }) => {
      const storm = { over: false };
      const loop = (async () => {
        while (!storm.over) {
          for (const link of links) link.reset();
          await pause(stormEveryMs);
        }
      })();
      return () => {
        storm.over = true;
        return loop;
      };
    },
  },
  F11: {
    what: "a worker is killed",
    begin: async ({ workers }, chance) => {
      const worker = workers[chance.below(workers.length)];
      await worker.kill();
      return () => worker.restart().open();
    },
  },
  F12: {
    what: "a worker is frozen",
    begin: async ({ workers }, chance) => {
      const worker = workers[chance.below(workers.length)];
      if (!worker.running) return () => {};
      worker.freeze();
      return () => worker.thaw();
    },
  },
  F13: {
    what: "the history is refused",
    needs: "endpoint",
    // Nothing is refused where another fault lets nothing run: it has to be met before that one.
    beginsFirst: true,
    begin: async ({ endpoint }) => {
      endpoint.refuses = true;
      await until("it was refused", () => endpoint.refusals > 0);
      return () => {
        endpoint.refuses = false;
      };
    },
  },
  F16: {
    what: "the workers are replaced one by one",
    begin: async ({ workers }) => {
      const replacing = (async () => {
        for (const worker of workers) {
          if (!worker.running) continue;
          await worker.stop();
          await worker.restart().open();
        }
      })();
      replacing.catch(() => {});
      return () => replacing;
    },
  },
  F26: {
    what: "the engine's process is killed",
    begin: async ({ engine }) => {
      await engine.restart();
      return () => {};
    },
  },
};

/** Started until it serves, as an orchestrator does: without its database a control plane ends, and says why. */
function supervised(control) {
  return until(
    "the control plane serves again",
    async () => {
      if (!control.running) control.restart();
      return control.open().catch((error) => {
        if (control.running || !withoutDatabase.test(error.message)) throw error;
        return false;
      });
    },
    90,
  );
}

const withoutDatabase = /start: gateway\.persistence: the database is not available/;

/** What can not be at once: both of one process, or of one place. */
const apart = [
  ["F1", "F2"],
  ["F3", "F4"],
  ["F11", "F12"],
  ["F11", "F16"],
  ["F12", "F16"],
];

/** All that can be at once, each once, in the order of the matrix. */
export const pairs = Object.keys(faults).flatMap((first, at, names) =>
  names
    .slice(at + 1)
    .filter((second) => !apart.some((two) => two.includes(first) && two.includes(second)))
    .map((second) => [first, second]),
);
