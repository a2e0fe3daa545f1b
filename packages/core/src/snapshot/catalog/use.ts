/** Which groups' statements have their tables looked up in the catalog. */
import type { AccessControlConfig } from "@gateway/contract/config/accessControl.ts";
import type { TranslationConfig } from "@gateway/contract/config/translation.ts";

export interface CatalogUse {
  readonly accessControl?: Pick<AccessControlConfig, "clusterGroups"> | undefined;
  readonly translation?:
    | Partial<Pick<TranslationConfig, "mode" | "clusterGroups" | "schemaResolutionTimeoutMs">>
    | undefined;
}

/** Whether a statement of the group may need the catalog. */
export function asksCatalog({ accessControl, translation }: CatalogUse, group: string): boolean {
  if (accessControl !== undefined && covers(accessControl, group)) return true;
  return translation !== undefined && translatesByTypes(translation) && covers(translation, group);
}

/** Whether translation looks at the columns of tables. */
export function translatesByTypes(translation: NonNullable<CatalogUse["translation"]>): boolean {
  const { mode = "off", schemaResolutionTimeoutMs } = translation;
  return mode !== "off" && schemaResolutionTimeoutMs !== undefined;
}

function covers(
  { clusterGroups }: { readonly clusterGroups?: readonly string[] | undefined },
  group: string,
): boolean {
  return clusterGroups?.includes(group) ?? true;
}
