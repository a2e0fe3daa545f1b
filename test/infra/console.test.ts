/** The console of a control plane of functions: a site beside it, walked like the rest of the deployment. */
import { createContext, runInContext } from "node:vm";
import { studioPath } from "@gateway/contract/studioApi.ts";
import { pageHeaders } from "@gateway/gateway/ops/studioFiles.ts";
import { afterAll, beforeAll, expect, it } from "vitest";
import { outputOf } from "./outputs.ts";
import { recorder, type Deployed, type Recorder } from "./recorded.ts";

let recording: Recorder;
let deployed: Deployed;

beforeAll(async () => {
  recording = await recorder();
  deployed = await stageOf({});
});
afterAll(() => recording[Symbol.dispose]());

it("is a site under the same name as the admin API", () => {
  const site = deployed.one("sst.aws.StaticSite", "Studio").args;
  expect(site["router"]).toMatchObject({ path: studioPath.replace(/\/$/, "") });
  expect(site["build"]).toMatchObject({ output: "packages/studio/dist" });
  const route = deployed.one("sst.aws.Router.route", "/admin").args;
  expect(outputOf(route["url"]).value).toBe("https://control.example");
  expect(outputOf(deployed.outputs["studio"]).value).toBe(`https://console.example${studioPath}`);
});

it("has the headers of a listener's, and the API has its own", () => {
  const { vary: _, ...wanted } = pageHeaders;
  const said = Object.entries(wanted).map(([name, value]) => [name, { value }]);
  expect(headersAt(`${studioPath}queries`)).toEqual(Object.fromEntries(said));
  expect(headersAt("/admin/me")).toEqual({});
});

it("is where a browser without a path is led, and files are asked for by their path", () => {
  const leading = { statusCode: 302, headers: { location: { value: studioPath } } };
  expect(answerAt("/")).toMatchObject(leading);
  expect(answerAt("/studio")).toMatchObject(leading);
  expect(answerAt("/studio/assets/a.js")).toBeUndefined();
});

it("is served by a container itself, and by nobody where the stage says so", async () => {
  const container = await stageOf({ control: "container" });
  expect(container.all("sst.aws.StaticSite")).toEqual([]);
  expect(outputOf(container.outputs["studio"]).value).toBe(`https://control.example${studioPath}`);
  const without = await stageOf({ studio: false });
  expect(without.all("sst.aws.Router")).toEqual([]);
  expect(without.outputs["studio"]).toBe("none");
});

function stageOf(settings: object): Promise<Deployed> {
  return recording.deploy({
    stages: { ann: settings },
    secrets: {
      DatabaseUrl: "postgresql://gateway:of-the-database@db.example/gateway",
      EncryptionKeys: "an encryption key of ann",
      FleetSecrets: "a fleet secret of ann with many characters",
    },
    variables: {
      GATEWAY_IMAGE: `registry.example/gateway@sha256:${"0".repeat(64)}`,
      GATEWAY_DOMAIN: "control.example",
    },
  });
}

/** What the function before a request answers in its place; undefined: the request goes on. */
function answerAt(uri: string): unknown {
  return atEdge("viewerRequest", { request: { uri }, response: { headers: {} } });
}

/** What the function behind an answer gives it. */
function headersAt(uri: string): object {
  const event = { request: { uri }, response: { headers: {} } };
  atEdge("viewerResponse", event);
  return event.response.headers;
}

/** SST puts the text into a function of the edge, whose argument is the event. */
function atEdge(at: "viewerRequest" | "viewerResponse", event: object): unknown {
  const { edge } = deployed.one("sst.aws.Router", "Console").args as {
    readonly edge: Readonly<Record<typeof at, { readonly injection: string }>>;
  };
  return runInContext(`(() => {${edge[at].injection}\n})()`, createContext({ event }));
}
