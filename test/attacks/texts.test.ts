import { servedDocument } from '#infra/reference/api-document.ts';
import { createResources, createWireApp } from '#test/support/chat/wire-app.ts';
import { reasonOf } from './document-check.ts';
import { targetsOf } from './generated-requests.ts';
import { randomUUID } from 'node:crypto';
import { expect, test } from 'vitest';

/* Half characters in every field that takes a text, and ids that no store holds. */

const app = createWireApp({}, { CLIENT_WRITABLE: 'model,profile,systemInstruction,onBusy' });
const targets = targetsOf(servedDocument());

/** The address with the ids of somebody's resources, of which one may be another. */
const addressOf = (path: string, ids: Readonly<Record<string, string | undefined>>) =>
  path.replaceAll(/\{(\w+)\}/g, (_, name: string) => ids[name] ?? '');

/** Every copy of `value` with one of its texts replaced, and where that text stood. */
function withEachText(value: unknown, replace: (text: string) => string): [string, unknown][] {
  if (typeof value === 'string') return [['', replace(value)]];
  if (typeof value !== 'object' || value === null) return [];
  return Object.entries(value).flatMap(([key, item]) =>
    withEachText(item, replace).map(([at, changed]): [string, unknown] => [
      `.${key}${at}`,
      Array.isArray(value) ? value.with(Number(key), changed) : { ...value, [key]: changed },
    ]),
  );
}

const requests = targets.flatMap(({ method, path, operation }) => {
  const example = operation.requestBody?.content['application/json'].example;
  return example === undefined || operation['x-format'] !== undefined
    ? []
    : [{ method, path, example }];
});

test.each([
  ['high', (text: string) => `${text}\uD83D`],
  ['low', (text: string) => `\uDE00${text}`],
])(
  'S3: half of a surrogate pair, the %s one, is refused wherever it stands',
  async (_, replace) => {
    const ids = await createResources(app, { uid: 'alice', canary: 'words' });
    for (const { method, path, example } of requests)
      for (const [at, changed] of withEachText(example, replace)) {
        const body = JSON.stringify(changed);
        const { status } = await app.call({
          method,
          path: addressOf(path, ids),
          uid: 'alice',
          body,
        });

        expect({ path, at, status }).toEqual({ path, at, status: 400 });
      }
  },
);

test('S3: Object.prototype is not reached by a metadata key that it has, too', async () => {
  const id = randomUUID();
  const metadata = { constructor: 'mine', valueOf: 'mine' };

  await app.ok({ method: 'POST', path: '/v1/conversations', uid: 'alice', body: { id, metadata } });
  const read = await app.ok({ method: 'GET', path: `/v1/conversations/${id}`, uid: 'alice' });

  expect(read).toMatchObject({ metadata });
  expect(Reflect.get({}, 'constructor')).not.toBe('mine');
});

const places = targets.flatMap(({ method, path, operation }) =>
  operation.parameters
    .filter((parameter) => parameter.in === 'path')
    .map(({ name }) => ({ method, path, name })),
);

test.each(['__proto__', '__x__', '%2E%2E', 'a%2Fb', '%00', '가', 'x'.repeat(2_000)])(
  'S3: an id that the store cannot hold is refused wherever it stands: %.20s',
  async (id) => {
    const own = await createResources(app, { uid: 'alice', canary: 'words' });
    for (const { method, path, name } of places) {
      const address = addressOf(path, { ...own, [name]: id });
      const body = method === 'GET' ? undefined : '{}';
      const answer = await app.call({ method, path: address, uid: 'alice', body });

      // 204: what is not there is deleted already, and has nothing to stream.
      const isRefused = [204, 400, 404].includes(answer.status);
      const reason = reasonOf(answer);
      expect({ method, path, name, reason, isRefused }).toMatchObject({ isRefused: true });
      expect(reason).not.toBe('WRITE_REFUSED');
    }
  },
);
