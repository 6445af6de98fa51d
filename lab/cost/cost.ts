import { writeFile } from 'node:fs/promises';
import { fileURLToPath } from 'node:url';
import {
  ArgumentError,
  checkWritable,
  readChoice,
  readFraction,
  readInteger,
  readOptions,
  runCommand,
} from '#infra/command-line.ts';
import { modelRegistry } from '#shared/models/model-registry.ts';
import { readRecordings } from '#lab/eval/replay/recording.ts';
import { compareCosts } from './compare-costs.ts';
import { readShapes, recordedShapes } from './conversation.ts';
import { costPage } from './cost-page.ts';

const help = `Usage: npm run cost -- [--model MODEL] [--turns N] [--hit-rate R] [--message-tokens N] [--answer-tokens N]
                  [--overhead-tokens N] [--data FILE.jsonl [--profile NAME]] [--json OUT] [--report]

Says what a thousand turns cost in US dollars: with naive resending, as Gemini CLI compacts, with Recap, and at other thresholds.
Everything is computed.

  --model MODEL         of the conversations; default gemini-3.5-flash
  --turns N             of the chat; default 2000. Other conversations end when as much was said in them
  --hit-rate R          share of prompts that the cache serves, 0 to 1; default 0.5
  --message-tokens N    of the chat; default 60
  --answer-tokens N     of the chat; default 250
  --overhead-tokens N   system instruction and tools; default 500
  --data FILE.jsonl     recorded conversations in place of the usual ones
  --profile NAME        of them: assistant (default) or coding
  --json OUT            write all figures to this file
  --report              write docs/reference/cost.md
  --help                this text

Exit code: 0; 2 wrong arguments.`;

const options = {
  model: { type: 'string', default: 'gemini-3.5-flash' },
  turns: { type: 'string', default: '2000' },
  'hit-rate': { type: 'string', default: '0.5' },
  'message-tokens': { type: 'string', default: '60' },
  'answer-tokens': { type: 'string', default: '250' },
  'overhead-tokens': { type: 'string', default: '500' },
  data: { type: 'string' },
  profile: { type: 'string', default: 'assistant' },
  json: { type: 'string' },
  report: { type: 'boolean', default: false },
  help: { type: 'boolean', default: false },
} as const;

const reportPath = fileURLToPath(new URL('../../docs/reference/cost.md', import.meta.url));

async function writeReport(page: string): Promise<void> {
  const { format } = await import('oxfmt');
  const style = { printWidth: 120, proseWrap: 'always' } as const;
  const { code } = await format(reportPath, page, style);
  await writeFile(reportPath, code);
}

process.exitCode = await runCommand(help, async (argv) => {
  const values = readOptions(argv, options);
  if (values.help) return 'help';
  const asked = {
    model: readChoice('--model', values.model, Object.keys(modelRegistry)),
    hitFraction: readFraction('--hit-rate', values['hit-rate'], '[0, 1]'),
    overheadTokens: readInteger('--overhead-tokens', values['overhead-tokens']),
  };
  const chat = {
    messageTokens: readInteger('--message-tokens', values['message-tokens']),
    answerTokens: readInteger('--answer-tokens', values['answer-tokens']),
    turnCount: readInteger('--turns', values.turns),
  };
  if (values.data !== undefined && values.report)
    throw new ArgumentError(
      '--report writes the page of the usual conversations: leave --data out',
    );
  const profile = readChoice('--profile', values.profile, ['assistant', 'coding']);
  await checkWritable('--json', values.json);
  const shapes =
    values.data === undefined
      ? readShapes(chat)
      : recordedShapes(await readRecordings('--data', values.data), profile);
  const costs = shapes.map((shape) => compareCosts(shape, asked));
  const page = costPage(costs, asked);
  process.stdout.write(page);
  if (values.json !== undefined)
    await writeFile(values.json, `${JSON.stringify({ ...asked, shapes: costs }, null, 2)}\n`);
  if (values.report) await writeReport(page);
  return 0;
});
