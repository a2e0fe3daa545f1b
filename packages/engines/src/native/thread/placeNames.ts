/** Words for where a connection stands. Apart from what calls drivers, because a configuration is read where there are none. */

/** ADBC's names of where a connection stands. Set in this order: another catalog may bring another schema. */
export const placeOptions = {
  catalog: "adbc.connection.catalog",
  schema: "adbc.connection.db_schema",
} as const;

/** What a catalog without a name is shown as, and a schema without one in it. */
export const namelessCatalog = "adbc";
export const namelessSchema = "main";
