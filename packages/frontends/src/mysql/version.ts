/** What the server calls itself. Drivers read a version of MySQL 8.4 out of it and act on that. */
export const serverVersion = "8.4.0-gateway";
