import {
  isValidHistory,
  type LooseContent,
  repairContents,
} from '#shared/conversation/repair/repair-contents.ts';
import { brokenHistories, wholeHistories } from '#test/support/compaction/broken-histories.ts';
import { searchCases } from '#test/support/search-cases.ts';
import { describe, expect, test } from 'vitest';
import fc from 'fast-check';

const RUNS = { numRuns: searchCases(3_000) };

/** A content that is mended away, and keeps the way of the whole ones from being taken. */
const nothing: LooseContent = { role: 'user', parts: [] };

const everyHistory = fc.oneof(brokenHistories, wholeHistories);

describe('a valid history', () => {
  test('a valid history is exactly one in which repair changes nothing', () => {
    fc.assert(
      fc.property(everyHistory, (contents) => {
        if (!isValidHistory(contents)) return;

        const mended = repairContents([...contents, nothing]);

        expect(mended.repairs).toEqual({ empty: 1 });
        expect(mended.contents).toHaveLength(contents.length);
        mended.contents.forEach((content, index) => expect(content).toBe(contents[index]));
      }),
      RUNS,
    );
  });

  const user = { role: 'user', parts: [{ text: 'a' }] };
  const calls = { role: 'model', parts: [{ functionCall: { id: '1', name: 'find' } }] };
  const answered = (id: string, name = 'find'): LooseContent => ({
    role: 'user',
    parts: [{ functionResponse: { id, name, response: {} } }],
  });
  test.each<[why: string, contents: LooseContent[]]>([
    ['a call has no response', [user, calls]],
    ['a response has another id than its call', [user, calls, answered('2')]],
    ['a response has another name than its call', [user, calls, answered('1', 'list')]],
    ['nothing called for a response', [user, answered('1')]],
    ['neighbours have one role', [user, user]],
    ['a role is not known', [{ role: 'tool', parts: [{ text: 'a' }] }]],
    ['a text ends in half of a pair', [{ role: 'user', parts: [{ text: 'a\ud800' }] }]],
    ['a content is empty', [user, { role: 'model', parts: [] }]],
  ])('a history is not valid where %s', (_why, contents) => {
    expect(isValidHistory(contents)).toBe(false);
  });
});
