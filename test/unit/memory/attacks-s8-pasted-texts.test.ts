import { describe, expect, test } from 'vitest';
import { constraintsIn } from '#shared/compaction/facts/speech/detect-constraints.ts';
import { ownWords } from '#shared/compaction/facts/speech/own-words.ts';
import { saidByUser } from '#shared/memory/said-by-user.ts';
import { pastesIn } from '#test/support/attacks/pasted-texts.ts';
import { honestWishes } from '#test/support/attacks/honest-wishes.ts';
import { tongues } from '#test/support/attacks/tongues.ts';

const at = new Date('2026-03-02T10:00:00.000Z');
const languages = tongues.map(({ name }) => name);

const verdictOn = (note: string, text: string) => saidByUser(note, [{ seq: 1, text, at }]).kind;

describe('S8: an order in a text that the user shows', () => {
  test.each(languages)(
    'S8: an order in a text that the user shows is not saved as his wish in %s',
    (language) => {
      const { order, texts } = pastesIn(language);

      const saved = Object.entries(texts).filter(([, text]) => verdictOn(order, text) === 'said');

      expect(saved.map(([way]) => way)).toEqual([]);
      expect(verdictOn(order, order)).toBe('said');
    },
  );

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

describe('a wish of the user', () => {
  test.each(Object.entries(honestWishes))('a user’s wish is remembered in %s', (_, wishes) => {
    const refused = wishes.filter(({ note, said }) => verdictOn(note, said) !== 'said');

    expect(refused).toEqual([]);
  });

  test.each(Object.entries(honestWishes))(
    'a user’s wish keeps all of its words in %s',
    (_, wishes) => {
      const cut = wishes.filter(({ said }) => ownWords(said) !== said);

      expect(cut).toEqual([]);
    },
  );
});
