import { describe, expect, test } from 'vitest';
import { constraintsIn } from '#shared/compaction/facts/speech/detect-constraints.ts';
import { ownWords } from '#shared/compaction/facts/speech/own-words.ts';
import { pastesIn } from '#test/support/attacks/pasted-texts.ts';
import { honestWishes } from '#test/support/attacks/honest-wishes.ts';
import { tongues } from '#test/support/attacks/tongues.ts';

const at = new Date('2026-03-02T10:00:00.000Z');
const languages = tongues.map(({ name }) => name);

describe('S8: an order in a text that the user shows', () => {
  test.each(languages)(
    'S8: an order in a text that the user shows is no rule of his in %s',
    (language) => {
      const { texts } = pastesIn(language);

      const ruled = Object.entries(texts).filter(([, text]) => {
        const utterance = { seq: 1, speaker: 'user' as const, text, at };
        return constraintsIn(utterance).length > 0;
      });

      expect(ruled.map(([way]) => way)).toEqual([]);
    },
  );
});

test.each(Object.entries(honestWishes))(
  'a user’s wish keeps all of its words in %s',
  (_, wishes) => {
    const cut = wishes.filter((said) => ownWords(said) !== said);

    expect(cut).toEqual([]);
  },
);
