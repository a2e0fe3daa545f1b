/** Who is logged in, for whatever a page offers or hides. The API judges all the same. */
import { createContext, useContext } from "react";
import { roles, type Me, type Role } from "../api/shapes.ts";

export const MeContext = createContext<Me>({ name: "", role: "viewer", via: "" });

export function useMe(): Me {
  return useContext(MeContext);
}

/** Whether the role has at least these rights. */
export function useMay(role: Role): boolean {
  return roles.indexOf(useMe().role) >= roles.indexOf(role);
}
