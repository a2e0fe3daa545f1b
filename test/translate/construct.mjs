/** How the lists of constructs are written. */

export const all = (name, sql, more = {}) => ({ name, sql, ...more });
/** The order of its rows counts. */
export const ordered = (name, sql, more = {}) => ({ name, sql, ordered: true, ...more });
