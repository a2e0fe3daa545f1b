/** What a deployment says when it is done. No secret is among it. */
import { alarmTopic } from "./alarms.ts";
import { controlUrl } from "./control.ts";
import { frontendPorts } from "./gatewayConfig.ts";
import { stage } from "./stage.ts";
import { workerAddress } from "./worker.ts";

export const outputs = {
  control: controlUrl,
  controlRunsAs: $dev ? "local process" : stage.control,
  workers: workerAddress ?? "none",
  workerPorts: workerAddress === undefined ? "none" : Object.values(frontendPorts).join(", "),
  alarms: $dev ? "none" : alarmTopic().arn,
};
