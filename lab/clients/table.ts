import { columnNames, type Cell } from './columns.ts';
import type { Cells } from './run-row.ts';

/** The cells of each row, by its name. */
export type Results = Record<string, Cells>;

const marks: Readonly<Record<Cell['kind'], string>> = {
  works: '✔',
  says: '“',
  none: '–',
  differs: '✘',
};

const missing: Cell = { kind: 'differs', text: 'not run' };

/** A row as lines of text, a sentence to each cell that has one. */
export function printedRow(name: string, cells: Cells): string {
  const lines = columnNames.flatMap((column) => {
    const cell = cells[column];
    if (cell === undefined) return [];
    const text = cell.kind === 'works' ? '' : ` ${oneLine(cell.text)}`;
    return [`  ${column.padEnd(11)}${marks[cell.kind]}${text}\n`];
  });
  return `${name}\n${lines.join('')}`;
}

const MOST_CHARACTERS = 400;

/** Ids of one run would make every page another one. */
const oneLine = (text: string): string => {
  const line = text
    .replaceAll(/\s+/gu, ' ')
    .replaceAll(/[0-9a-f]{8}(?:-[0-9a-f]{4}){3}-[0-9a-f]{12}/gu, '{id}')
    .replaceAll(/127\.0\.0\.1:\d+/gu, '127.0.0.1')
    .replaceAll(/(?<=call_|msg_|resp_)[\w-]{8,}/gu, '{id}')
    .trim();
  return line.length <= MOST_CHARACTERS ? line : `${line.slice(0, MOST_CHARACTERS - 1)}…`;
};

const escaped = (text: string): string => text.replaceAll(/([<>|*_`\\[\]])/gu, '\\$1');

/** Numbers the sentences in the order in which the table meets them. */
function numbering() {
  const sentences = new Map<string, number>();
  return {
    sentences,
    numberFor: (sentence: string): number => {
      const known = sentences.get(sentence) ?? sentences.size + 1;
      sentences.set(sentence, known);
      return known;
    },
  };
}

const introduction = `<!-- Written by \`npm run clients -- --report\`. -->

# What client libraries can do

Each library was run against the chat function over HTTP, and what it believes was compared with the state of the server.

- ✔ it works: the library and the server agree
- a number alone: the sentence below is what the library says to its user
- – and a number: the library has no such notion, or the sentence below says why
- ✘ and a number: the library and the server disagree; a defect

What each column tries:

- reload: the library shows what is stored; second tab: the same conversation is used while an answer runs
- stop: the library's own way to stop; the server's turn has to end as cancelled within 25 s
- edit, regenerate: the model has to read the changed conversation, without what was replaced
- tools: a function of the app; approval: a function of the server that the user has to allow
- structured: JSON of a given schema; files: a picture; 429: the messages of the day are used up; error: no model answers

Rows of the AI SDK use the plain \`DefaultChatTransport\` with the header \`x-ai-sdk-version\`, assistant-ui its own transport with
the id of the conversation; React Native is react-native-web without a screen. The others name a conversation in the way of
their protocol.
`;

/** The page of the reference: a table, and below it the sentences that it refers to. */
export function clientsPage(results: Results, versions: readonly string[]): string {
  const { sentences, numberFor } = numbering();
  const shown = (cell: Cell): string => {
    if (cell.kind === 'works') return marks.works;
    const number = numberFor(oneLine(cell.text));
    const link = `[${number}](#s${number})`;
    return cell.kind === 'says' ? link : `${marks[cell.kind]} ${link}`;
  };
  const table = Object.entries(results).map(
    ([name, cells]) =>
      `| ${name} | ${columnNames.map((column) => shown(cells[column] ?? missing)).join(' | ')} |`,
  );
  const list = [...sentences].map(
    ([sentence, number]) => `${number}. <a id="s${number}"></a>${escaped(sentence)}`,
  );
  return [
    introduction,
    `| | ${columnNames.join(' | ')} |`,
    `| --- |${' :-: |'.repeat(columnNames.length)}`,
    ...table,
    '\n## What they say\n',
    ...list,
    '\n## Versions\n',
    ...versions.map((version) => `- ${version}`),
    '',
  ].join('\n');
}
