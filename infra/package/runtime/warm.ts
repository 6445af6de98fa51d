import { unsignedJwt } from '#functions/local-server.ts';
import { once } from 'node:events';
import type { Server } from 'node:http';
import type { AddressInfo } from 'node:net';
import type { CompiledModules } from './compiled.ts';

/*
 * `npm run gcp-build` of a packed archive: loads both functions once, so that the image holds compiled code.
 * A function that does not load fails the build. Nothing is asked of a network: project, store and model are
 * ones that are not there.
 */
const NOBODY = '127.0.0.1:9';
Object.assign(process.env, {
  NODE_ENV: 'production',
  GOOGLE_CLOUD_PROJECT: 'demo-build',
  FIRESTORE_EMULATOR_HOST: NOBODY,
  PUBSUB_EMULATOR_HOST: NOBODY,
  FIREBASE_AUTH_EMULATOR_HOST: NOBODY,
  METADATA_SERVER_DETECTION: 'none',
  GEMINI_API_KEY: 'none',
});

const nowSeconds = Math.floor(Date.now() / 1_000);
const token = unsignedJwt({
  iss: 'https://securetoken.google.com/demo-build',
  aud: 'demo-build',
  sub: 'build',
  auth_time: nowSeconds,
  iat: nowSeconds,
  exp: nowSeconds + 600,
});
const authorization = `Bearer ${token}`;

async function ask(server: Server, path: string, request: RequestInit = {}): Promise<Response> {
  if (!server.listening) await once(server.listen(0, '127.0.0.1'), 'listening');
  const { port } = server.address() as AddressInfo;
  return fetch(`http://127.0.0.1:${port}${path}`, request);
}

async function statusOf(server: Server, path: string, request: RequestInit = {}): Promise<number> {
  const response = await ask(server, path, request);
  await response.arrayBuffer();
  return response.status;
}

/** Asks for every address that the API document names, and is refused: so each file of routes is loaded. */
async function askForAll(server: Server): Promise<number> {
  const response = await ask(server, '/v1/openapi.json');
  const { paths = {} } = (await response.json()) as { paths?: Record<string, object> };
  for (const [path, operations] of Object.entries(paths))
    for (const method of Object.keys(operations))
      await statusOf(server, path, { method: method.toUpperCase() });
  return response.status;
}

async function warm(): Promise<void> {
  const { load, keep } = require('./main.cjs') as CompiledModules;
  const { getTestServer } = require('@google-cloud/functions-framework/testing') as {
    getTestServer: (target: string) => Server;
  };
  const chat = getTestServer('chat');
  const loaded = {
    chat: await statusOf(chat, '/v1/health'),
    routes: await askForAll(chat),
    // A GET is no push.
    compaction: await statusOf(getTestServer('compaction'), '/'),
  };
  if (loaded.chat !== 200 || loaded.routes !== 200 || loaded.compaction !== 405)
    throw new Error(
      `the functions do not load: ${JSON.stringify(loaded)}; expected 200, 200 and 405`,
    );
  process.stdout.write(
    'Asking a store that is not there; warnings that it cannot be read are as they should be:\n',
  );
  // Fails at the store, and has compiled what comes before.
  await statusOf(chat, '/v1/conversations/018f6b1e-7f1d-4c65-9f0e-2a6f3b9d5c11/messages', {
    method: 'POST',
    headers: { authorization, 'content-type': 'application/json' },
    body: JSON.stringify({
      message: {
        id: 'c5d5219c-ec19-4265-8aa7-bdae2d42e2b1',
        parts: [{ type: 'text', text: 'warm' }],
      },
    }),
  });
  const sdks = load('sdk.cjs') as object;
  for (const name of Object.keys(sdks)) void Reflect.get(sdks, name);
  keep();
  process.stdout.write('Both functions load; their compiled code is kept beside them.\n');
}

warm().then(
  () => process.exit(0),
  (error: unknown) => {
    process.stderr.write(`${error instanceof Error ? error.stack : String(error)}\n`);
    process.exit(1);
  },
);
