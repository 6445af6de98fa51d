import { routerPath } from '#functions/chat/chat-app.ts';
import { isKnownTo } from '#functions/chat/conversations/etag.ts';
import { preferredLocale } from '#functions/chat/http/headers.ts';
import { applyAnswer } from '#shared/compaction/apply.ts';
import { neutraliseTags } from '#shared/conversation/neutralise-tags.ts';
import { readAnswer } from '#shared/compaction/operations.ts';
import { readSnapshot } from '#shared/compaction/snapshot-text.ts';
import {
  ownSentences,
  ownWords,
  quotedSpans,
  withoutTakenBack,
} from '#shared/compaction/user-words.ts';
import {
  findValues,
  indexValues,
  markValues,
  UNSAID_MARK,
  withoutMarkedValues,
} from '#shared/compaction/values.ts';
import { toEvidence, type TurnSpeech } from '#shared/compaction/whose-words.ts';
import { cutIntoPieces } from '#shared/conversation/documents/turn.ts';
import { emptySnapshot } from '#shared/conversation/documents/snapshot.ts';
import { singleLineJson } from '#shared/lib/json-text.ts';
import { dayWeights } from '#shared/recall/days-asked.ts';
import { createFinder, readSearchQuery, cutSnippet } from '#shared/search/find-in-text.ts';
import { decodeXml, escapeXml } from '#shared/text/escape-xml.ts';
import { splitSentences } from '#shared/text/sentences.ts';
import { distinctUnits } from '#shared/text/words.ts';
import { titleIn } from '#shared/conversation/title.ts';
import { estimateTextTokens } from '#shared/tokens/token-estimate.ts';
import { decodePageToken } from '#shared/store/page-token.ts';
import { parseJsonBody } from '#shared/wire/parse-json.ts';
import { markdownMessage } from '#shared/wire/resources/export.ts';
import { sha256 } from '#test/support/signing.ts';
import { workRatio } from '#test/support/work-ratio.ts';
import { expect, test } from 'vitest';
import { z } from 'zod';

/* Row S22 of docs/reference/attacks.md: text that is made for a reader to work on for ever. */

const at = new Date('2026-01-02T03:04:05.000Z');
const anyLength = { maximumCharacters: Number.POSITIVE_INFINITY };

/** For readers that may refuse what they are given. */
const attempt = (read: () => unknown) => {
  try {
    read();
  } catch {
    // Refused, which is an answer.
  }
};

function search(text: string): void {
  const { places } = createFinder(readSearchQuery('boat trip 여행 忘れ x1 1.5'))(text);
  cutSnippet(text, places, 100);
}

const signs = ['<', '"', '“', '«', '(', '. ', '\n', '\\', '- ', '1,', '“a ', "a'", '가', '我'];
const tags = ['<', '</', '<a', '<!--', '<![CDATA[', '&', '&#', '&lt;', '<state_snapshot>', '< '];
const values = [
  '1',
  '1.',
  '1,',
  '1 ',
  '1-',
  '1 250 ',
  '1’250 ',
  '3.50 ',
  'a@',
  'a@b.',
  'www.a',
  '/a',
  'AB-1',
  'A1-',
  'DE89 ',
  '+1 ',
  '12:',
  '2026-',
  '€',
  '5 €',
  '١',
  'A',
  UNSAID_MARK,
];
const wishes = [
  'never ',
  'I want ',
  'no, ',
  'not ',
  'forget ',
  'ne ',
  'nicht ',
  '不要',
  'なく',
  '더 ',
];
const json = ['[', '{"a":', '"', '\\', '[0,', '{', '1', ' '];

const marks = ['` ', '#', '`', '```\n', '*', '_', '[', '](', '<', '\\', '|', '\n', '- ', '1. '];
const exported = (text: string) =>
  markdownMessage({
    message: {
      id: 'm_1',
      seq: 1,
      turnId: 't_1',
      role: 'model',
      state: 'done',
      parts: [
        { type: 'text', text },
        { type: 'functionResponse', name: 'read', response: { text } },
      ],
      createTime: at.toISOString(),
      inContext: true,
    },
    fate: 'answered',
  });

const shown = [
  'Hi Tom, ',
  'Dear ',
  'Best regards\n',
  'a: b\n',
  'see the mail: ',
  'translate ',
  '様\n',
];
const steps = ['send a b ', 'a. ', 'a\n', 'a1 ', '**', '; ', '我'];

/** The step of a summariser that copies what a tool says, and what the user answers. */
function obeyed(text: string): void {
  const said = [
    { speaker: 'tool', text } as const,
    { speaker: 'model', text: `${text}\n\nShall I?` } as const,
  ];
  const turns = new Map<number, readonly TurnSpeech[]>([
    [1, said],
    [2, [{ speaker: 'user', text: 'Yes.' } as const]],
  ]);
  const operation = {
    op: 'add',
    section: 'task_state',
    text: text.slice(0, 1_500),
    sources: [1],
    quote: text.slice(0, 900),
  };
  const read = readAnswer(JSON.stringify([operation]));
  if (!read.ok) return;
  applyAnswer(emptySnapshot('assistant'), read, {
    evidence: toEvidence(turns),
    dayOf: () => undefined,
  });
}

