import { describe, expect, test } from 'vitest';
import {
  ledgerJsonSchema,
  operationSchema,
  readLedgerAnswer,
} from '../../../../shared/compaction/ledger/operation.ts';
import { snapshotSections } from '../../../../shared/conversation/snapshot.ts';

const add = { op: 'add', section: 'decisions', text: 'Take the train', sources: [4] };
const answer = (...operations: unknown[]) => JSON.stringify({ scratchpad: 'notes', operations });

describe('the operations of an answer', () => {
  test.each([
    ['JSON', answer(add)],
    ['JSON in a code fence', `\`\`\`json\n${answer(add)}\n\`\`\``],
    ['JSON between sentences', `Here it is: ${answer(add)} Done.`],
    ['a bare list', JSON.stringify([add])],
    ['a bare list in a code fence', `\`\`\`\n${JSON.stringify([add])}\n\`\`\``],
  ])('are read from %s', (_, text) => {
    expect(readLedgerAnswer(text)).toMatchObject({ ok: true, operations: [add], skipped: 0 });
  });

  test('may be none', () => {
    expect(readLedgerAnswer(answer())).toEqual({ ok: true, operations: [], skipped: 0 });
  });

  test('are skipped and counted one by one where they cannot be read', () => {
    const read = readLedgerAnswer(
      answer(add, { op: 'rename', id: 'i1' }, add, { ...add, text: ' ' }),
    );

    expect(read).toMatchObject({ ok: true, operations: [add, add], skipped: 2 });
  });

  test.each([
    ['MOSTLY_INVALID', answer(add, 'x', 7)],
    ['NOT_JSON', 'I cannot do that.'],
    ['NOT_JSON', answer(add).slice(0, -3)],
    ['NO_OPERATIONS', '{"scratchpad":"notes"}'],
    ['NO_OPERATIONS', '"text"'],
    ['TOO_LONG', ' '.repeat(400_001)],
  ])('are refused with %s', (problem, text) => {
    expect(readLedgerAnswer(text)).toEqual({ ok: false, problem });
  });

  test('beyond the limit are skipped', () => {
    const read = readLedgerAnswer(answer(...Array.from({ length: 510 }, () => add)));

    expect(read).toMatchObject({ ok: true, skipped: 10 });
  });
});

describe('an operation', () => {
  test.each(['12', ' [12] '])('may write the number of a turn as %j', (seq) => {
    expect(operationSchema.parse({ ...add, sources: [seq] })).toMatchObject({ sources: [12] });
  });

  test.each([[null], [''], [7]])('with the quote %j has none', (quote) => {
    expect(operationSchema.parse({ ...add, quote })).toMatchObject({ quote: undefined });
  });

  test('without a known status or importance has none', () => {
    expect(operationSchema.parse({ ...add, status: 'open', importance: 9 })).toMatchObject({
      status: undefined,
      importance: undefined,
    });
  });
});

describe('the schema of an answer', () => {
  test.each(['assistant', 'coding'] as const)('names the sections of %s alone', (profile) => {
    const text = JSON.stringify(ledgerJsonSchema(profile));

    expect(text).toContain(JSON.stringify(snapshotSections[profile]));
  });

  test('has the scratchpad first, so that thinking comes before writing', () => {
    expect(JSON.stringify(ledgerJsonSchema('coding'))).toMatch(
      /^\{"type":"object","properties":\{"scratchpad"/,
    );
  });
});
