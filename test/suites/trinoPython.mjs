/** Trino's Python client and its dialect: tests of our own for what its users rely on, as its own tests ship nowhere. */
import { cp, mkdir } from "node:fs/promises";
import { join } from "node:path";
import { trinoPair } from "./servers.mjs";
import { projects, pythonFolder, pythonTests, pythonWith } from "./pythonTests.mjs";

const version = "0.340.0";
const name = `trino-client-${version}`;
const packages = [`trino[sqlalchemy]==${version}`, "pytest==8.4.2", "requests", "tzdata"];

export const trinoPython = {
  suite: "Trino's Python client, tests of this project",
  version,
  behind: trinoPair.behind,
  leftOut: {},
  async open() {
    const { python, reason } = await pythonWith(name, packages);
    if (python === undefined) return { reason };
    const opened = await trinoPair.open();
    if (opened.reason !== undefined) return opened;
    const project = join(pythonFolder(name), "project");
    const tests = async (port) => {
      await opened.empty([]);
      await mkdir(project, { recursive: true });
      await cp(join(projects, "trino"), project, { recursive: true });
      const env = { SUITE_TRINO_PORT: `${port}`, SUITE_TRINO_SERVER: `${opened.port}` };
      return pythonTests(python, ["."], { cwd: project, env });
    };
    return {
      ...opened,
      direct: () => tests(opened.port),
      through: (ports) => tests(ports[opened.frontend]),
    };
  },
};