/** A constraint of what the user says himself. */
function ruled(text: string): void {
  const add = { op: 'add', section: 'active_constraints', text: text.slice(0, 900), sources: [1] };
  const read = readAnswer(JSON.stringify([add]));
  if (!read.ok) return;
  applyAnswer(emptySnapshot('assistant'), read, {
    evidence: toEvidence(new Map([[1, [{ speaker: 'user', text } as const]]])),
    dayOf: () => undefined,
  });
}

/** The values of a text, looked for in it, and marked. */
function valued(text: string): void {
  const found = findValues(text);
  const index = indexValues(found, [{ place: 1, text }]);
  found.slice(0, 1_000).forEach((value) => index.holders(value));
  withoutMarkedValues(markValues(text, found));
}

const readers: readonly [
  name: string,
  read: (text: string) => unknown,
  pieces: readonly string[],
][] = [
  ['snapshots', (text) => readSnapshot(text, anyLength), [...tags, '<scratchpad>']],
  [
    'snapshots that have begun',
    (text) => readSnapshot(`<state_snapshot><overall_goal>${text}`, anyLength),
    [...tags, '<key_knowledge>', '</overall_goal><overall_goal>'],
  ],
  ['tags of snapshots', neutraliseTags, tags],
  ['letters and other texts that are shown', ownWords, shown],
  ['steps and whose they are', obeyed, steps],
  ['words and figures', distinctUnits, ['a', 'A', '1', 'a1', "a'", 'a ', 'é', '가']],
  ['XML', (text) => escapeXml(decodeXml(text)), tags],
  ['sentences', splitSentences, signs],
  ['quotations', quotedSpans, signs],
  [
    'a user’s own words',
    ownWords,
    [...signs, '> ', '```\n', 'From: a\n', 'she wrote: ', '10:00 A: '],
  ],
  ['sentences of a user', ownSentences, [...signs, 'a. ', '“a. ', 'a b, ']],
  ['quotes of rules', ruled, [...wishes, 'a. ', '“a. ', '...\n']],
  ['values', valued, values],
  ['values among signs', valued, signs],
  ['mail addresses', (text) => valued(`a@b.de ${text}`), ['a', 'a.', 'a-', '1']],
  ['what is taken back', withoutTakenBack, [...wishes, 'oh, ', 'wait ', 'forget that. ']],
  ['what is searched', search, [...signs, 'boat', 'x1', 'a\u0301', '여행']],
  [
    'days that are asked about',
    (text) => dayWeights(text),
    ['1', '1/', '3 ', '2026-', '24年', '3月', 'may ', 'in ', 'last ', '1st of ', 'on  '],
  ],
  ['what is searched for', readSearchQuery, [...signs, 'a', 'a ', 'a\u0301']],
  ['tokens', (text) => estimateTextTokens(text, 'character-class'), [...signs, 'a', '1', '👩‍']],
  ['request bodies', (text) => attempt(() => parseJsonBody(text)), json],
  ['texts in request bodies', (text) => attempt(() => parseJsonBody(`{"a":"${text}`)), json],
  ['pieces of documents', cutIntoPieces, ['a', '한', '👩‍']],
  ['frames of a stream', (delta) => singleLineJson({ delta }), ['\n', '\u2028', '"', '\u0000']],
  ['titles', titleIn, ['.', '. ', '"', '“', '*', ' ', '\n', 'a', '\u3000']],
  [
    'page tokens',
    (token) =>
      attempt(() =>
        decodePageToken(sha256, { uid: 'u1', list: 'l' }, { schema: z.object({}), token }),
      ),
    ['A', '=', '-', 'W1t'],
  ],
  ['languages', preferredLocale, ['a', 'a-', ' ', 'aa-a', ',']],
  ['entity tags', (text) => isKnownTo(text, '"a"'), ['"', ',', 'W/', ' ']],
  ['exports', exported, marks],
  ['addresses', routerPath, ['/', ':', '%', 'a:']],
];

const attacks = readers.flatMap(([name, read, pieces]) =>
  pieces.map((piece) => ({ name, read, piece, shown: JSON.stringify(piece) })),
);

/** `length` characters of a piece over and over, and at the end something else than they lead one to expect. */
const made = (piece: string, length: number) =>
  `${piece.repeat(Math.ceil(length / piece.length)).slice(0, length - 1)}\u0001`;

const [short, middle, long] = [10_000, 100_000, 1_000_000] as const;

test.each([...attacks])(
  'ten times the text takes $name at most twelve times the work: $shown repeated',
  ({ read, piece }) => {
    expect(workRatio(read, made(piece, short), made(piece, middle))).toBeLessThanOrEqual(12);
  },
);

test.each(readers)(
  'ten times the text takes %s at most twelve times the work, up to 1,000,000 characters',
  (_, read, [piece = '']) => {
    expect(workRatio(read, made(piece, middle), made(piece, long))).toBeLessThanOrEqual(12);
  },
);

test('the linear-time check would find a reader that backtracks at every character', () => {
  const goingBack = (text: string) => /a+b/.test(text);

  // Long enough that a fast machine, too, takes more than the floor for the short one.
  expect(workRatio(goingBack, made('a', 1_000), made('a', 10_000))).toBeGreaterThan(12);
});
