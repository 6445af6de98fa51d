import { describe, expect, test } from 'vitest';
import { ledgerJsonSchema, operationSchema } from '#shared/compaction/ledger/prompt/operation.ts';
import { snapshotSections } from '#shared/conversation/documents/snapshot.ts';

const add = { op: 'add', section: 'decisions', text: 'Take the train', sources: [4] };

describe('an operation', () => {
  test.each(['12', ' [12] '])('an operation may write the number of a turn as %j', (seq) => {
    expect(operationSchema.parse({ ...add, sources: [seq] })).toMatchObject({ sources: [12] });
  });

  test.each([[null], [''], [7]])('an operation with the quote %j has none', (quote) => {
    expect(operationSchema.parse({ ...add, quote })).toMatchObject({ quote: undefined });
  });

  test('an operation without a known status or importance has none', () => {
    expect(operationSchema.parse({ ...add, status: 'open', importance: 9 })).toMatchObject({
      status: undefined,
      importance: undefined,
    });
  });
});

describe('the schema of an answer', () => {
  test.each(['assistant', 'coding'] as const)(
    'the answer schema names the sections of %s alone',
    (profile) => {
      const text = JSON.stringify(ledgerJsonSchema(profile));

      expect(text).toContain(JSON.stringify(snapshotSections[profile]));
    },
  );

  test('the answer schema allows additions only in groups, to save tokens', () => {
    const text = JSON.stringify(ledgerJsonSchema('assistant'));

    expect(text).toContain('"required":["op","section","items"]');
    expect(text).not.toContain('"section","text"');
  });

  test('the answer schema puts the scratchpad first', () => {
    expect(JSON.stringify(ledgerJsonSchema('coding'))).toMatch(
      /^\{"type":"object","properties":\{"scratchpad"/,
    );
  });
});
