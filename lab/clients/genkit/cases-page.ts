import type { Verdict } from './run-cases.ts';

const marks = ['✔', '✘', 'not applicable'] as const;

const row = (cells: readonly string[]) =>
  `| ${cells.map((cell) => cell.replaceAll('|', '\\|')).join(' | ')} |`;

/** How many cases have each mark. */
const countMarks = (verdicts: readonly Verdict[]) =>
  marks
    .map((mark) => `${verdicts.filter((verdict) => verdict.mark === mark).length} ${mark}`)
    .join(', ');

/** The cases as a table, in the order of the file, with their counts below. */
export const casesTable = (verdicts: readonly Verdict[]): string =>
  [
    row(['Case', 'Outcome', 'Why, or what its words are here']),
    row(['---', '---', '---']),
    ...verdicts.map(({ name, mark, why }) => row([name, mark, why])),
    '',
    `${verdicts.length} cases: ${countMarks(verdicts)}.`,
  ].join('\n');

/** The reference page. */
export const casesPage = (verdicts: readonly Verdict[], commit: string): string =>
  `# Genkit’s agent cases

Made by \`npm run clients:genkit -- agent.yaml --report --commit …\`: the conformance cases of
[Genkit](https://github.com/genkit-ai/genkit/blob/${commit}/tests/specs/agent.yaml), at commit \`${commit.slice(0, 12)}\`, run
against the chat function over HTTP.

The adapter takes a session for a conversation, a snapshot for a turn, its state for the transcript up to it. A model’s
answer is streamed whether a case streams it or not, so its text counts as a chunk only where the case does. Errors
are compared by status; Genkit’s wording by the reason that means the same.

${casesTable(verdicts)}
`;
