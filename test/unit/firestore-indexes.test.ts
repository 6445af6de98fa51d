import { emptySections, snapshotOfSections } from '#shared/compaction/snapshot-text.ts';
import type { Content } from '#shared/models/content.ts';
import { newConversation } from '#shared/conversation/documents/conversation.ts';
import { encodeHistory } from '#shared/conversation/documents/history.ts';
import { continuedHistory } from '#shared/conversation/writes/next-generation.ts';
import { finishWrites, startWrites } from '#shared/conversation/writes/turn-writes.ts';
import type { DocumentFields, Value, Write } from '#shared/ports/ports.ts';
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { expect, test } from 'vitest';
import { z } from 'zod';

/*
 * The emulator answers any query and indexes every field; Firestore refuses a query whose index is missing. So the
 * queries that need one stand here, and what turns and compactions write is compared with the exemptions.
 */

const root = fileURLToPath(new URL('../../', import.meta.url));
const order = z.enum(['ASCENDING', 'DESCENDING']);

/** What firebase-tools accepts in the file, as far as this project uses it. */
const { indexes, fieldOverrides } = z
  .strictObject({
    indexes: z.array(
      z.strictObject({
        collectionGroup: z.string(),
        queryScope: z.literal('COLLECTION'),
        fields: z.array(z.strictObject({ fieldPath: z.string(), order })).min(2),
      }),
    ),
    fieldOverrides: z.array(
      z.strictObject({
        collectionGroup: z.string(),
        fieldPath: z.string(),
        indexes: z.array(z.never()),
        /** Firestore deletes the document once the time in this field has passed. */
        ttl: z.literal(true).optional(),
      }),
    ),
  })
  .parse(JSON.parse(readFileSync(join(root, 'infra/firestore/firestore.indexes.json'), 'utf8')));

/** An exemption of a map holds for all that is in it, one of `*` for every field. */
const isExempt = (collectionGroup: string, field: string) =>
  fieldOverrides.some(
    (override) =>
      override.collectionGroup === collectionGroup &&
      (override.fieldPath === '*' || `${field}.`.startsWith(`${override.fieldPath}.`)),
  );

interface QueryShape {
  collectionGroup: string;
  equal: string[];
  /** The field of an inequality or of the order, which must be the same. */
  ordered: { fieldPath: string; order: z.infer<typeof order> };
}

/** The queries that compare one field and order by another: those need an index over both. */
const queries: QueryShape[] = [
  ...[['list'], ['list', 'pinned'], ['list', 'unread']].map((equal) => ({
    collectionGroup: 'inbox',
    equal,
    ordered: { fieldPath: 'activeTime', order: 'DESCENDING' as const },
  })),
  // Of a time that every turn writes: in shards, for Firestore takes 500 writes a second in the order of one index.
  {
    collectionGroup: 'conversations',
    equal: ['sweepShard'],
    ordered: { fieldPath: 'open.leaseUntil', order: 'ASCENDING' },
  },
];

test('the composite indexes are those that the queries need', () => {
  const needed = queries.map(({ collectionGroup, equal, ordered }) => ({
    collectionGroup,
    queryScope: 'COLLECTION',
    fields: [...equal.map((fieldPath) => ({ fieldPath, order: 'ASCENDING' })), ordered],
  }));

  expect(indexes).toHaveLength(needed.length);
  expect(indexes).toEqual(expect.arrayContaining(needed));
});

const said = 'what-somebody-said';
const now = new Date('2026-11-01T12:00:00Z');
// More than one document holds, so that the overflow pieces are written too.
const long: Content = { role: 'user', parts: [{ text: said.repeat(50_000) }] };

const conversation = {
  ...newConversation({
    epoch: 'e1',
    ownerUid: 'ann',
    model: 'gemini-3.8-flash',
    profile: 'assistant',
    systemInstruction: said,
    now,
  }),
  title: said,
  serverInstruction: said,
  metadata: { note: said },
  pins: [{ id: 'p1', text: said, source: 'api' as const }],
  compactionRequests: { manual: { requestId: 'r1', since: now, focus: said } },
};

const history = {
  ...continuedHistory({
    conversation,
    source: undefined,
    state: 'CHANGED',
    requestId: 'r1',
    by: 'w1',
    now,
    beforeTokens: 9_000,
    afterTokens: 900,
  }),
  snapshotText: said,
  snapshot: snapshotOfSections({ ...emptySections, overall_goal: said }),
  report: { missing: [said] },
};

const writes: Write[] = [
  ...startWrites({
    conversationId: 'c1',
    messageId: 'm1',
    bodyHash: 'h1',
    seq: 1,
    user: long,
    userTokens: 1,
    lease: { producer: 'p1', leaseUntil: now },
    now,
    conversation: { create: conversation },
  }),
  ...finishWrites({
    ownerUid: conversation.ownerUid,
    conversationId: 'c1',
    seq: 1,
    attempt: 1,
    turnUpdateTime: '1.1',
    state: 'failed',
    contents: [{ ...long, role: 'model' }],
    answerTokens: 1,
    userTokens: 1,
    inContext: false,
    grounding: { sources: [{ url: said, title: said }], queries: [said], suggestions: said },
    error: { status: 'INTERNAL', reason: 'INTERNAL', message: said, retryable: false },
    now,
  }),
  { op: 'create', path: 'conversations/c1/histories/1', fields: encodeHistory(history) },
];

/** Dotted paths of the fields that hold `said`, arrays counting as one field. */
function pathsOfContent(value: Value | DocumentFields | undefined, path: string): string[] {
  if (value === undefined || !JSON.stringify(value).includes(said)) return [];
  if (typeof value !== 'object' || value === null || Array.isArray(value)) return [path];
  return Object.entries(value).flatMap(([name, inner]) =>
    pathsOfContent(inner, path === '' ? name : `${path}.${name}`),
  );
}

test('no field in which a turn or a compaction stores content is indexed', () => {
  const content = writes.flatMap((write) =>
    write.op === 'delete'
      ? []
      : pathsOfContent(write.fields, '').map((field) => ({
          collectionGroup: write.path.split('/').at(-2) ?? '',
          field,
        })),
  );

  const groups = new Set(content.map(({ collectionGroup }) => collectionGroup));
  expect([...groups].toSorted()).toEqual(['conversations', 'histories', 'inbox', 'parts', 'turns']);
  expect(content.filter((one) => !isExempt(one.collectionGroup, one.field))).toEqual([]);
});

test.each([
  ['chunks', 'framesJson'],
  ['turns', 'feedback.comment'],
  ['ratings', 'comment'],
  ['devices', 'token'],
  ['memory', 'notes'],
  ['config', 'notes'],
])('%s.%s is not indexed', (collectionGroup, field) => {
  expect(isExempt(collectionGroup, field)).toBe(true);
});

// A conversation's own expireTime is the sweep's: below it stand documents that no policy takes along.
test.each([
  ['records of used App Check tokens', 'appCheckTokens'],
  ['frames of a stream', 'chunks'],
  ['entries of conversations that are gone', 'inbox'],
  ['the figures of a user’s day', 'usage'],
  ['the sums of a day', 'shards'],
  ['notes of files that nobody sent', 'uploads'],
  ['records of guests who were taken over', 'claims'],
])('S20: firestore.indexes.json lets expired %s be deleted', (_, collectionGroup) => {
  const expiry = { collectionGroup, fieldPath: 'expireTime', indexes: [], ttl: true };

  expect(fieldOverrides).toContainEqual(expiry);
});
