/**
 * One seed for every property test, so that a run of the tests can be repeated and a green tree stays
 * green. Exploring is for the nightly run: with GATEWAY_RANDOM_SEEDS set, each run draws its own and
 * a failure prints it.
 */
import fc from "fast-check";

if (process.env["GATEWAY_RANDOM_SEEDS"] === undefined) fc.configureGlobal({ seed: 1 });
