import {
  placeByTexts,
  type RepeatedTurn,
  type ShownTurn,
  type TranscriptTurn,
} from '#functions/chat/facades/translation/dialogue.ts';
import { expect, test } from 'vitest';

/** `yes/Done.` is a turn with its answer, `yes/` one without; `/Done.` shows the answer alone. */
const read = (dialogue: string) =>
  dialogue.split(' | ').flatMap((each) => {
    const [user = '', answer = ''] = each.split('/');
    return each === '' ? [] : [{ user, answer }];
  });

const shown = (dialogue: string): ShownTurn[] =>
  read(dialogue).map(({ user, answer }) => ({ user: user === '' ? undefined : user, answer }));

/** Turns from 1 on; one that says `!` failed. */
const stored = (dialogue: string): TranscriptTurn[] =>
  read(dialogue).map(({ user, answer }, index) => ({
    seq: index + 1,
    user,
    answer: answer === '!' ? '' : answer,
    counts: answer !== '!',
  }));

const place = (
  input: Partial<Omit<Parameters<typeof placeByTexts>[0], 'shown'>> & {
    shown: readonly ShownTurn[];
    isWhole?: boolean;
  },
) => {
  const { shown: turns, isWhole = false, ...given } = input;
  const options = { turns: [], isRetry: false, repeated: undefined };
  const decided = placeByTexts({ ...options, ...given, shown: { turns, isWhole } });
  return decided.kind === 'edit' ? decided.seq : decided.kind;
};

const three = 'hello/Hi. | boats/Some. | prices/High.';
const lights = 'on/Done. | off/Done. | on/Done. | off/Done.';
const same = 'yes/Done. | yes/Done. | yes/Done.';

test.each<[title: string, before: string, turns: string, number | string]>([
  ['after all of a window of four', 'boats/Some. | prices/High.', three, 'append'],
  ['after all of a window that begins within an answer', '/igh.', three, 'append'],
  ['after all where answers were trimmed', 'prices/ High.\n', three, 'append'],
  ['after all of a window of the same turns', 'on/Done. | off/Done.', lights, 'append'],
  ['after the same said twice', 'yes/Done. | yes/Done.', same, 'append'],
  ['after a turn that failed', three, `${three} | ports/!`, 'append'],
  ['around a turn that failed', 'a/A. | c/C.', 'a/A. | b/! | c/C.', 'append'],
  ['in place of the last turn', 'hello/Hi. | boats/Some.', three, 3],
  ['in place of the second of the same', 'yes/A.', 'yes/A. | yes/B.', 2],
  ['behind what is folded', 'older/Old. | hello/Hi.', three, 2],
  ['nowhere, behind a question nobody knows', 'hello/Hi. | trains/Yes.', three, 'unknown'],
  ['nowhere, behind an answer nobody knows', '/Never.', three, 'unknown'],
])('a chat completion goes %s', (...[, before, turns, expected]) => {
  expect(place({ shown: shown(before), turns: stored(turns) })).toBe(expected);
});

test.each<[title: string, before: string, number | string]>([
  ['in place of all, behind a greeting', '/Welcome!', 1],
  ['after all of it', three, 'append'],
])('a chat completion that tells its whole history goes %s', (_, before, expected) => {
  expect(place({ shown: shown(before), turns: stored(three), isWhole: true })).toBe(expected);
});

const newest = { isOpen: false, isNewest: true, hasJustEnded: true };

test.each<
  [title: string, before: string, turns: string, RepeatedTurn, isRetry: boolean, number | string]
>([
  ['while it is answered', '/Done.', lights, { ...newest, seq: 4, isOpen: true }, false, 'again'],
  [
    'that shows no answer to it',
    'hello/Hi.',
    'hello/Hi. | x/A.',
    { ...newest, seq: 2 },
    false,
    'again',
  ],
  ['that failed', 'hello/Hi.', 'hello/Hi. | x/!', { ...newest, seq: 2 }, false, 'again'],
  [
    'long after its end that shows no answer to it',
    'hello/Hi.',
    'hello/Hi. | x/A.',
    { ...newest, seq: 2, hasJustEnded: false },
    false,
    'again',
  ],
  [
    'behind what nobody knows, long after its end',
    '/Never.',
    three,
    { ...newest, seq: 3, hasJustEnded: false },
    false,
    'unknown',
  ],
  ['that shows its answer', '/Done.', same, { ...newest, seq: 3 }, false, 'append'],
  ['that an SDK sends again', '/Done.', same, { ...newest, seq: 3 }, true, 'again'],
  [
    'that an SDK sends again behind another one',
    '',
    same,
    { ...newest, seq: 2, isNewest: false },
    true,
    'again',
  ],
  [
    'of an older turn, as windows come back to the same',
    '/Done.',
    lights,
    { ...newest, seq: 2, isNewest: false },
    true,
    'append',
  ],
  [
    'of an older turn, to have it answered anew',
    'hello/Hi.',
    three,
    { ...newest, seq: 2, isNewest: false },
    false,
    2,
  ],
])('the same request %s', (...[, before, turns, repeated, isRetry, expected]) => {
  const request = { shown: shown(before), turns: stored(turns), isRetry, repeated };

  expect(place(request)).toBe(expected);
});
