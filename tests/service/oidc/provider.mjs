// A real OpenID Connect provider on loopback, at which one person logs in by himself.
//
// node provider.mjs PORT CALLBACK KEY    KEY: the id of its only key
import { generateKeyPairSync } from "node:crypto";
import { createServer } from "node:http";
import { Provider } from "oidc-provider";

const [port, callback, key] = process.argv.slice(2);

const { privateKey } = generateKeyPairSync("rsa", { modulusLength: 2048 });
const scope = "openid profile offline_access";
const provider = new Provider(`http://127.0.0.1:${port}`, {
  jwks: { keys: [{ ...privateKey.export({ format: "jwk" }), kid: key, alg: "RS256", use: "sig" }] },
  cookies: { keys: ["not a secret"] },
  clients: [
    { client_id: "page", client_secret: "of the page", redirect_uris: [callback], scope },
    {
      client_id: "cli",
      token_endpoint_auth_method: "none",
      grant_types: ["urn:ietf:params:oauth:grant-type:device_code", "refresh_token"],
      redirect_uris: [],
      response_types: [],
      scope,
    },
  ],
  claims: { openid: ["sub", "tenant", "roles"], profile: ["name"] },
  conformIdTokenClaims: false,
  features: { deviceFlow: { enabled: true }, devInteractions: { enabled: false } },
  interactions: { url: (_, interaction) => `/interaction/${interaction.uid}` },
  findAccount: (_, id) => ({
    accountId: id,
    claims: () => ({ sub: id, name: "Ann", tenant: "lab", roles: ["tuner"] }),
  }),
  // Nobody is asked for his consent.
  loadExistingGrant: async (ctx) => {
    const { client, session } = ctx.oidc;
    const grant = new provider.Grant({ clientId: client.clientId, accountId: session.accountId });
    grant.addOIDCScope(scope);
    await grant.save();
    return grant;
  },
});

const answer = provider.callback();
createServer((request, response) => {
  if (!request.url.startsWith("/interaction/")) return answer(request, response);
  return provider.interactionFinished(request, response, { login: { accountId: "ann" } });
}).listen(Number(port), "127.0.0.1", () => console.log("ready"));
