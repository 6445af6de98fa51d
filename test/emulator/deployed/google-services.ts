import { createServer, type IncomingMessage, type Server } from 'node:http';
import { json, text } from 'node:stream/consumers';
import { serviceConstants } from '#functions/config/constants.ts';
import { startFakeGemini } from '#infra/fake-gemini/server/start-fake-gemini.ts';
import { openServer } from '#infra/local/processes/open-server.ts';
import { startStorage } from '#infra/local/storage/start-storage.ts';
import { idTokenClaims, startTokenKeys } from '#test/support/token-keys.ts';

/**
 * What a deployed process is run with, as a module that Node imports first, so that it asks stand-ins in the place of
 * Google: addresses by what the ones of Google begin with. The addresses are constants of the service.
 */
const redirectGoogle = (standIns: Readonly<Record<string, string>>): string =>
  `data:text/javascript,${encodeURIComponent(`
    const standIns = Object.entries(${JSON.stringify(standIns)});
    const { fetch } = globalThis;
    globalThis.fetch = (input, init) => {
      const address = String(input);
      const found = standIns.find(([google]) => address.startsWith(google));
      return fetch(found ? found[1] + address.slice(found[0].length) : input, init);
    };
  `)}`;

/** Who pushes and to whom, as the worker's environment names them. */
interface PushIdentity {
  audience: string;
  email: string;
}

const jsonServer = (answer: (request: IncomingMessage) => Promise<object>): Server =>
  createServer((request, response) => {
    response.setHeader('content-type', 'application/json').setHeader('metadata-flavor', 'Google');
    answer(request).then(
      (body) => response.end(JSON.stringify(body)),
      (error: unknown) => response.writeHead(500).end(String(error)),
    );
  });

/** Gives every process of this machine the access token of a service account. */
const metadataServer = () =>
  jsonServer(async () => ({ access_token: 'access', expires_in: 3_600, token_type: 'Bearer' }));

/** Knows every account, none of them disabled. */
const identityToolkit = () =>
  jsonServer(async (request) => {
    const { localId } = (await json(request)) as { localId: string[] };
    return { users: localId.map((one) => ({ localId: one })) };
  });

/**
 * What functions ask beside Firestore and Pub/Sub, on this machine: keys, accounts, access tokens, files and the model.
 * `variables` and `redirect` lead to it; no other setting is needed.
 */
export async function startGoogleServices(bucket: string) {
  const keys = await startTokenKeys();
  const [metadata, accounts, storage, fakeGemini] = await Promise.all([
    openServer(metadataServer()),
    openServer(identityToolkit()),
    startStorage({ bucket }),
    startFakeGemini(),
  ]);
  const started: { close(): Promise<void> }[] = [keys, metadata, accounts, storage, fakeGemini];

  /** Stands between the emulator, whose pushes have no token, and the worker: signs as Pub/Sub does. */
  async function signPushes(workerUrl: string, { audience, email }: PushIdentity) {
    const relay = createServer((request, response) => {
      const push = async () => {
        const nowSeconds = Math.floor(Date.now() / 1_000);
        const times = { iat: nowSeconds, exp: nowSeconds + 3_600 };
        const claims = { iss: 'https://accounts.google.com', aud: audience, sub: '1', ...times };
        const token = await keys.sign({ ...claims, email, email_verified: true });
        const { status } = await fetch(workerUrl, {
          method: 'POST',
          headers: { authorization: `Bearer ${token}`, 'content-type': 'application/json' },
          body: await text(request),
        });
        response.writeHead(status).end();
      };
      push().catch(() => response.writeHead(502).end());
    });
    const opened = await openServer(relay);
    started.push(opened);
    return opened.url;
  }

  return {
    variables: {
      GEMINI_BASE_URL: fakeGemini.url,
      GCE_METADATA_HOST: metadata.host,
      METADATA_SERVER_DETECTION: 'assume-present',
    },
    /** A module that a process is to import first. */
    redirect: redirectGoogle({
      [serviceConstants.UPLOADS_URL]: storage.url,
      [serviceConstants.ID_TOKEN_KEYS_URL]: keys.url,
      [serviceConstants.PUSH_TOKEN_KEYS_URL]: keys.url,
      [serviceConstants.IDENTITY_TOOLKIT_URL]: accounts.url,
    }),
    idToken: (project: string, uid: string) => keys.sign(idTokenClaims(project, uid)),
    signPushes,
    close: async () => {
      await Promise.all(started.map((one) => one.close()));
    },
  };
}
