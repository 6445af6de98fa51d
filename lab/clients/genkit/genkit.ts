import { readFile, writeFile } from 'node:fs/promises';
import { fileURLToPath } from 'node:url';
import { runCommand } from '#test/support/processes/run-command.ts';
import { ArgumentError, readCommandLine } from '#lab/eval/replay/replay-arguments.ts';
import { parseCases } from './agent-cases.ts';
import { casesPage, casesTable } from './cases-page.ts';
import { runCase, type Verdict } from './run-cases.ts';

const help = `Usage: npm run clients:genkit -- AGENT.yaml [--only TEXT] [--report --commit SHA]

Runs the conformance cases of Genkit's agents (tests/specs/agent.yaml of genkit-ai/genkit) against the chat
function, through an adapter: the model's answers are ordered from the fake Gemini, calls of the agent are
requests of the HTTP API, expectations are compared with what it answers. Prints a table.

  --only TEXT     only cases whose name holds it
  --report        write docs/reference/genkit-cases.md
  --commit SHA    of Genkit's repository that the file is from, for the report
  --help          this text

Exit code: 0 the cases were run, whatever their outcome; 2 wrong arguments.`;

const options = {
  only: { type: 'string', default: '' },
  report: { type: 'boolean', default: false },
  commit: { type: 'string' },
  help: { type: 'boolean', default: false },
} as const;

const pagePath = fileURLToPath(new URL('../../../docs/reference/genkit-cases.md', import.meta.url));

process.exitCode = await runCommand(help, async (argv) => {
  const { values, positionals } = readCommandLine(argv, options);
  if (values.help) return 'help';
  const [file] = positionals;
  if (file === undefined || positionals.length > 1) throw new ArgumentError('name one file');
  const { commit } = values;
  if (values.report && !/^[0-9a-f]{40}$/.test(commit ?? ''))
    throw new ArgumentError('--report needs --commit, 40 hexadecimal digits');
  const cases = parseCases(await readFile(file, 'utf8'));
  const verdicts: Verdict[] = [];
  for (const each of cases.filter(({ name }) => name.includes(values.only))) {
    process.stderr.write(`${each.name} …\n`);
    verdicts.push(await runCase(each));
  }
  process.stdout.write(`${casesTable(verdicts)}\n`);
  if (values.report && commit !== undefined) await writeFile(pagePath, casesPage(verdicts, commit));
  return 0;
});
