import { existsSync, readdirSync, readFileSync } from 'node:fs';
import { describe, expect, test } from 'vitest';
import { z } from 'zod';
import { pageHeaders } from '#infra/local/page/page-headers.ts';
import { localProjectId, stackEnvironment } from '#infra/local/stack/stack-environment.ts';

const root = new URL('../../', import.meta.url);
const textOf = (path: string) => readFileSync(new URL(path, root), 'utf8');

/** What the deployed page may call: chat, whose address stands here until the page is deployed, and the sign-in of guests. */
const DEPLOYED_ORIGINS = [
  'https://chat.example',
  'https://identitytoolkit.googleapis.com',
  'https://securetoken.googleapis.com',
];

const address = z.strictObject({ host: z.literal('127.0.0.1'), port: z.number() });

/** As strict as can be: a key that firebase-tools does not know it passes over in silence. */
const file = z
  .strictObject({
    firestore: z.strictObject({ rules: z.string(), indexes: z.string() }),
    hosting: z.strictObject({
      public: z.string(),
      predeploy: z.array(z.string()),
      ignore: z.array(z.string()),
      headers: z.array(
        z.strictObject({
          source: z.string(),
          headers: z.array(z.strictObject({ key: z.string(), value: z.string() })),
        }),
      ),
    }),
    emulators: z.strictObject({
      auth: address,
      firestore: address,
      pubsub: address,
      hosting: address,
      ui: z.strictObject({ enabled: z.boolean() }),
      singleProjectMode: z.literal(true),
    }),
  })
  .parse(JSON.parse(textOf('firebase.json')));

const stack = stackEnvironment({ shell: {}, model: { kind: 'stand-in' } });
const hostOf = ({ host, port }: z.infer<typeof address>) => `${host}:${port}`;

describe('firebase.json', () => {
  test.each([
    ['Auth', file.emulators.auth, 'FIREBASE_AUTH_EMULATOR_HOST'],
    ['Pub/Sub', file.emulators.pubsub, 'PUBSUB_EMULATOR_HOST'],
  ])(
    'firebase.json has the emulator of %s where the local stack looks for it',
    (_, emulator, variable) => {
      expect(hostOf(emulator)).toBe(stack[variable]);
    },
  );

  test('firebase.json’s ports collide neither with each other nor with npm start', () => {
    const { auth, firestore, pubsub, hosting } = file.emulators;
    const ports = [auth, firestore, pubsub, hosting].map(({ port }) => port);

    expect(new Set(ports).size).toBe(ports.length);
    expect(ports.filter((port) => port >= 8080 && port < 8085)).toEqual([]);
  });

  test('firebase.json names existing rules and indexes, the same as Terraform', () => {
    const terraform = textOf('terraform/firestore.tf');

    for (const path of [file.firestore.rules, file.firestore.indexes]) {
      expect(existsSync(new URL(path, root))).toBe(true);
      const [directory, name] = [path.slice(0, path.lastIndexOf('/')), path.split('/').at(-1)];
      expect(terraform).toContain(`/../${directory}"`);
      expect(terraform).toContain(`{local.firestore_directory}/${name}"`);
    }
  });

  test('firebase.json hosts the page of npm run build:web with the local headers', () => {
    const scripts = z
      .object({ scripts: z.record(z.string(), z.string()) })
      .parse(JSON.parse(textOf('package.json'))).scripts;
    const everywhere = file.hosting.headers.find(({ source }) => source === '**')?.headers ?? [];
    const said = Object.fromEntries(everywhere.map(({ key, value }) => [key, value]));

    expect(file.hosting.predeploy).toEqual(['npm run build:web']);
    expect(`${scripts['build:web']}/dist`).toContain(file.hosting.public);
    expect(said).toMatchObject(pageHeaders(DEPLOYED_ORIGINS));
  });

  describe('lets the page call', () => {
    const policy = file.hosting.headers
      .flatMap(({ headers }) => headers)
      .find(({ key }) => key === 'content-security-policy')?.value;
    const allowed = (/connect-src ([^;]*)/.exec(policy ?? '')?.[1] ?? '').split(' ');
    const page = readdirSync(new URL('web/src', root), { recursive: true, encoding: 'utf8' })
      .filter((name) => /\.tsx?$/.test(name))
      .map((name) => textOf(`web/src/${name}`))
      .join('\n');

    test('firebase.json lets the page call the Google services in its code, and no others', () => {
      const called = [...page.matchAll(/'(https:\/\/[\w.-]+)/g)].map(([, origin]) => origin);
      const google = allowed.filter((origin) => origin.endsWith('.googleapis.com'));

      expect(new Set(google)).toEqual(new Set(called));
    });

    test('firebase.json lets the page call Cloud Storage only once it uploads there', () => {
      const sendsUploads = /\/uploads\b/.test(page);

      expect(allowed.includes('https://storage.googleapis.com')).toBe(sendsUploads);
    });

    test('firebase.json lets the page call one chat, whose address the guide puts there', () => {
      const put = /sed -i\.bak "s#([^#]+)#\$CHAT_URL#" firebase\.json/.exec(
        textOf('docs/deploy.md'),
      )?.[1];
      const others = allowed.filter((origin) => !origin.endsWith('.googleapis.com'));

      expect(others).toEqual(["'self'", put]);
      expect(textOf('firebase.json')).not.toContain('https://*');
    });
  });

  test('the guide’s project is the local stack’s', () => {
    expect(textOf('docs/deploy.md')).toContain(
      `firebase emulators:start --project ${localProjectId}`,
    );
  });
});
