/** The program's own version, as it stands in package.json of the repository; told to control planes. */
export const programVersion = "0.1.0";
