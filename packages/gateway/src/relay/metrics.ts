/** What the relay counts. */

export const relayFamilies = {
  relayed: {
    name: "gateway_relayed_requests_total",
    help: "Requests about queries of other gateways, sent on to them.",
    labels: ["result"],
  },
  refused: {
    name: "gateway_relay_refused_total",
    help: "Connections to the relay listener whose other end did not prove that it is of the fleet.",
    labels: [],
  },
} as const;
