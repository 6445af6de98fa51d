import { createMemoryDocumentStore } from '#infra/local/embedded/memory-document-store.ts';
import { servedDocument } from '#infra/reference/api-document.ts';
import type { DocumentStore } from '#shared/ports/ports.ts';
import {
  endingQuery,
  createResources,
  createWireApp,
  type Resources,
  type WireAnswer,
  type WireApp,
} from '#test/support/chat/wire-app.ts';
import { valueOf } from './json-schema.ts';
import { targetsOf, type Target } from './generated-requests.ts';
import { randomUUID } from 'node:crypto';
import { beforeAll, beforeEach, describe, expect, test } from 'vitest';
import fc from 'fast-check';

const CANARY = 'canary-9c1e';
const UUID = /[0-9a-f]{8}-[0-9a-f]{4}-[47][0-9a-f]{3}-[89ab][0-9a-f]{3}-[0-9a-f]{12}/g;

const document = servedDocument();
const targets = targetsOf(document).filter(({ operation }) => operation.security.length > 0);
const named = (each: readonly Target[]) =>
  each.map((target) => [target.method, target.path, target] as const);

/** A store that tells which documents were changed. */
function watchedStore(): { store: DocumentStore; changed: string[] } {
  const store = createMemoryDocumentStore();
  const changed: string[] = [];
  return {
    changed,
    store: {
      ...store,
      commit: async (writes) => {
        const committed = await store.commit(writes);
        changed.push(...writes.map(({ path }) => path));
        return committed;
      },
    },
  };
}

const { store, changed } = watchedStore();
const app: WireApp = createWireApp({ store });
let alices: Resources;
let mallorys: Resources;

beforeAll(async () => {
  alices = await createResources(app, { uid: 'alice', canary: CANARY });
  mallorys = await createResources(app, { uid: 'mallory', canary: 'mine' });
});
beforeEach(() => {
  changed.length = 0;
});

/** The path with an id in each place; an id that the test does not know is a parameter that it has to learn. */
const pathOf = ({ path }: Target, ids: Resources): string =>
  path.replaceAll(/\{(\w+)\}/g, (_, name: string) => {
    const id = ids[name];
    if (id === undefined) throw new Error(`give createResources (wire-app.ts) a ${name}`);
    return encodeURIComponent(id);
  });

/** A body that the operation takes. */
function bodyOf({ operation }: Target): string | undefined {
  const content = operation.requestBody?.content['application/json'];
  if (!content) return undefined;
  const { schema, example } = content;
  const values = valueOf(schema, document.components.schemas);
  return JSON.stringify(example ?? fc.sample(values, { numRuns: 1, seed: 7 })[0]);
}

const required = ({ operation }: Target) =>
  operation.parameters
    .filter((parameter) => parameter.in === 'query' && parameter.required)
    .map(({ name }) => `${name}=${CANARY}`)
    .join('&');

const callAs = (
  uid: string,
  target: Target,
  { ids, body }: { ids: Resources; body?: string | undefined },
) =>
  app.call({
    method: target.method,
    path: `${pathOf(target, ids)}?${required(target)}${endingQuery(target.path)}`,
    uid,
    body,
    headers: { accept: 'application/json' },
  });

const shown = ({ status, text }: WireAnswer) => ({ status, text });

/** What was said of alice's, and which documents of hers have changed. */
function harmIn({ text }: WireAnswer) {
  const hers = [`conversations/${alices['conversationId']}`, 'users/alice'];
  return {
    isSaid: text.includes(CANARY),
    changed: changed.filter((path) => hers.some((root) => path.startsWith(root))),
  };
}
const NONE = { isSaid: false, changed: [] };

const isOfConversation = ({ path }: Target) => path.includes('{conversationId}');

test.each(named(targets.filter(isOfConversation)))(
  'S1, contract 12: another user’s conversation is not found by %s %s',
  async (...[, , target]) => {
    const missing = await app.call({
      method: 'GET',
      path: `/v1/conversations/${randomUUID()}`,
      uid: 'mallory',
    });
    const answer = await callAs('mallory', target, { ids: alices, body: bodyOf(target) });

    expect(shown(answer)).toEqual({ status: 404, text: missing.text });
    expect(harmIn(answer)).toEqual(NONE);
  },
);

test.each(named(targets.filter(isOfConversation)))(
  'S1, contract 12: the owner’s conversation is found by %s %s',
  async (...[, , target]) => {
    const fresh = await createResources(app, { uid: 'olivia', canary: 'hers' });
    const answer = await callAs('olivia', target, { ids: fresh, body: bodyOf(target) });

    expect(answer.text).not.toContain('CONVERSATION_NOT_FOUND');
    expect(answer.status).not.toBe(401);
  },
);

/** The names of models are no user's. */
const isOfModel = ({ path }: Target) => path.includes('{model}');

const isOfOtherIds = (target: Target) =>
  target.path.includes('{') && !isOfConversation(target) && !isOfModel(target);

test.each(named(targets.filter(isOfOtherIds)))(
  'S1, contract 12: another user’s id is answered like an unknown one by %s %s',
  async (...[, , target]) => {
    const strangers = Object.fromEntries(Object.keys(alices).map((name) => [name, randomUUID()]));
    const unknown = await callAs('mallory2', target, { ids: strangers, body: bodyOf(target) });
    const answer = await callAs('mallory2', target, { ids: alices, body: bodyOf(target) });

    expect(answer.status).toBe(unknown.status);
    expect(harmIn(answer)).toEqual(NONE);
  },
);

describe('S1, contract 12: ids of somebody else in a body or a header', () => {
  const withBody = targets.filter((target) => bodyOf(target)?.match(UUID));
  test.each(named(withBody))(
    'S1, contract 12: other users’ ids in body or header reveal nothing to %s %s',
    async (...[, , target]) => {
      const body = bodyOf(target)?.replaceAll(UUID, alices['conversationId'] ?? '');
      const answer = await callAs('mallory', target, { ids: mallorys, body });

      expect(answer.status).toBeLessThan(500);
      expect(harmIn(answer)).toEqual(NONE);
    },
  );

  test.each(named(targets.filter(({ operation }) => operation['x-format'] !== undefined)))(
    'S1, contract 12: other users’ ids are not read from X-Conversation-Id by %s %s',
    async (...[, , target]) => {
      const answer = await app.call({
        method: target.method,
        path: pathOf(target, mallorys),
        uid: 'mallory',
        body: bodyOf(target)?.replaceAll(/,"metadata":\{[^}]*\}/g, ''),
        headers: { 'x-conversation-id': alices['conversationId'] ?? '' },
      });

      expect(harmIn(answer)).toEqual(NONE);
    },
  );
});

test.each(named(targets.filter(({ path, method }) => !path.includes('{') && method === 'GET')))(
  'S1, contract 12: own lists, searches and exports exclude other users’ data: %s %s',
  async (...[, , target]) => {
    const answer = await callAs('mallory', target, { ids: mallorys });

    expect(harmIn(answer)).toEqual(NONE);
  },
);
