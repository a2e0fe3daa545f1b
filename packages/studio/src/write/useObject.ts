/** One object of the configuration while its page is open. */
import { useQuery } from "@tanstack/react-query";
import { useState } from "react";
import { objectQuery } from "../api/queries.ts";
import type { ConfigObject } from "../api/shapes.ts";
import type { ObjectPath } from "./write.ts";

/** Also what somebody else changes is seen, in time. */
const againMs = 10_000;

/**
 * What somebody deletes stays as it was last read (`deleted`), so that nobody who edits it loses what they wrote. Null: it
 * was not there when the page came.
 */
export function useObject(path: ObjectPath) {
  const { data, error, refetch } = useQuery({ ...objectQuery(path), refetchInterval: againMs });
  const [known, setKnown] = useState<ConfigObject>();
  if (data !== undefined && data !== null && data !== known) setKnown(data);
  const deleted = data === null && known !== undefined;
  return { data: deleted ? known : data, error, refetch, deleted };
}
