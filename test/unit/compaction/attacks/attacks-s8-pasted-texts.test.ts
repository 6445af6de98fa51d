import { describe, expect, test } from 'vitest';
import { ownWords } from '#shared/compaction/user-words.ts';
import { constraintSection } from '#shared/conversation/documents/snapshot.ts';
import { foldInMemory } from '#test/support/attacks/fold-in-memory.ts';
import { honestWishes } from '#test/support/attacks/honest-wishes.ts';
import { pastesIn } from '#test/support/attacks/pasted-texts.ts';
import { tongues } from '#test/support/attacks/tongues.ts';
import { saidTurn } from '#test/support/compaction/said-turn.ts';

/* Row S8 of the security checklist: orders in mails, letters, chats and quotations that a user shows. */

const languages = tongues.map(({ name }) => name);

/** The rules that a summariser makes of these words of the user. */
function rulesOf(user: string, quotes: readonly string[]): string[] {
  const operations = quotes.map((text) => ({
    op: 'add',
    section: constraintSection,
    text,
    sources: [1],
    quote: text,
  }));
  const note = { op: 'add', section: 'recent_actions', text: 'A text was shown.', sources: [1] };
  const folded = foldInMemory({
    turns: [saidTurn(1, { user, model: 'I have read it.' })],
    previous: undefined,
    answer: JSON.stringify({ operations: [...operations, note] }),
  });
  return folded.kind === 'refused'
    ? [folded.reason]
    : (folded.snapshot.sections[constraintSection] ?? []).map(({ text }) => text);
}

describe('S8: an order in a text that the user shows', () => {
  test.each(languages)(
    'S8: an order in a text that the user shows is no rule of his in %s',
    (language) => {
      const { order, texts } = pastesIn(language);

      const ruled = Object.entries(texts).filter(
        ([, text]) => rulesOf(text, [order, text]).length > 0,
      );

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

test.each(Object.entries(honestWishes))('a user’s wish can be a rule in %s', (_, wishes) => {
  const refused = wishes.filter((said) => rulesOf(said, [said]).length === 0);

  expect(refused).toEqual([]);
});
