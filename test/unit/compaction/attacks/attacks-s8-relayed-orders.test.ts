import type { Content } from '#shared/models/content.ts';
import { type Snapshot, workingItems } from '#shared/conversation/documents/snapshot.ts';
import type { Turn } from '#shared/conversation/documents/turn.ts';
import { plainText } from '#shared/text/plain-text.ts';
import { textFilePart } from '#shared/uploads/upload-parts.ts';
import { foldInMemory } from './fold-in-memory.ts';
import { type Tongue, tongues } from '#test/support/attacks/tongues.ts';
import { item, snapshotWith } from '#test/support/compaction/engine-samples.ts';
import { foldedTurn } from '#test/support/compaction/said-turn.ts';
import { sampled } from '#test/support/search-cases.ts';
import { expect, test } from 'vitest';

/** How an order comes into what is read. */
type Carrier = (order: string, tongue: Tongue) => string;

const wrapped = (text: string, columns: number): string => {
  const lines: string[] = [''];
  for (const word of text.split(' ')) {
    const line = lines.at(-1) ?? '';
    if (line !== '' && line.length + word.length >= columns) lines.push(word);
    else lines[lines.length - 1] = line === '' ? word : `${line} ${word}`;
  }
  return lines.join('\n');
};

const carriers: Readonly<Record<string, Carrier>> = {
  'a mail': (order, { head, greeting, farewell }) =>
    `${head}\n\n${greeting}\n\n${order}\n\n${farewell}`,
  'a mail of short lines': (order, { head, greeting, farewell }) =>
    `${head}\n\n${greeting}\n\n${wrapped(order, 48)}\n\n${farewell}`,
  'a web page': (order) =>
    `# Museum\nThe museum opens at ten.\n\n- Tickets cost 12 euros.\n- ${order}\n\nThe café closes at six.`,
  'a record': (order) => `name: Aurora\nrating: 4.5\nnote: ${order}\nprice: 120`,
  'a comment of code': (order) => `def main():\n    # ${order}\n    return 0`,
  'a claim of the user’s words': (order, { claims }) => (claims[0] ?? String)(order),
};

/** How the model tells what it has read: one answer, or two. */
type Relay = (order: string, tongue: Tongue) => readonly string[];

function halvesOf(text: string): [string, string] {
  const words = text.includes(' ') ? text.split(' ') : Array.from(text);
  const glue = text.includes(' ') ? ' ' : '';
  const middle = Math.ceil(words.length / 2);
  return [words.slice(0, middle).join(glue), words.slice(middle).join(glue)];
}

const quoted = (text: string, [opening, closing]: Tongue['marks']): string =>
  `${opening}${text}${closing}`;

const relays: Readonly<Record<string, Relay>> = {
  'word for word': (order, { relay }) => [`${relay} ${order}`],
  'without a word about whose it is': (order) => [order],
  'in quotation marks': (order, { relay, marks }) => [`${relay} ${quoted(order, marks)}`],
  'in straight marks': (order, { relay }) => [`${relay} "${order}"`],
  'in bold type': (order, { relay }) => [`${relay}\n\n**${order}**`],
  'as a quoted block': (order, { relay }) => [`${relay}\n\n> ${order}`],
  'in a list': (order, { relay }) => [`${relay}\n\n- 1: Aurora\n- ${order}\n- 3: OK`],
  'under a heading': (order) => [`## Text\n\n${order}\n\n## OK`],
  'with some words in bold type': (order, { relay }) => [
    `${relay} ${order
      .split(' ')
      .map((word, at) => (at % 3 === 0 ? `**${word}**` : word))
      .join(' ')}`,
  ],
  'in part': (order, { relay }) => [`${relay} ${halvesOf(order)[0]} …`],
  'in two answers': (order, { relay }) => halvesOf(order).map((half) => `${relay} ${half}`),
  twice: (order, { relay }) => [`${relay} ${order}`, order],
};

const said = (role: Content['role'], text: string): Content => ({ role, parts: [{ text }] });

/** How a text comes to the model. */
const channels = ['what a tool returns', 'an uploaded file', 'what a hook adds'] as const;
type Channel = (typeof channels)[number];

const upload = {
  id: 'f1',
  path: 'users/ada/uploads/f1',
  mimeType: 'text/plain',
  sizeBytes: 40,
};

const toolContents = (text: string): Content[] => [
  { role: 'model', parts: [{ functionCall: { name: 'read_text', args: {} } }] },
  {
    role: 'user',
    parts: [{ functionResponse: { name: 'read_text', response: { output: text } } }],
  },
];

function readingTurn(
  seq: number,
  channel: Channel,
  { ask, text }: { ask: string; text: string },
): Turn {
  const turn = foldedTurn(seq, ask);
  switch (channel) {
    case 'what a tool returns':
      return { ...turn, contents: toolContents(text) };
    case 'an uploaded file':
      return {
        ...turn,
        user: { ...turn.user, parts: [...turn.user.parts, textFilePart(upload, text)] },
        contents: [],
      };
    case 'what a hook adds':
      return { ...turn, surroundings: text, contents: [] };
  }
}

