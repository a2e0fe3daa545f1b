/** What a deployment says when it is done. No secret is among it. */
import { alarmTopic } from "./alarms.ts";
import { controlUrl } from "./control.ts";
import { frontendPorts } from "./gatewayConfig.ts";
import { stage } from "./stage.ts";
import { consoleOf } from "./studio.ts";
import { fleetOfStage } from "./worker.ts";

export const outputs = {
  control: controlUrl,
  studio: consoleOf(controlUrl) ?? "none",
  controlRunsAs: $dev ? "local process" : stage.control,
  workers: fleetOfStage?.address ?? "none",
  workerScraper: fleetOfStage?.scraper ?? "none",
  workerPorts: fleetOfStage === undefined ? "none" : Object.values(frontendPorts).join(", "),
  alarms: $dev ? "none" : alarmTopic().arn,
};
