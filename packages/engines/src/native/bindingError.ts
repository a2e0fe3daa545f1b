/** What the binding itself refuses or meets, as errors of the catalogue: the same whatever the driver. */
import { gatewayError, type GatewayError } from "@gateway/core/error.ts";
import type { AdbcFailure } from "./driver.ts";

/** The catalogue's error for a failure that the driver did not cause. */
export function errorOfBinding(
  code: Exclude<AdbcFailure["code"], "driver">,
  message: string,
): GatewayError {
  switch (code) {
    case "cancelled":
      return gatewayError("query.cancelled");
    case "empty":
      return gatewayError("query.syntax", { message: "the text holds no statement" });
    case "several":
      return gatewayError("query.unsupported", {
        message: "one statement at a time; the text holds several",
      });
    case "refused":
      return gatewayError("query.permission", {
        message: "this kind of statement may not run here",
      });
    case "parameters":
      return gatewayError("query.parameters", { message: message });
    case "contextRefused":
    case "unreadable":
      return gatewayError("query.unsupported", { message: message });
    case "library":
    case "broken":
      return gatewayError("engine.broken", { detail: message });
    case "crashed":
      return gatewayError("engine.crashed", { detail: message });
    case "bug":
      return gatewayError("internal.bug", { detail: message });
  }
}
