/** The actions about the options of a session, which travel in a cookie. */
import { create, toBinary } from "@bufbuild/protobuf";
import { gatewayError, type GatewayError } from "@gateway/core/error.ts";
import type { Sealer } from "@gateway/core/handle/seal.ts";
import { err, ok, type Result } from "@gateway/core/result.ts";
import { fromBinary } from "@bufbuild/protobuf";
import { commandBytesMax } from "../limits.ts";
import * as flight from "../proto/Flight_pb.js";
import { cookieName, cookieOf, withOption, type SessionOptions } from "./options.ts";

/** Who asks. */
interface Asking {
  readonly user: string;
  readonly options: SessionOptions;
  readonly call: { answerHeader(name: string, value: string): void };
}

type Answer = Result<Uint8Array, GatewayError>;

const faults = {
  name: flight.SetSessionOptionsResult_ErrorValue.INVALID_NAME,
  value: flight.SetSessionOptionsResult_ErrorValue.INVALID_VALUE,
} as const;

export class SessionActions {
  readonly #sealer: Sealer;

  constructor(sealer: Sealer) {
    this.#sealer = sealer;
  }

  /** Takes the options that are known, and names the others. */
  set(body: Uint8Array, asking: Asking): Answer {
    if (body.length > commandBytesMax) return err(gatewayError("protocol.tooLarge"));
    let request: flight.SetSessionOptionsRequest;
    try {
      request = fromBinary(flight.SetSessionOptionsRequestSchema, body);
    } catch {
      return err(gatewayError("protocol.violation"));
    }
    const errors: Record<string, flight.SetSessionOptionsResult_Error> = {};
    const refuse = (name: string, value: flight.SetSessionOptionsResult_ErrorValue): void => {
      errors[name] = create(flight.SetSessionOptionsResult_ErrorSchema, { value });
    };
    let { options } = asking;
    for (const [name, value] of Object.entries(request.sessionOptions)) {
      const changed = withOption(options, name, value);
      if (typeof changed === "string") refuse(name, faults[changed]);
      else options = changed;
    }
    const cookie = cookieOf(options, asking.user, this.#sealer);
    if (cookie === undefined) {
      for (const name of Object.keys(request.sessionOptions)) refuse(name, faults.value);
    } else asking.call.answerHeader("set-cookie", `${cookieName}=${cookie}; Path=/; HttpOnly`);
    const result = create(flight.SetSessionOptionsResultSchema, { errors });
    return ok(toBinary(flight.SetSessionOptionsResultSchema, result));
  }

  get({ options }: Asking): Answer {
    const sessionOptions: Record<string, flight.SessionOptionValue> = {};
    for (const [name, value] of Object.entries(options) as [string, string | string[]][]) {
      const optionValue =
        typeof value === "string"
          ? ({ case: "stringValue", value } as const)
          : ({
              case: "stringListValue",
              value: create(flight.SessionOptionValue_StringListValueSchema, { values: value }),
            } as const);
      sessionOptions[name] = create(flight.SessionOptionValueSchema, { optionValue });
    }
    const result = create(flight.GetSessionOptionsResultSchema, { sessionOptions });
    return ok(toBinary(flight.GetSessionOptionsResultSchema, result));
  }

  /** The session is what its cookie says, so it is over when the client drops that. */
  close({ call }: Asking): Answer {
    call.answerHeader("set-cookie", `${cookieName}=; Path=/; Max-Age=0`);
    const status = flight.CloseSessionResult_Status.CLOSED;
    const result = create(flight.CloseSessionResultSchema, { status });
    return ok(toBinary(flight.CloseSessionResultSchema, result));
  }
}
