import { readFile } from 'node:fs/promises';
import { z } from 'zod';
import { columns } from './talk.ts';

/** The libraries in the order of the table, each with the package whose version is shown. */
export const packages: Readonly<Record<string, string>> = {
  'ai 5': 'ai5',
  'ai 6': 'ai6',
  'ai 7': 'ai',
  '@ai-sdk/react': '@ai-sdk/react',
  '@assistant-ui/react': '@assistant-ui/react',
  '@assistant-ui/react-native': '@assistant-ui/react-native',
  'openai chat completions': 'openai',
  'openai runTools': 'openai',
  'openai parse': 'openai',
  'openai responses': 'openai',
  '@openai/agents': '@openai/agents',
  '@langchain/openai': '@langchain/openai',
  '@ai-sdk/openai': '@ai-sdk/openai',
  '@ai-sdk/openai-compatible': '@ai-sdk/openai-compatible',
  '@ai-sdk/open-responses': '@ai-sdk/open-responses',
  '@firebase/functions': '@firebase/functions',
  'react-native-sse': 'react-native-sse',
  eventsource: 'eventsource',
};

export const pageUrl = new URL('../../docs/reference/clients.md', import.meta.url);

const versions = z.record(z.string(), z.string());
const manifest = z.object({ dependencies: versions, devDependencies: versions.default({}) });

const readManifest = async (path: string) =>
  manifest.parse(JSON.parse(await readFile(new URL(path, import.meta.url), 'utf8')));

/** The version of a library, as it is pinned here or for the whole repository. */
export async function versionOf(library: string): Promise<string> {
  const [here, whole] = await Promise.all([
    readManifest('libraries/package.json'),
    readManifest('../../package.json'),
  ]);
  const name = packages[library] ?? '';
  const version = here.dependencies[name] ?? whole.devDependencies[name] ?? '';
  return version.slice(version.lastIndexOf('@') + 1);
}

const introduction = `<!-- Written by \`npm run clients\`. -->

# What client libraries can do

Each library was run against the chat function over HTTP, and what it believes was compared with the state of the server.

- ✔ it works: the library and the server agree
- a number alone: the sentence below is what the library says to its user
- – and a number: the library has no such notion, or the sentence below says why
- ✘ and a number: the library and the server disagree; a defect

What each column tries:

- reload: the library shows what is stored; second tab: the same conversation is used while an answer runs
- stop: the library's own way to stop; the server's turn has to end as cancelled within 45 s
- edit, regenerate: of the last message; the model has to read the changed conversation, without what was replaced
- tools: a function of the app; approval: a function of the server that the user has to allow
- structured: JSON of a given schema; files: a picture; 429: the messages of the day are used up; error: no model answers

Rows of the AI SDK use the plain \`DefaultChatTransport\` with the header \`x-ai-sdk-version\`, assistant-ui its own transport with
the id of the conversation; React Native is react-native-web without a screen. The others name a conversation in the way of
their protocol.
`;

type Row = Readonly<Record<string, string>>;

const marked = /^(?:(?<mark>[–✘]) )?(?<sentence>.+)$/u;
const escaped = (text: string): string => text.replaceAll(/([<>|*_`\\[\]])/gu, '\\$1');
const unescaped = (text: string): string => text.replaceAll(/\\([<>|*_`\\[\]])/gu, '$1');

/** The page: a table, and below it the sentences that it refers to, in the order in which the table meets them. */
export function clientsPage(rows: Readonly<Record<string, Row>>): string {
  const sentences: string[] = [];
  const shown = (cell = 'not run'): string => {
    if (cell === '✔') return cell;
    const { mark, sentence = '' } = marked.exec(cell)?.groups ?? {};
    if (!sentences.includes(sentence)) sentences.push(sentence);
    const number = sentences.indexOf(sentence) + 1;
    return `${mark === undefined ? '' : `${mark} `}[${number}](#s${number})`;
  };
  const lines = Object.entries(rows).map(([name, row]) => {
    const cells = columns.map((column) => shown(row[column]));
    return `| ${[name, row['version'], ...cells].join(' | ')} |`;
  });
  return [
    introduction,
    `| Library | Version | ${columns.join(' | ')} |`,
    `| --- | --- |${' :-: |'.repeat(columns.length)}`,
    ...lines,
    '\n## What they say\n',
    ...sentences.map((text, index) => `${index + 1}. <a id="s${index + 1}"></a>${escaped(text)}`),
    '',
  ].join('\n');
}

/** What the page says of each library: its version, and for each column a mark with its sentence. */
export async function rowsOfPage(): Promise<Record<string, Row>> {
  const page = await readFile(pageUrl, 'utf8');
  const found = page.matchAll(/^\d+\. <a id="s(?<number>\d+)"><\/a>(?<sentence>.+)$/gmu);
  const sentences = new Map(
    [...found].map(({ groups }) => [groups?.['number'], unescaped(groups?.['sentence'] ?? '')]),
  );
  const read = (cell: string) =>
    cell.replace(/\[(\d+)\]\(#s\d+\)/u, (_, number: string) => sentences.get(number) ?? '');
  const lines = page.split('\n').filter((line) => line.startsWith('| '));
  return Object.fromEntries(
    lines.slice(2).map((line) => {
      const [, name = '', version = '', ...cells] = line.split('|').map((cell) => cell.trim());
      const row = columns.map((column, index) => [column, read(cells[index] ?? '')]);
      return [name, { version, ...Object.fromEntries(row) }];
    }),
  );
}
