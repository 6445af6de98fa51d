import { beforeAll, describe, expect, test } from 'vitest';
import { servedDocument } from '#infra/reference/api-document.ts';
import { createResources, createWireApp, type Resources } from '../support/chat/wire-app.ts';
import { reasonOf } from './document-check.ts';
import { targetsOf } from './attacks/generated-requests.ts';

const app = createWireApp();
let own: Resources;

beforeAll(async () => {
  own = await createResources(app, { uid: 'alice', canary: 'words' });
});

const places = targetsOf(servedDocument()).flatMap(({ method, path, operation }) =>
  operation.parameters
    .filter((parameter) => parameter.in === 'path')
    .map(({ name }) => [method, path, name] as const),
);

describe.each(['__proto__', '__x__', '%2E%2E', 'a%2Fb', '%00', '가', 'x'.repeat(2_000)])(
  'an id that the store could not hold (%.20s)',
  (id) => {
    test.each(places)(
      'an id that the store cannot hold is refused by %s %s as %s',
      async (method, path, place) => {
        const address = path.replaceAll(/\{(\w+)\}/g, (_, name: string) =>
          name === place ? id : (own[name] ?? ''),
        );
        const body = method === 'GET' ? undefined : '{}';
        const answer = await app.call({ method, path: address, uid: 'alice', body });

        // 204: what is not there is deleted already, and has nothing to stream.
        expect([204, 400, 404]).toContain(answer.status);
        expect(reasonOf(answer)).not.toBe('WRITE_REFUSED');
      },
    );
  },
);
