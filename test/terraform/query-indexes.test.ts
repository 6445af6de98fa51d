import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { describe, expect, test } from 'vitest';
import { z } from 'zod';

/*
 * The emulator answers any query; Firestore refuses one whose index is missing. So every query of the code
 * stands here with its shape, and the file of indexes is compared with what these shapes need.
 */

interface QueryShape {
  /** Where it is asked. */
  file: string;
  collectionGroup: string;
  equal: string[];
  /** The field of an inequality or of the order, which must be the same. */
  ordered?: { field: string; order: 'ASCENDING' | 'DESCENDING' };
}

const sweepOf = (file: string, ...fields: string[]): QueryShape[] =>
  fields.map((field) => ({
    file: `worker/sweep/${file}`,
    collectionGroup: 'conversations',
    equal: [],
    ordered: { field, order: 'ASCENDING' },
  }));

/** Of times that every turn writes: in shards, for Firestore takes 500 writes a second in the order of one index. */
const shardedSweepOf = (file: string, field: string): QueryShape[] =>
  sweepOf(file, field).map((shape) => ({ ...shape, equal: ['sweepShard'] }));

const queries: QueryShape[] = [
  {
    file: 'chat/conversations/list-conversations.ts',
    collectionGroup: 'conversations',
    equal: ['ownerUid', 'state'],
    ordered: { field: 'updateTime', order: 'DESCENDING' },
  },
  {
    file: 'chat/conversations/own-conversations.ts',
    collectionGroup: 'conversations',
    equal: ['ownerUid'],
  },
  ...shardedSweepOf('sweep-turns.ts', 'open.leaseUntil'),
  ...sweepOf('sweep-turns.ts', 'queue.leaseUntil'),
  ...sweepOf(
    'sweep-requests.ts',
    'compactionRequests.auto.since',
    'compactionRequests.manual.since',
  ),
  ...sweepOf('sweep-erasures.ts', 'pendingErasure.since', 'purgeTime', 'expireTime'),
  { file: 'worker/sweep/sweep-erasures.ts', collectionGroup: 'conversations', equal: ['state'] },
  {
    file: 'chat/features/uploads/create-upload.ts',
    collectionGroup: 'uploads',
    equal: [],
    ordered: { field: 'createTime', order: 'ASCENDING' },
  },
];

/** Files that query a collection in the order of its ids, which needs no index. */
const byIdAlone = [
  'chat/conversations/erase/erase-user-documents.ts',
  'chat/conversations/fork/fork-clear.ts',
  'chat/features/uploads/read-uploads.ts',
  'erasure/finish-erasure.ts',
  'erasure/release-uploads.ts',
];

/** Files that pass on what others ask. */
const passingOn = ['worker/sweep/sweep-pass.ts', 'adapters/firestore/firestore-document-store.ts'];

const fileSchema = z.object({
  indexes: z.array(
    z.object({
      collectionGroup: z.string(),
      fields: z.array(z.object({ fieldPath: z.string(), order: z.string() })),
    }),
  ),
  fieldOverrides: z.array(z.object({ collectionGroup: z.string(), fieldPath: z.string() })),
});

const { indexes, fieldOverrides } = fileSchema.parse(
  JSON.parse(
    readFileSync(new URL('../../infra/firestore/firestore.indexes.json', import.meta.url), 'utf8'),
  ),
);

/** An index over several fields is needed where one field is compared and another one ordered. */
const needsComposite = ({ equal, ordered }: QueryShape) =>
  equal.length > 0 && ordered !== undefined;

const compositeOf = ({ collectionGroup, equal, ordered }: QueryShape) => ({
  collectionGroup,
  fields: [
    ...equal.map((fieldPath) => ({ fieldPath, order: 'ASCENDING' })),
    ...(ordered ? [{ fieldPath: ordered.field, order: ordered.order }] : []),
  ],
});

/** Exemptions that hold for a field: its own, one of a map that it is in, one of all fields. */
const exemptionsOf = (collectionGroup: string, field: string) =>
  fieldOverrides.filter(
    (override) =>
      override.collectionGroup === collectionGroup &&
      (override.fieldPath === '*' || `${field}.`.startsWith(`${override.fieldPath}.`)),
  );

const fieldsOf = ({ equal, ordered }: QueryShape) => [
  ...equal,
  ...(ordered ? [ordered.field] : []),
];

const folder = fileURLToPath(new URL('../../functions/src', import.meta.url));
const sources = readdirSync(folder, { recursive: true, encoding: 'utf8' })
  .filter((name) => name.endsWith('.ts'))
  .map((name) => ({ name, text: readFileSync(join(folder, name), 'utf8') }));

describe('indexes', () => {
  test('every file that queries is known here', () => {
    const asking = sources.filter(({ text }) =>
      /\.query\(|\bread(?:Pages|Conversations)\(|async query\(/.test(text),
    );
    const known = [...queries.map(({ file }) => file), ...byIdAlone, ...passingOn];

    expect(asking.map(({ name }) => name).toSorted()).toEqual([...new Set(known)].toSorted());
  });

  test.each(sources.filter(({ text }) => /\.query\(|\bread(?:Pages|Conversations)\(/.test(text)))(
    'the fields that $name compares are known here',
    ({ name, text }) => {
      if (passingOn.includes(name)) return;
      const known = queries.filter(({ file }) => file === name).flatMap(fieldsOf);
      const named = [
        ...text.matchAll(/\bfield(?:: | = )'([\w.]+)'/g),
        ...text.matchAll(/earlierThan\(\s*['`]([^'`]+)['`]/g),
        ...text.matchAll(/earlierInShard\(\w+, '([\w.]+)'/g),
      ].map(([, field = '']) => field);
      const isKnown = (field: string) =>
        known.some((one) =>
          new RegExp(`^${field.replace(/\$\{\w+\}/, String.raw`\w+`)}$`).test(one),
        );

      expect(named.filter((field) => !isKnown(field))).toEqual([]);
      expect(named.length > 0).toBe(known.length > 0);
    },
  );

  test('are those that the queries need, and no others', () => {
    const needed = queries.filter(needsComposite).map(compositeOf);

    expect(indexes).toEqual(
      expect.arrayContaining(needed.map((index) => expect.objectContaining(index))),
    );
    expect(indexes).toHaveLength(needed.length);
  });

  const byOneField = queries.filter((query) => !needsComposite(query));

  test.each(byOneField.flatMap((query) => fieldsOf(query).map((field) => ({ ...query, field }))))(
    '$collectionGroup.$field, which $file asks for, is not exempt',
    ({ collectionGroup, field }) => {
      expect(exemptionsOf(collectionGroup, field)).toEqual([]);
    },
  );

  // Another app may have a collection of the same name in the database: its queries would end.
  test('are all taken only from collections whose names other apps hardly have', () => {
    const wholly = fieldOverrides.filter(({ fieldPath }) => fieldPath === '*');

    expect(wholly.map(({ collectionGroup }) => collectionGroup)).toEqual([
      'turns',
      'chunks',
      'histories',
    ]);
  });

  test.each(['open.leaseUntil', 'updateTime'])(
    'of one field do not hold %s, which every turn writes later than all others',
    (field) => {
      const unsharded = indexes.filter(
        ({ fields }) => fields[0]?.fieldPath === field || fields.length === 1,
      );

      expect(exemptionsOf('conversations', field)).toHaveLength(1);
      expect(unsharded).toEqual([]);
    },
  );
});
