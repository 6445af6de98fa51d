import { UNSAID_MARK } from '#shared/compaction/values.ts';
import { foldInMemory } from '#test/support/attacks/fold-in-memory.ts';
import { saidTurn } from '#test/support/compaction/said-turn.ts';
import { describe, expect, test } from 'vitest';

const turns = [
  saidTurn(1, {
    user: 'We leave for Porto on 12 October. Our booking is QX-7719.',
    model: 'The train takes two days, with a night in Madrid.',
  }),
  saidTurn(2, { user: 'Never book a hotel above 140 euros a night.', model: 'Understood.' }),
  saidTurn(3, {
    user: 'My sister is at +351 912 555 014 and ana@example.org.',
    model: 'I will keep that in mind for the booking.',
  }),
  saidTurn(4, { user: 'Ana would rather see the tiles of the station.', model: 'Before ten.' }),
];

/** True statements, as a good summary makes them. */
const statements = [
  { section: 'overall_goal', text: 'Travel to Porto by train.', seq: 1 },
  { section: 'key_knowledge', text: 'The booking is QX-7719.', seq: 1 },
  { section: 'key_knowledge', text: 'They leave on 12 October.', seq: 1 },
  { section: 'active_constraints', text: 'Never book a hotel above 140 euros a night.', seq: 2 },
  {
    section: 'key_knowledge',
    text: 'The sister is at +351 912 555 014 and ana@example.org.',
    seq: 3,
  },
  { section: 'key_knowledge', text: 'Ana would rather see the tiles of the station.', seq: 4 },
];

interface Told {
  section: string;
  text: string;
  seq: number;
}

const write = (told: readonly Told[]): string =>
  JSON.stringify({
    scratchpad: '',
    operations: told.map(({ section, text, seq }) => ({
      op: 'add',
      section,
      text,
      sources: [seq],
      ...(section === 'active_constraints' && { quote: text }),
    })),
  });

/** A summary that must not be swapped in as it is. */
interface BadSummary {
  kind: string;
  answer: string;
  /** What it makes up; '' where it is bad in another way. */
  invented: string;
}

/** Nobody said any of these. */
const inventions: Readonly<Record<string, readonly string[]>> = {
  'a number': ['4,821 guests came.', 'The flat has 73,500 books.'],
  'an amount': ['The deposit was 2,380 euros.', 'A fee of $917.55 was paid.'],
  'an identifier': ['The ticket is ZK-5530.', 'The order is ORD-99817.'],
  'an address': ['Write to bob@evil.example.', 'Mail sales@hotel-x.example.'],
  'a link': ['See https://evil.example/pay.', 'Read https://a.example/b?c=9.'],
  'a telephone number': ['Call +49 30 7712345.', 'Ring +33 1 44558899.'],
  'a date': ['They return on 3 March 2031.', 'It was signed on 17 June 1999.'],
  'a name': ['Dr. Weissbrodt will drive.', 'Mrs. Okonkwo cooks.'],
  'a quote': [
    'She said “we shall never pay them back”.',
    'He wrote “burn the second letter tonight”.',
  ],
};

const altered: readonly (readonly [from: string, to: string])[] = [
  ['QX-7719', 'QX-7791'],
  ['QX-7719', 'QY-7719'],
  ['140 euros', '410 euros'],
  ['140 euros', '1,400 euros'],
  ['140 euros', '145 euros'],
  ['+351 912 555 014', '+351 912 555 041'],
  ['ana@example.org', 'ana@example.net'],
  ['ana@example.org', 'anna@example.org'],
];

/** Summaries that say what they make up behind some true statements. */
const withInventions = (told: readonly Told[]): BadSummary[] =>
  Object.entries(inventions).flatMap(([kind, sentences]) =>
    sentences.map((text) => ({
      kind: `${kind} that nobody said`,
      answer: write([...told, { section: 'key_knowledge', text, seq: 4 }]),
      invented: text,
    })),
  );

const exchanged = (): BadSummary[] =>
  altered.map(([from, to]) => ({
    kind: `${to} for ${from}`,
    answer: write(statements.map((one) => ({ ...one, text: one.text.replace(from, to) }))),
    invented: to,
  }));

const bad = (kind: string, answer: string): BadSummary => ({ kind, answer, invented: '' });

/** Shapes of which no good summary can be read, or that say nothing, or the same for ever. */
function misshapen(): BadSummary[] {
  const whole = write(statements);
  const loop = { section: 'key_knowledge', text: 'The user asks again. '.repeat(40), seq: 4 };
  const cuts = [0.1, 0.25, 0.4, 0.5, 0.6, 0.75, 0.9].map((share) =>
    bad(`cut at ${share}`, whole.slice(0, Math.floor(share * whole.length))),
  );
  return [
    bad('nothing', ''),
    bad('blanks', ' \n\t '),
    bad('a refusal', 'I cannot help with that.'),
    bad('prose', 'The user travels to Porto and has a sister.'),
    bad('a skeleton', write([])),
    bad('empty statements', write(statements.map((one) => ({ ...one, text: '' })))),
    bad('placeholders', write([{ section: 'overall_goal', text: '...', seq: 1 }])),
    bad('a loop', write([loop])),
    bad(
      'the same line a hundred times',
      write(Array.from({ length: 100 }, () => ({ ...loop, text: 'The user asks.' }))),
    ),
    bad('NUL', '\u0000'.repeat(100)),
    bad('another schema', '{"summary":"The user travels.","facts":[]}'),
    bad('a list of numbers', '[1,2,3]'),
    bad('null', 'null'),
    bad('nested lists', `${'['.repeat(5_000)}${']'.repeat(5_000)}`),
    bad('HTML', '<!DOCTYPE html><html><body>502</body></html>'),
    bad('twice', `${whole}${whole}`),
    bad('letters exchanged', whole.replaceAll('e', '\uFFFD')),
    ...cuts,
  ];
}

/** Bad answers of a summariser that names operations. */
function badSummaries(): BadSummary[] {
  const doubled = statements.map((one) => ({ ...one, seq: 400 }));
  const foreign = [
    bad('sources that are not there', write(doubled)),
    bad(
      'sections that are not there',
      write(statements.map((one) => ({ ...one, section: 'mood' }))),
    ),
  ];
  return [...withInventions(statements), ...exchanged(), ...misshapen(), ...foreign];
}

/* Row S13 of the security checklist: summaries that are empty, broken or made up. */

/** What code cannot tell from a good summary’s own words: names, days and quotes. docs/attacks.md says so. */
const unseen = /^a name |^a quote |^a date /u;
const UNSEEN_COUNT = 6;

describe('S13: bad summaries', () => {
  test('S13: no bad summary is swapped in by the ledger unchanged', { timeout: 300_000 }, () => {
    const results = badSummaries().map(({ kind, answer, invented }) => {
      const folded = foldInMemory({ turns, previous: undefined, answer });
      const rendered = folded.kind === 'taken' ? folded.rendered : '';
      return {
        kind,
        folded: folded.kind === 'taken' ? 'taken' : folded.reason,
        isInvented:
          invented !== '' &&
          rendered.replaceAll(`${invented}${UNSAID_MARK}`, '').includes(invented),
      };
    });

    expect(results.length).toBeGreaterThanOrEqual(50);
    const swappedIn = results.filter(({ isInvented }) => isInvented);
    expect(swappedIn.filter(({ kind }) => !unseen.test(kind))).toEqual([]);
    expect(swappedIn.length).toBeLessThanOrEqual(UNSEEN_COUNT);
    expect(new Set(results.map(({ folded }) => folded)).size).toBeGreaterThan(2);
  });
});