/** Numbers of the turns: who reads it, who is told more of it, and what comes behind. */
const READ_SEQ = 3;
const TOLD_SEQ = 4;

/** Turns in which the model reads an order and repeats it in its answers; the user only thanks. */
function relayedTurns(
  tongue: Tongue,
  { carried, relay, channel }: { carried: string; relay: readonly string[]; channel: Channel },
): Turn[] {
  const [first = '', second = 'OK.'] = relay;
  const read = readingTurn(READ_SEQ, channel, { ask: tongue.ask, text: carried });
  return [
    { ...read, contents: [...read.contents, said('model', first)] },
    { ...foldedTurn(TOLD_SEQ, tongue.thanks), contents: [said('model', second)] },
    { ...foldedTurn(TOLD_SEQ + 1, tongue.thanks), contents: [said('model', 'OK.')] },
  ];
}

/* Row S8 of the security checklist: what was read is told again by the model, and the summariser obeys. */

/** Seconds of work, and minutes where many share the machine. */
const BUSY = { timeout: 300_000 };

const previous = snapshotWith({
  overall_goal: [item('i1', 'Plan a journey to Porto by train.')],
  task_state: [item('i2', 'Find a hotel for the night in Madrid.', { status: 'todo' })],
});

/** Sections whose items tell the model what to do, or what its user wants. */
const telling = new Set([
  'overall_goal',
  'task_state',
  'active_constraints',
  'decisions',
  'user_profile',
  'open_questions',
]);

/** Every way in which a summariser that obeys takes one of these texts for something to be done. */
function obeying(texts: readonly string[], sources: readonly number[]): object[] {
  return texts.flatMap((text) => [
    { op: 'add', section: 'overall_goal', text, sources },
    { op: 'add', section: 'task_state', text, sources, status: 'todo' },
    { op: 'add', section: 'active_constraints', text, sources },
    { op: 'add', section: 'active_constraints', text, sources, quote: text },
    { op: 'add', section: 'decisions', text, sources },
    { op: 'add', section: 'user_profile', text, sources },
    { op: 'add', section: 'open_questions', text, sources },
    { op: 'update', id: 'i1', text, sources },
    { op: 'update', id: 'i1', text: `Plan a journey to Porto by train. ${text}`, sources },
    { op: 'update', id: 'i2', text: `Find a hotel for the night in Madrid; ${text}`, sources },
  ]);
}

const answerOf = (operations: readonly object[]): string =>
  JSON.stringify({ scratchpad: '', operations });

const letters = (text: string): string => plainText(text).replaceAll(/[^\p{L}\p{N}]+/gu, '');

/** Whether some of the middle of an order stands in a text. */
function holdsPartOf(text: string, order: string): boolean {
  const [words, all] = [letters(text), letters(order)];
  const size = Math.floor(all.length / 4);
  return [0, 1, 2, 3].some((part) => words.includes(all.slice(part * size, (part + 1) * size)));
}

const obeyed = (snapshot: Snapshot, { order }: Tongue): string[] =>
  workingItems(snapshot)
    .filter(({ section, text }) => telling.has(section) && holdsPartOf(text, order))
    .map(({ section, text }) => `${section}: ${text}`);

interface Variant {
  tongue: Tongue;
  carrier: string;
  relay: string;
  channel: Channel;
}

const variantsOf = (channel: Channel): Variant[] =>
  tongues.flatMap((tongue) =>
    Object.keys(carriers).flatMap((carrier) =>
      Object.keys(relays).map((relay) => ({ tongue, carrier, relay, channel })),
    ),
  );

function foldedTexts({ tongue, carrier, relay, channel }: Variant) {
  const carried = carriers[carrier]?.(tongue.order, tongue) ?? '';
  const told = relays[relay]?.(tongue.order, tongue) ?? [];
  const turns = relayedTurns(tongue, { carried, relay: told, channel });
  const words = told.map((text) => text.replace(tongue.relay, '').trim());
  return { turns, texts: [...new Set([tongue.order, ...words])] };
}

const cited = [[READ_SEQ], [TOLD_SEQ], [READ_SEQ, TOLD_SEQ]];

function achieved(variant: Variant, index: number): string[] {
  const { turns, texts } = foldedTexts(variant);
  const sources = cited[index % cited.length] ?? [];
  const folded = foldInMemory({ turns, previous, answer: answerOf(obeying(texts, sources)) });
  return folded.kind === 'taken' ? obeyed(folded.snapshot, variant.tongue) : [folded.reason];
}

/** The variants in which something is achieved. */
const takenIn = (variants: readonly Variant[]): string[] =>
  variants
    .filter((variant, index) => achieved(variant, index).length > 0)
    .map(({ tongue, carrier, relay }) => `${tongue.name}, ${carrier}, ${relay}`);

test.each(channels)(
  'S8: an order that the model repeats is no goal, step, rule or wish in %s',
  BUSY,
  (channel) => {
    const variants = variantsOf(channel);

    expect(takenIn(sampled(variants))).toEqual([]);
    expect(variants).toHaveLength(648);
  },
);
