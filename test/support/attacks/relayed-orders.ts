import type { Turn } from '#shared/conversation/documents/turn.ts';
import type { Content } from '#shared/conversation/documents/content.ts';
import { textFilePart } from '#shared/uploads/upload-parts.ts';
import { foldedTurn } from '../compaction/folded-turn.ts';
import type { Tongue } from './tongues.ts';

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

export const carriers: Readonly<Record<string, Carrier>> = {
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

export const relays: Readonly<Record<string, Relay>> = {
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
export const channels = ['what a tool returns', 'an uploaded file', 'what a hook adds'] as const;
export type Channel = (typeof channels)[number];

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
export const READ_SEQ = 3;
export const TOLD_SEQ = 4;

/** Turns in which the model reads an order and repeats it in its answers; the user only thanks. */
export function relayedTurns(
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
