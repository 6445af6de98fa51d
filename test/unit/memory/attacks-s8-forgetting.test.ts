import { describe, expect, test } from 'vitest';
import { decideForget } from '#shared/memory/decide-forget.ts';
import { honestForgets, noForgets, type ForgetCase } from '#test/support/attacks/memory-wishes.ts';
import { noteOf } from './notes.ts';

const other = 'I live in a blue house.';

/** What becomes of a note that the model wants to forget, by its id and by its words. */
function decisionsOn([text, messages]: ForgetCase): string[] {
  const notes = [noteOf(1, { text, id: 'meant' }), noteOf(2, { text: other })];
  return [{ id: 'meant' }, { query: text }].map(
    (asked) => decideForget(notes, asked, messages).kind,
  );
}

test.each(Object.entries(honestForgets))('a wish to forget is recognised in %s', (_, cases) => {
  const missed = cases.filter((each) => decisionsOn(each)[0] !== 'forget');

  expect(missed).toEqual([]);
});

describe('S8: a note is not forgotten for a tool that wants it gone', () => {
  test.each(Object.entries(noForgets))(
    'S8: a note is not forgotten for a tool that asks for it, where %s',
    (_, cases) => {
      const forgotten = cases.filter((each) => decisionsOn(each).includes('forget'));

      expect(forgotten).toEqual([]);
    },
  );
});
