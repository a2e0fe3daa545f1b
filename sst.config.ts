/// <reference path="./.sst/platform/config.d.ts" />

/**
 * The deployment to AWS, for SST 4: the app and the order in which its parts are made.
 *
 * It deploys the control plane and a fleet of workers of our own; whoever runs workers elsewhere
 * needs none of this. `npm run check:infra` checks the types without an account.
 */
export default $config({
  app({ stage }) {
    const isProduction = stage === "production";
    return {
      name: "query-gateway",
      home: "aws",
      // A database outlives its stage either way: it is not made here.
      removal: isProduction ? "retain" : "remove",
      protect: isProduction,
      // The version that the SST of the lock file knows; another one is another set of options.
      providers: { aws: { version: "7.20.0" } },
    };
  },
  async run() {
    const { stage } = await import("./infra/stage.ts");
    const { refuseIncomplete } = await import("./infra/required.ts");
    refuseIncomplete({
      stage,
      dev: $dev,
      // Where SST keeps the values of secrets for its own components.
      secret: (name) => process.env[`SST_SECRET_${name}`],
      variable: (name) => process.env[name],
    });
    await import("./infra/secret.ts");
    await import("./infra/database.ts");
    await import("./infra/control.ts");
    await import("./infra/worker.ts");
    const { outputs } = await import("./infra/outputs.ts");
    return outputs;
  },
});
