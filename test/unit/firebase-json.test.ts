import { readFileSync } from 'node:fs';
import { expect, test } from 'vitest';
import { z } from 'zod';
import { pageHeaders } from '#infra/local/page/start-page.ts';
import { stackEnvironment } from '#infra/local/stack/stack-environment.ts';

/** What the deployed page may call: chat, whose address stands here until the page is deployed, and the sign-in of guests. */
const DEPLOYED_ORIGINS = [
  'https://chat.example',
  'https://identitytoolkit.googleapis.com',
  'https://securetoken.googleapis.com',
];

const address = z.object({ host: z.literal('127.0.0.1'), port: z.number() });
const header = z.object({ key: z.string(), value: z.string() });
const file = z
  .object({
    hosting: z.object({
      headers: z.array(z.object({ source: z.string(), headers: z.array(header) })),
    }),
    emulators: z.object({ auth: address, firestore: address, pubsub: address, hosting: address }),
  })
  .parse(JSON.parse(readFileSync(new URL('../../firebase.json', import.meta.url), 'utf8')));

test('Firebase’s emulators listen where the local stack looks for them, beside the ports of npm start', () => {
  const { auth, firestore, pubsub, hosting } = file.emulators;
  const stack = stackEnvironment({ shell: {}, model: { kind: 'fake-gemini' } });
  const ports = [auth, firestore, pubsub, hosting].map(({ port }) => port);

  expect(`${auth.host}:${auth.port}`).toBe(stack['FIREBASE_AUTH_EMULATOR_HOST']);
  expect(`${pubsub.host}:${pubsub.port}`).toBe(stack['PUBSUB_EMULATOR_HOST']);
  expect(new Set(ports).size).toBe(ports.length);
  expect(ports.filter((port) => port >= 8080 && port < 8085)).toEqual([]);
});

test('the deployed page has the headers of the local one, and may call chat and the sign-in alone', () => {
  const everywhere = file.hosting.headers.find(({ source }) => source === '**')?.headers ?? [];

  const sent = Object.fromEntries(everywhere.map(({ key, value }) => [key, value]));
  expect(sent).toMatchObject(pageHeaders(DEPLOYED_ORIGINS));
});
